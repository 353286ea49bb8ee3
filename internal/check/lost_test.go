package check

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// awaitLost waits until no block is watched: all are lost, and their owners were excused.
func (d *desk) awaitLost() {
	for d.watching() > 0 { // if a block is not forgotten, the test runs into its timeout
		runtime.GC()
		for i := range d.shards {
			s := &d.shards[i]
			s.mu.Lock()
			d.forgetLost(s)
			s.mu.Unlock()
		}
		time.Sleep(time.Millisecond)
	}
}

// free returns how many records can be used again.
func (d *desk) free() (n int) {
	for i := range d.shards {
		n += len(d.shards[i].free)
	}
	return n
}

// collectors returns the stack of each goroutine that runs a cleanup of a watched block, as a search
// for leaked goroutines sees it.
func collectors() (stacks []string) {
	all := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(stack, "collectedBlock") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// lose has owners lose blocks, and returns how many of these are not collected yet.
//
//go:noinline
func (d *desk) lose(blocks int, excuse bool) (left *atomic.Int64) {
	left = new(atomic.Int64)
	for range blocks {
		b := make([]byte, 64)
		d.getHere(b)
		if excuse {
			d.Excuse(at(b))
		}
		left.Add(1)
		runtime.AddCleanup(&b[0], func(left *atomic.Int64) { left.Add(-1) }, left)
	}
	return left
}

// No goroutine forgets blocks whose owners may lose them: a program may lose a million before a test
// looks for goroutines that it has leaked.
func TestLostBlocksHaveNoGoroutine(t *testing.T) {
	for _, mayLose := range []bool{true, false} {
		d := newDesk()
		d.MayLose = mayLose
		left := d.lose(1000, !mayLose)
		for i := range d.shards {
			d.shards[i].mu.Lock() // for which a cleanup would wait
		}
		var seen []string
		for left.Load() > 0 && seen == nil {
			runtime.GC()
			time.Sleep(time.Millisecond)
			seen = collectors()
		}
		for i := range d.shards {
			d.shards[i].mu.Unlock()
		}
		if seen != nil {
			t.Errorf("MayLose %v: there is a goroutine\n%s", mayLose, seen[0])
		}
		d.awaitLost()
		if found := d.take(); found != nil {
			t.Errorf("MayLose %v: reported %v", mayLose, found)
		}
	}
}

// What is lost is forgotten, also if nothing but Get and Put is called, and at the latest when it is
// as much as what is there.
func TestLostBlocksAreForgotten(t *testing.T) {
	d := newDesk()
	d.MayLose = true
	var kept [][]byte // where lost blocks were, so that others have other addresses
	for range 50 {
		left := d.lose(1000, false)
		for left.Load() > 0 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		for range 2000 {
			kept = append(kept, make([]byte, 64))
		}
	}
	runtime.KeepAlive(kept)
	if n := d.watching(); n > 4000 {
		t.Errorf("%d blocks are known of 50,000 that were lost, a thousand at a time", n)
	}
}

// entries is a Profile.
type entries map[any]bool

func (e entries) Add(r any, _ int) { e[r] = true }
func (e entries) Remove(r any)     { delete(e, r) }

// A block that was lost leaves the profile when it is forgotten, or another is at its address.
func TestLostBlocksLeaveTheProfile(t *testing.T) {
	in := entries{}
	before := inUse.Load()
	SetProfile(in)
	defer inUse.Store(before)
	d := newDesk()
	d.MayLose = true
	b := make([]byte, 64)
	d.getHere(b)
	d.getHere(b)
	if len(in) != 1 || d.free() != 1 {
		t.Errorf("%d entries of one block, %d records can be used again", len(in), d.free())
	}
	runtime.KeepAlive(b)
	if d.awaitLost(); len(in) != 0 {
		t.Errorf("%d entries of a block that is forgotten", len(in))
	}
}

// The owner after one that was excused is not, and the collector finds what it loses.
func TestExcuseEnds(t *testing.T) {
	d := newDesk()
	func() {
		b := make([]byte, 64)
		d.getHere(b)
		d.Excuse(at(b))
		d.putHere(b)
		d.Poison(at(b), b)
		d.getHere(b)
	}()
	for d.reported() == 0 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	d.expect(t, misuse.Leak, "getHere", "", "")
}

// A leak is reported by a goroutine of the runtime's, which a search for leaked goroutines sees until
// the report is made. The document has the line that ignores it.
func TestReportingGoroutineIsDocumented(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	c := New(false, func(misuse.Violation) {
		begun <- true
		<-end
	})
	(&desk{Checker: c}).lose(1, false)
	for reports := false; !reports; {
		runtime.GC()
		select {
		case <-begun:
			reports = true
		case <-time.After(time.Millisecond):
		}
	}
	seen := collectors()
	close(end)
	if len(seen) != 1 {
		t.Fatalf("%d goroutines report a leak:\n%s", len(seen), strings.Join(seen, "\n\n"))
	}
	page, err := os.ReadFile("../../docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(page), `goleak.IgnoreAnyFunction("`)
	function, _, _ := strings.Cut(line, `"`)
	for _, frame := range strings.Split(seen[0], "\n") {
		if name := frame[:max(0, strings.LastIndexByte(frame, '('))]; name != "" && name == function { // as goleak reads it
			return
		}
	}
	t.Errorf("docs/safety.md says to ignore %q, and the goroutine is\n%s", function, seen[0])
}

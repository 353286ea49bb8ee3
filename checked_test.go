package dewpond_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// An offence is committed in a pool with CheckAll. The first report must be of a kind, and
// its stacks must name these functions.
type offence struct {
	name              string
	kind              string
	got, put, offence string
	commit            func(p *dewpond.BytePool)
	heapOnly          bool

	// Where the pages of idle blocks fault: commit touches one, which then is what is
	// reported instead, or touches what only faults there.
	faults, onlyFaults bool
}

//go:noinline
func getHere(p *dewpond.BytePool, n int) []byte { return p.Get(n) }

//go:noinline
func putHere(p *dewpond.BytePool, b []byte) { p.Put(b) }

//go:noinline
func offendHere(f func()) { f() }

// offences is what CheckAll promises to catch.
var offences = []offence{
	{name: "double Put", kind: "double Put", got: "getHere", put: "putHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		putHere(p, b)
		offendHere(func() { p.Put(b) })
	}},
	{name: "double Put of a large block", kind: "double Put", got: "getHere", put: "putHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1<<20)
		putHere(p, b)
		offendHere(func() { p.Put(b) })
	}},
	{name: "double Put out of quarantine", kind: "double Put", got: "getHere", put: "putHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		putHere(p, b)
		for range 10 {
			var all [][]byte
			for range 500 {
				all = append(all, p.Get(64))
			}
			for _, b := range all {
				p.Put(b)
			}
		}
		offendHere(func() { p.Put(b) })
	}},
	{name: "write after Put, found by Get", kind: "write after Put", got: "getHere", put: "putHere", offence: "offendHere", faults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		putHere(p, b)
		b[999] = 1
		offendHere(func() {
			for range 1000 {
				p.Put(p.Get(1000))
			}
		})
	}},
	{name: "write past len, after Put, found by Trim", kind: "write after Put", got: "getHere", put: "putHere", faults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		putHere(p, b)
		b[:cap(b)][cap(b)-1] = 1
		p.Trim()
	}},
	{name: "write after Put, found by Close", kind: "write after Put", got: "getHere", put: "putHere", faults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 100_000)
		putHere(p, b)
		b[50_000] = 1
		p.Close()
	}},
	{name: "Put of a foreign slice", kind: "Put of a foreign slice", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		offendHere(func() { p.Put(make([]byte, 1024)) })
	}},
	{name: "Put of a foreign slice of no class", kind: "Put of a foreign slice", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		offendHere(func() { p.Put(make([]byte, 1000)) })
	}},
	{name: "Put of another pool's block", kind: "Put of a foreign slice", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := dewpond.Default().Get(1024)
		offendHere(func() { p.Put(b) })
		dewpond.Default().Put(b)
	}},
	{name: "Put of the inside of a block", kind: "Put of the inside of a block", got: "getHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 8192)
		offendHere(func() { p.Put(b[4096:]) })
	}},
	{name: "leak", kind: "leak", got: "getHere", heapOnly: true, commit: func(p *dewpond.BytePool) {
		getHere(p, 5000)
		untilCaught()
	}},
	{name: "leak, found by Close", kind: "leak", got: "getHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 5000)
		p.Close() // off the heap; on it a collection finds it
		_ = b
		untilCaught()
	}},
	{name: "Lease: write after Release", kind: "write after Put", put: "TestOffencesAreCaught", faults: true, commit: func(p *dewpond.BytePool) {
		l := p.Lease(1000)
		b := l.Bytes()
		l.Release()
		b[0] = 1
		p.Trim()
	}},
	{name: "Lease: leak", kind: "leak", heapOnly: true, commit: func(p *dewpond.BytePool) {
		p.Lease(5000)
		untilCaught()
	}},
	{name: "Lease: write to a part after the last Release", kind: "write after Put", put: "TestOffencesAreCaught", faults: true, commit: func(p *dewpond.BytePool) {
		l := p.Lease(1000)
		part := l.Slice(500, 600)
		b := part.Bytes()
		l.Release()
		part.Release()
		b[99] = 1
		p.Trim()
	}},
	{name: "Lease: leak of a part", kind: "leak", heapOnly: true, commit: func(p *dewpond.BytePool) {
		losePart(p.Lease(5000))
		untilCaught()
	}},
	{name: "LeaseOf: Put of the block", kind: "double Put", got: "getHere", put: "putHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		l := p.LeaseOf(b)
		putHere(p, b)
		offendHere(func() { l.Truncate(64).Release() })
	}},
	{name: "LeaseOf: of one block twice", kind: "double Put", got: "getHere", put: "TestOffencesAreCaught", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		one, two := p.LeaseOf(b), p.LeaseOf(b)
		one.Release()
		offendHere(func() { two.Release() })
	}},
	{name: "LeaseOf: of a foreign slice", kind: "Put of a foreign slice", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		l := p.LeaseOf(make([]byte, 1024))
		offendHere(func() { l.Release() })
	}},
	{name: "LeaseOf: of the inside of a block", kind: "Put of the inside of a block", got: "getHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		l := p.LeaseOf(getHere(p, 8192)[4096:])
		offendHere(func() { l.Release() })
	}},
	{name: "Lease: Put of a part", kind: "Put of the inside of a block", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		l := p.Lease(8192).Slice(4096, 8192)
		offendHere(func() { p.Put(l.Bytes()) })
	}},
	{name: "Buffer: write after Release", kind: "write after Put", faults: true, commit: func(p *dewpond.BytePool) {
		var b = p.Buffer()
		b.WriteString("what the last owner wrote")
		old := b.Bytes()
		b.Release()
		old[0] = 'W'
		p.Trim()
	}},
	{name: "Buffer: write after it grew", kind: "write after Put", faults: true, commit: func(p *dewpond.BytePool) {
		b := p.Buffer()
		b.WriteString("short")
		old := b.Bytes()
		b.Write(make([]byte, 10_000))
		old[0] = 'S'
		p.Trim()
	}},
	{name: "Scope: write after Close", kind: "write after Put", faults: true, commit: func(p *dewpond.BytePool) {
		s := p.Scope()
		old := s.Get(100)
		s.Close()
		old[0] = 1
		p.Trim()
	}},
	{name: "read after Put", kind: "use after Put", got: "getHere", put: "putHere", offence: "offendHere", onlyFaults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 100)
		putHere(p, b)
		offendHere(func() { fmt.Println(b[0]) })
	}},
	{name: "write after Put", kind: "use after Put", got: "getHere", put: "putHere", offence: "offendHere", onlyFaults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 100)
		putHere(p, b)
		offendHere(func() { clear(b) })
	}},
	{name: "read after Put of a large block, out of quarantine", kind: "use after Put", got: "getHere", put: "putHere", offence: "offendHere", onlyFaults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1<<20)
		putHere(p, b)
		for range 20 {
			p.Put(p.Get(100_000))
		}
		offendHere(func() { fmt.Println(b[1<<20-1]) })
	}},
	{name: "write past cap", kind: "use past the end of a block", got: "getHere", offence: "offendHere", onlyFaults: true, commit: func(p *dewpond.BytePool) {
		b := getHere(p, 100)
		past := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), cap(b)))
		offendHere(func() { *past = 1 })
	}},
}

// guarded reports whether idle blocks fault with CheckAll: where they are mapped.
func guarded(t *testing.T) bool {
	return newPool(t, dewpond.BytePoolOptions{}).Stats().OffHeap.Reserved > 0
}

// Each offence is caught, and the first report names the stacks.
func TestOffencesAreCaught(t *testing.T) {
	guarded := guarded(t)
	for _, o := range offences {
		switch {
		case offHeap && o.heapOnly, !guarded && o.onlyFaults:
			continue
		case guarded && o.faults:
			o.kind, o.offence = "use after Put", "commitOffence"
		}
		t.Run(o.name, func(t *testing.T) {
			made(t)
			expectCaught(t, o.kind, o.got, o.put, o.offence, func(tell func(misuse.Violation)) {
				commitOffence(must(makePool(dewpond.BytePoolOptions{Name: "watched", OnViolation: tell})), o.commit)
			})
		})
	}
}

// commitOffence has the fault that an offence may be end in a report.
func commitOffence(p *dewpond.BytePool, commit func(p *dewpond.BytePool)) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(misuse.Violation); !ok {
				panic(r)
			}
		}
	}()
	defer p.Close() // with an error where a block is out off the heap
	defer offheap.ExplainFaults()()
	commit(p)
}

// What ExplainFaults makes of a panic: the Violation for a fault in a block that is idle,
// and else nothing.
func TestExplainFaults(t *testing.T) {
	var found []misuse.Violation
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v misuse.Violation) { found = append(found, v) }})
	panics := func(f func()) (with any) {
		defer func() { with = recover() }()
		defer offheap.ExplainFaults()()
		f()
		return nil
	}
	if v := panics(func() {}); v != nil {
		t.Errorf("%v out of nothing", v)
	}
	other := errors.New("other")
	if v := panics(func() { panic(other) }); v != other {
		t.Errorf("another panic has become %v", v)
	}
	var none *int
	if _, ok := panics(func() { *none = 1 }).(runtime.Error); !ok || len(found) != 0 {
		t.Errorf("a nil pointer: %v", found)
	}
	if before := debug.SetPanicOnFault(false); before {
		t.Error("faults still panic")
	}
	if !guarded(t) {
		return
	}
	for _, size := range []int{64, 5000, 100_000} {
		found = nil
		b := p.Get(size)
		p.Put(b)
		v, ok := panics(func() { clear(b) }).(misuse.Violation)
		if !ok || v.Kind != misuse.UseAfterPut || v.Size != cap(b) || v.Pool != p.Name() || len(found) != 1 {
			t.Errorf("%d bytes: %v, %d reported", size, v, len(found))
		}
		again := p.Get(size) // and the pool goes on
		clear(again)
		p.Put(again)
	}
	if s := p.Stats(); s.Violations != 3 || s.InUseBytes != 0 || s.OffHeap.Fallback != 0 {
		t.Errorf("%+v", s)
	}
}

// firstReport is what the offence that is being committed has been caught with, if it has.
var firstReport *atomic.Value

// expectCaught has an offence committed in a pool that tells of violations, of which the first
// must be of a kind, and have stacks that name these functions.
func expectCaught(t *testing.T, kind, got, put, offence string, commit func(tell func(misuse.Violation))) {
	t.Helper()
	dewpond.Default() // which others use too, and which is as the environment says at its first use
	t.Setenv("DEWPOND_CHECK", "all")
	// A collection may report what an offence loses by the way, or end a quarantine. Leaks ask
	// for one.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	first := new(atomic.Value) // of its own: an earlier offence may be told of once more
	firstReport = first
	commit(func(v misuse.Violation) { first.CompareAndSwap(nil, v.String()) })
	report, _ := first.Load().(string)
	if !strings.HasPrefix(report, "dewpond: "+kind+":") {
		t.Fatalf("want a %s, got %q", kind, report)
	}
	for title, function := range map[*regexp.Regexp]string{titles.got: got, titles.put: put, titles.offence: offence} {
		if function != "" && !strings.Contains(stackBelow(report, title), function) {
			t.Errorf("the stack below %v does not name %s:\n%s", title, function, report)
		}
	}
}

// titles match the lines of a report that stand above stacks.
var titles = struct{ got, put, offence *regexp.Regexp }{
	regexp.MustCompile(`(?m)^(got|made|that block: got)\b.* at$`),
	regexp.MustCompile(`(?m)^(put back|released) .* ago at$`),
	regexp.MustCompile(`(?m)^(put back|put back again|found|touched|released again) at$`),
}

// stackBelow returns the stack that stands below a title in a report, or "".
func stackBelow(report string, title *regexp.Regexp) string {
	at := title.FindStringIndex(report)
	if at == nil {
		return ""
	}
	stack := ""
	for line := range strings.Lines(report[at[1]+1:]) {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		stack += line
	}
	return stack
}

// untilCaught has the collector find what has leaked; else the test runs into its timeout.
func untilCaught() {
	for firstReport.Load() == nil {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// Of correct use nothing is reported, whatever it is.
func TestCorrectUseIsNotReported(t *testing.T) {
	rounds := 3000
	switch {
	case testing.Short():
		rounds = 300
	case *long && !offHeap: // where each Put is a system call
		rounds = 500_000 // of some 25 operations, by 4 goroutines in 2 modes: 10^8
	}
	for _, mode := range []dewpond.CheckMode{dewpond.CheckAll, dewpond.CheckSampled} {
		p := newPool(t, dewpond.BytePoolOptions{Check: mode, OnViolation: func(v misuse.Violation) { t.Error(v) }})
		var wg go125.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range rounds {
					useCorrectly(t, p, g+i)
					if i%1000 == 0 {
						p.Trim()
						runtime.GC()
					}
				}
			})
		}
		wg.Wait()
		s := p.Stats()
		// A collection may have made the pool move what was in quarantine just now.
		for s.InUseBytes != 0 { // else the test runs into its timeout
			time.Sleep(time.Millisecond)
			s = p.Stats()
		}
		if s.InUseBytes != 0 || s.Violations != 0 || s.Dropped.Foreign+s.Dropped.Double != 0 {
			t.Errorf("mode %d: %+v", mode, s)
		}
	}
}

func useCorrectly(t *testing.T, p *dewpond.BytePool, i int) {
	sizes := []int{64, 100, 1000, 5000, 20_000, 100_000}
	n := sizes[i%len(sizes)]
	write := func(b []byte) {
		b = b[:cap(b)]
		for _, at := range []int{0, len(b) / 2, len(b) - 1} {
			if b[at] != 0 {
				t.Errorf("not zero: %x", b[at])
			}
			b[at] = byte(i) | 1
		}
	}
	a, b := p.Get(n), p.Get(n/2)
	write(a)
	write(b)
	p.Put(a[:1])
	b = p.Append(p.Grow(b, n), 1, 2, 3)
	p.Put(b)
	c := must(p.TryGet(n))
	write(c)
	p.Put(c)
	l := p.Lease(n)
	other := l.Retain()
	write(l.Bytes())
	if err := errors.Join(dewpond.Release(l), dewpond.Release(other)); err != nil {
		t.Error(err)
	}
	buffer := p.Buffer()
	for range 3 {
		buffer.Write(make([]byte, n/3+1))
	}
	buffer.Release()
	s := p.Scope()
	for range 5 {
		write(s.Get(n/10 + 16))
	}
	s.Close()
}

// One in so many is watched, and what it catches is the same.
func TestSampledCatches(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/4")
	var mu sync.Mutex
	var found []misuse.Violation
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay, OnViolation: func(v misuse.Violation) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, v)
	}})
	const rounds = 4000
	for range rounds {
		b := p.Get(1000)
		p.Put(b)
		b[5]++ // too late
	}
	p.Trim()
	s := p.Stats()
	if n := len(found); n < rounds/8 || n > rounds/2 || s.Violations != uint64(n) {
		t.Errorf("%d of %d were found; Violations %d", n, rounds, s.Violations)
	}
	for _, v := range found {
		if v.Kind != misuse.WriteAfterPut || v.Size != 1024 || v.Pool != p.Name() || v.Got == nil || v.Put == nil {
			t.Fatal(v)
		}
	}
	if d := p.Stats().Sub(s); d.Violations != 0 {
		t.Errorf("Sub: %d", d.Violations)
	}
}

// Without Check nothing is watched, with an option that is no mode there is an error, and
// an environment that says none counts as off.
func TestCheckModes(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "")
	if _, err := makePool(dewpond.BytePoolOptions{Check: dewpond.CheckAll + 1}); err == nil || !strings.Contains(err.Error(), "Check 3") {
		t.Errorf("Check 3: %v", err)
	}
	for env, watched := range map[string]bool{
		"": true, "off": false, "all": true, "sampled=1/1": true,
		"all=1": false, "sampled=1/0": false, "sampled=7": false, "sampled=": false, "ALL": false,
	} {
		t.Setenv("DEWPOND_CHECK", env)
		n := 0
		p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(misuse.Violation) { n++ }})
		b := p.Get(100)
		p.Put(b)
		p.Put(b)
		if (n == 1) != watched {
			t.Errorf("%q: %d violations", env, n)
		}
	}
}

// With LeakAfter a block that is out for longer is a leak, also while it is still referenced,
// once for each time that it is out. The timer lives no longer than what it looks at.
func TestLeakAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var found []misuse.Violation
		p := newPool(t, dewpond.BytePoolOptions{
			Check: dewpond.CheckAll, IdleTimeout: 32 * time.Second, LeakAfter: time.Minute,
			OnViolation: func(v misuse.Violation) {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, v)
			},
		})
		expect := func(when string, leaks int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(found) != leaks {
				t.Fatalf("%s: %d reports, want %d: %v", when, len(found), leaks, found)
			}
		}
		b := getHere(p, 1000) // nothing is idle, which would keep the timer going
		time.Sleep(57 * time.Second)
		expect("after 57 s", 0)
		time.Sleep(6 * time.Second)
		expect("after 63 s", 1)
		if v := found[0]; v.Kind != misuse.Leak || v.Age < time.Minute || !strings.Contains(v.String(), "getHere") {
			t.Error(v)
		}
		time.Sleep(time.Hour)
		expect("after an hour", 1)
		if dewpond.Armed(p) {
			t.Error("a timer is armed for what has been reported")
		}
		p.Put(b)
		b, c := p.Get(100_000), p.Get(1000)
		time.Sleep(50 * time.Second)
		p.Put(c)
		time.Sleep(13 * time.Second)
		expect("of two more, one of which came back", 2)
		p.Put(b)
		if s := p.Stats(); s.Violations != 2 || s.InUseBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A collection's tick comes from outside a bubble, by whose clock all in it is as old as
// the year 2000.
func TestLeakAfterInBubbles(t *testing.T) {
	var reports atomic.Int64
	o := dewpond.BytePoolOptions{
		Check: dewpond.CheckAll, LeakAfter: time.Minute, IdleTimeout: time.Hour,
		OnViolation: func(misuse.Violation) { reports.Add(1) },
	}
	outside := newPool(t, o)
	outside.Put(outside.Get(1000)) // a timer outside is armed
	synctest.Test(t, func(t *testing.T) {
		inside := newPool(t, o)
		a, b := inside.Get(1000), outside.Get(1000)
		for range 20 {
			runtime.GC()
		}
		if n := reports.Load(); n != 0 {
			t.Errorf("%d leaks, of two blocks that have been out for no time", n)
		}
		inside.Put(a)
		outside.Put(b)
	})
}

// The cleanup of a leaked block may run after its memory has been allocated again, for a
// block that was put back and got once more.
func TestLeakIsToldLate(t *testing.T) {
	onlyOnHeap(t, "the collector does not have the blocks")
	for _, env := range []string{"all", "sampled=1/4"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("DEWPOND_CHECK", env)
			var holding, wrong atomic.Int64
			p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v misuse.Violation) {
				if strings.Contains(v.String(), "putHere") || holding.Load() > 0 && strings.Contains(v.String(), "getHere") {
					wrong.Add(1)
				}
			}})
			// As many cleanups that take long as hold up all others.
			goOn := make(chan bool)
			for range 64 {
				runtime.AddCleanup(new([64]*int), func(int) { <-goOn }, 0)
			}
			runtime.GC()
			leaked := map[uintptr]bool{}
			for range 2000 {
				leaked[uintptr(unsafe.Pointer(&p.Get(1000)[0]))] = true
			}
			runtime.GC()
			runtime.GC()
			again := 0
			var all [][]byte
			for range 2000 {
				b := getHere(p, 1000)
				if leaked[uintptr(unsafe.Pointer(&b[0]))] {
					again++
				}
				all = append(all, b)
			}
			for _, b := range all {
				p.Put(b)
			}
			for i := range all {
				all[i] = getHere(p, 1000)
			}
			holding.Add(1)
			close(goOn)
			for range 10 {
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			holding.Add(-1)
			if n := wrong.Load(); n != 0 {
				t.Errorf("%d reports of blocks that somebody holds", n)
			}
			if again == 0 {
				t.Error("no memory was used again: this shows nothing")
			}
			for _, b := range all {
				p.Put(b)
			}
		})
	}
}

// What is in quarantine is idle, too: it is within the bounds, and decays.
func TestQuarantineIsBoundedAndDecays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64 << 10
		p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, MaxIdleBytes: most, IdleTimeout: time.Second})
		hold(p, 1024, 300)
		s := p.Stats()
		if s.IdleBytes > most || s.IdleBytes < most/2 || s.InUseBytes != 0 {
			t.Errorf("%d bytes are idle, %d in use", s.IdleBytes, s.InUseBytes)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if s := p.Stats(); s.IdleBytes != 0 || s.Trimmed+s.Dropped.Full != 300 {
			t.Errorf("after four timeouts %d bytes are idle; %d trimmed, %d dropped", s.IdleBytes, s.Trimmed, s.Dropped.Full)
		}
	})
}

// LeakAfter where nothing is watched is a line in the log, once.
func TestLeakAfterWithoutCheck(t *testing.T) {
	defer slog.SetDefault(slog.Default())
	for _, c := range []struct {
		environment string
		mode        dewpond.CheckMode
		lines       int
	}{
		{"", dewpond.CheckOff, 1},
		{"off", dewpond.CheckOff, 1},
		{"all", dewpond.CheckOff, 0},
		{"sampled", dewpond.CheckOff, 0},
		{"", dewpond.CheckSampled, 0},
		{"off", dewpond.CheckAll, 0}, // somebody has turned it off
	} {
		t.Setenv("DEWPOND_CHECK", c.environment)
		dewpond.ForgetWarnings()
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			p := must(makePool(dewpond.BytePoolOptions{Check: c.mode, LeakAfter: time.Minute}))
			made(t)
			p.Close()
		}
		if n := strings.Count(log.String(), "LeakAfter"); n != c.lines {
			t.Errorf("%q, Check %d: %d lines: %s", c.environment, c.mode, n, log.String())
		}
	}
}

// CheckSampled watches as many Gets as it says, however few hits there are between two
// changes of the shards, however many pools the Gets are of, and at each place of a request
// that makes several Gets. The bound
// is six standard deviations of a choice at random, which fails once in 10^9 times; a
// place that is never watched, or always, is at eight and more.
func TestSamplingIsFair(t *testing.T) {
	onlyOnHeap(t, "which hits are watched does not depend on where blocks lie")
	const rate = 64
	t.Setenv("DEWPOND_CHECK", "sampled=1/64")
	trim := func(p *dewpond.BytePool) { p.Trim() }
	procs := func(p *dewpond.BytePool) { runtime.GOMAXPROCS(1 + runtime.GOMAXPROCS(0)%4) }
	for _, tt := range []struct {
		name    string
		pools   int // which requests use in turn
		places  int // Gets of a request, one after the other
		due     int // Gets of each place that are to be watched
		between int // requests between two changes
		change  func(p *dewpond.BytePool)
	}{
		{"one place", 1, 1, 1024, 0, nil},
		{"two places", 1, 2, 1024, 0, nil},
		{"many pools", 100, 1, 1024, 0, nil},
		{"as many places as the rate", 1, rate, 64, 0, nil},
		{"Trim before a slot has had its rate of hits", 1, 1, 1024, rate - 1, trim},
		{"Trim, and two places", 1, 2, 1024, 3 * rate, trim},
		{"GOMAXPROCS", 1, 3, 1024, 100, procs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			var pools []*dewpond.BytePool
			for range tt.pools {
				pools = append(pools, newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckSampled}))
			}
			due := tt.due
			if testing.Short() {
				due /= 8
			}
			watched := make([]float64, tt.places)
			for request := range rate * due {
				p := pools[request%tt.pools]
				if tt.between > 0 && request%tt.between == 0 {
					tt.change(p)
				}
				for place := range tt.places {
					b := p.Get(1000)
					if dewpond.IsWatched(p, b) {
						watched[place]++
					}
					p.Put(b)
				}
			}
			want := float64(due)
			for place, n := range watched {
				if off := math.Abs(n-want) / math.Sqrt(want); off > 6 {
					t.Errorf("place %d: %v Gets are watched, want %v: off by %.1f standard deviations", place, n, want, off)
				}
			}
		})
	}
}

// A worker has goroutines that use it while it is idle, and tells them by what they may use then.
type worker struct {
	ID   int64
	Last struct {
		Jobs  [3]job
		Table sync.Map
	}
	sync.Mutex
	Name    string
	Readers sync.Pool
	Inner   dewpond.SlicePool[int] // the zero one, which another goroutine may use first
}

type job struct {
	Done atomic.Int64
	Size int64
}

// use does what its goroutines may do, and what the runtime does.
func (w *worker) use() {
	w.Lock()
	w.Last.Jobs[1].Done.Add(1)
	w.Last.Table.Store(1, 1)
	w.Readers.Put(new([64]byte))
	w.Inner.Put(w.Inner.Get(10))
	runtime.GC()
	w.Unlock()
}

// What goroutines and the runtime may change in an idle object is left alone, and no misuse; what
// changes elsewhere in it is, in both modes.
func TestIdleObjectsAreUsed(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		t.Run(mode, func(t *testing.T) {
			t.Setenv("DEWPOND_CHECK", mode)
			var mu sync.Mutex
			var found []misuse.Violation
			p := newObjects(t, dewpond.PoolOptions[worker]{
				Reset: func(w *worker) {}, IdleTimeout: dewpond.NoDecay,
				OnViolation: func(v misuse.Violation) {
					mu.Lock() // leaks are reported by cleanups, which run side by side
					defer mu.Unlock()
					found = append(found, v)
				},
			})
			w := p.Get()
			p.Put(w)
			w.use()
			p.Trim() // looks at it
			if len(found) != 0 || w.Last.Jobs[1].Done.Load() != 1 {
				t.Errorf("of what may change: %v; %d jobs are done", found, w.Last.Jobs[1].Done.Load())
			}
			for field, change := range map[string]func(w *worker){
				"ID":        func(w *worker) { w.ID++ },
				"Last.Jobs": func(w *worker) { w.Last.Jobs[1].Size++ },
				"Name":      func(w *worker) { w.Name = "late" },
			} {
				w := p.Get()
				p.Put(w)
				w.use()
				change(w)
				found = nil
				p.Trim()
				if len(found) != 1 || found[0].Kind != misuse.WriteAfterPut || found[0].Field != field {
					t.Errorf("of a write to %s: %v", field, found)
				}
			}
		})
	}
}

// So it is with the elements of slices, which are not poisoned then, by any policy.
func TestIdleElementsAreUsed(t *testing.T) {
	for _, mode := range []string{"all", "sampled=1/1"} {
		t.Setenv("DEWPOND_CHECK", mode)
		for name, o := range map[string]dewpond.SlicePoolOptions[job]{
			"on Put": {},
			"on Get": {Zero: dewpond.ZeroOnGet},
			"never":  {Zero: dewpond.ZeroNever},
			"Reset":  {Reset: func([]job) {}},
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				var mu sync.Mutex
				var found []misuse.Violation
				o.IdleTimeout, o.OnViolation = dewpond.NoDecay, func(v misuse.Violation) {
					mu.Lock() // leaks are reported by cleanups, which run side by side
					defer mu.Unlock()
					found = append(found, v)
				}
				p := newSlices(t, o)
				s := p.Get(100)
				p.Put(s)
				before := s[99].Done.Load()
				s[99].Done.Add(1)
				p.Trim()
				if n := s[99].Done.Load(); len(found) != 0 || before != 0 || n != 1 {
					t.Errorf("counted from %d to %d; %v", before, n, found)
				}
				s = p.Get(100)
				p.Put(s)
				s[99].Size++
				p.Trim()
				if len(found) != 1 || found[0].Kind != misuse.WriteAfterPut || found[0].Offset != 99*16+8 {
					t.Errorf("of a write to an element: %v", found)
				}
				s = p.Get(100)
				first := &s[0]
				p.Put(s)
				before = s[99].Done.Load()
				s[99].Done.Add(1)
				want := before + 1 // as without checks
				if o.Zero == dewpond.ZeroOnGet {
					want = 0
				}
				var others [][]job
				for s = p.Get(100); &s[0] != first && len(others) < 10_000; s = p.Get(100) { // a quarantine holds less
					others = append(others, s)
					p.Put(p.Get(100))
				}
				if n := s[99].Done.Load(); n != want {
					t.Errorf("counted to %d while it was idle, and the next owner has %d, want %d", before+1, n, want)
				}
				runtime.KeepAlive(others)
			})
		}
	}
}

// In an idle object a pool or Budget by value may change as a whole: its first user makes it. What has
// one owner may not.
func TestIdlePoolsAreUsed(t *testing.T) {
	for _, pool := range []any{dewpond.BytePool{}, dewpond.Pool[int]{}, dewpond.SlicePool[int]{}, dewpond.BodyPool{}, dewpond.Budget{}} {
		of := reflect.TypeOf(pool)
		if l := check.LayoutOf(of); !reflect.DeepEqual(l, check.LayoutOf(reflect.ArrayOf(int(of.Size()/8), reflect.TypeFor[atomic.Int64]()))) {
			t.Errorf("something is watched of %v", of)
		}
	}
	for _, owned := range []any{dewpond.Buffer{}, dewpond.Lease{}, dewpond.Scope{}} {
		if check.LayoutOf(reflect.TypeOf(owned)) != nil {
			t.Errorf("not all of %T is watched", owned)
		}
	}
}

// The checks do not read what a goroutine may be writing. With -race that would be a race.
func TestIdleObjectsAreUsedMeanwhile(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "all")
	tell := func(v misuse.Violation) { t.Error(v) }
	objects := newObjects(t, dewpond.PoolOptions[worker]{New: func() *worker { return new(worker) }, OnViolation: tell})
	slices := newSlices(t, dewpond.SlicePoolOptions[job]{Zero: dewpond.ZeroNever, OnViolation: tell})
	w, s := objects.Get(), slices.Get(10)
	var end atomic.Bool
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		for !end.Load() {
			w.Last.Jobs[2].Done.Add(1)
			w.Lock()
			s[9].Done.Add(1)
			w.Unlock()
			time.Sleep(time.Microsecond)
		}
	}()
	objects.Put(w)
	slices.Put(s)
	for range 1000 { // more than a quarantine holds, so that w and s come back
		objects.Put(objects.Get())
		slices.Put(slices.Get(10))
	}
	objects.Trim()
	slices.Trim()
	end.Store(true)
	running.Wait()
}

// Where checked mode meets what it did not make, and what does not return.

// A pool on the heap takes any slice whose cap is a class, also one that is not the
// collector's, which then has no leak to tell of.
func TestSampledTakesOthersMemory(t *testing.T) {
	onlyOnHeap(t, "a pool off it takes none")
	t.Setenv("DEWPOND_CHECK", "sampled=1/1")
	other := must(offheap.Options{Reserve: 1 << 20}.NewBytePool(dewpond.BytePoolOptions{Name: "other", Classes: []int{64 << 10}}))
	p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v misuse.Violation) { t.Error(v) }})
	b := other.Get(64 << 10)
	p.Put(b)
	if got := p.Get(64 << 10); &got[0] != &b[0] {
		t.Error("another block: this shows nothing")
	}
	p.Put(b)
	for range 300 { // in every shard of the checks
		p.Put(p.Get(64))
	}
	p.Close()
	other.Put(b)
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// What is put back after Close is in no profile any more, nor what never is.
func TestClosedPoolIsNotInProfile(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/1")
	before := 0
	if profile := pprof.Lookup("dewpond_inuse"); profile != nil {
		before = profile.Count()
	}
	p := must(makePool(dewpond.BytePoolOptions{Name: t.Name(), OnViolation: func(misuse.Violation) {}}))
	made(t)
	var all [][]byte
	for range 100 {
		all = append(all, p.Get(1000))
	}
	during := pprof.Lookup("dewpond_inuse").Count()
	p.Close()
	for _, b := range all {
		p.Put(b)
	}
	if n := pprof.Lookup("dewpond_inuse").Count(); n > before || during <= before {
		t.Errorf("%d are in the profile; %d while they were out, %d before", n, during, before)
	}
}

// A Drop that panics leaves the counts as they must be, whichever call it was.
func TestCheckedDropPanics(t *testing.T) {
	for _, maxIdle := range []int{dewpond.NoIdle, 100} {
		p := newObjects(t, dewpond.PoolOptions[account]{
			Check: dewpond.CheckAll, MaxIdle: maxIdle, IdleTimeout: dewpond.NoDecay, Drop: func(*account) { panic("Drop") },
			OnViolation: func(v misuse.Violation) { t.Error(v) },
		})
		all := make([]*account, 5)
		for i := range all {
			all[i] = p.Get()
		}
		text := ""
		for _, v := range all {
			text += panics(func() { p.Put(v) })
		}
		text += panics(func() { p.Trim() })
		if s := p.Stats(); s.IdleBytes != 0 || s.Puts != 5 || s.InUseBytes != 0 {
			t.Errorf("MaxIdle %d: %+v", maxIdle, s)
		}
		if text == "" {
			t.Error("nothing panicked: this shows nothing")
		}
	}
}

// An Allocator whose Free panics leaves nothing that counts as idle and is not.
func TestCheckedFreePanics(t *testing.T) {
	source := &panicsInFree{fakeSource: newFakeSource()}
	p := newPool(t, dewpond.BytePoolOptions{Memory: source, Check: dewpond.CheckAll, MaxIdleBytes: 8192, IdleTimeout: dewpond.NoDecay, Classes: []int{1024}})
	var all [][]byte
	for range 40 {
		all = append(all, p.Get(1000))
	}
	source.on = true
	n := 0
	for _, b := range all {
		if panics(func() { p.Put(b) }) != "" {
			n++
		}
	}
	if s := p.Stats(); s.IdleBytes > 8192 || n == 0 {
		t.Errorf("%d Puts panicked, %d bytes are idle", n, s.IdleBytes)
	}
	source.on = false
}

// idleTimeouts are what decides whether a timer looks at the pool meanwhile.
var idleTimeouts = []time.Duration{-1, 0, 100 * time.Millisecond}

// A block that its owner loses is reported, also one that was out before, and on a pool
// that nothing else happens to.
func TestLostBlocksAreReported(t *testing.T) {
	onlyOnHeap(t, "Close reports what is out")
	for _, timeout := range idleTimeouts {
		for name, o := range map[string]dewpond.BytePoolOptions{
			"plain":     {},
			"Budget":    {Budget: dewpond.MustBudget("", 64<<20)},
			"AllocRate": {AllocRate: 1 << 20},
		} {
			for tool, lose := range map[string]func(p *dewpond.BytePool) *byte{
				"Get":    func(p *dewpond.BytePool) *byte { return &p.Get(1000)[0] },
				"Lease":  func(p *dewpond.BytePool) *byte { return &p.Lease(1000).Bytes()[0] },
				"part":   func(p *dewpond.BytePool) *byte { return losePart(p.Lease(1000)) },
				"Buffer": func(p *dewpond.BytePool) *byte { b := p.Buffer(); b.Grow(1000); return &b.AvailableBuffer()[:1][0] },
			} {
				t.Run(name+" "+tool+" "+timeout.String(), func(t *testing.T) {
					told := make(chan misuse.Violation, 100)
					o.Check, o.IdleTimeout, o.OnViolation = dewpond.CheckAll, timeout, func(v misuse.Violation) { told <- v }
					p := newPool(t, o)
					useBlocks(p, 300) // more than the quarantine holds
					expectLeaks(t, loseBlocks(p, lose), told)
					runtime.KeepAlive(p)
				})
			}
		}
	}
}

// losePart loses a part of a lease whose first owner has released.
func losePart(l dewpond.Lease) *byte {
	part := l.Slice(500, 600)
	l.Release()
	return &part.Bytes()[0]
}

//go:noinline
func useBlocks(p *dewpond.BytePool, n int) {
	var all [][]byte
	var leases []dewpond.Lease
	for range n {
		all, leases = append(all, p.Get(1000)), append(leases, p.Lease(1000))
	}
	for i := range all {
		p.Put(all[i])
		leases[i].Release()
	}
}

//go:noinline
func loseBlocks(p *dewpond.BytePool, lose func(p *dewpond.BytePool) *byte) (lost []weak.Pointer[byte]) {
	for range 20 {
		lost = append(lost, weak.Make(lose(p)))
	}
	return lost
}

// So is an object.
func TestLostObjectsAreReported(t *testing.T) {
	for _, timeout := range idleTimeouts {
		for name, o := range map[string]dewpond.PoolOptions[account]{
			"plain": {},
			"Limit": {MaxOut: 1000},
			"large": {MaxIdle: 100_000},
		} {
			t.Run(name+" "+timeout.String(), func(t *testing.T) {
				told := make(chan misuse.Violation, 100)
				o.Check, o.IdleTimeout, o.OnViolation = dewpond.CheckAll, timeout, func(v misuse.Violation) { told <- v }
				p := newObjects(t, o)
				useObjects(p, 300)
				expectLeaks(t, loseObjects(p), told)
				runtime.KeepAlive(p)
			})
		}
	}
}

//go:noinline
func useObjects(p *dewpond.Pool[account], n int) {
	var all []*account
	for range n {
		all = append(all, p.Get())
	}
	for _, v := range all {
		p.Put(v)
	}
}

//go:noinline
func loseObjects(p *dewpond.Pool[account]) (lost []weak.Pointer[account]) {
	for range 20 {
		v := p.Get()
		v.Name = "lost"
		lost = append(lost, weak.Make(v))
	}
	return lost
}

//go:noinline
func getAndPutHere(p *dewpond.BytePool) { p.Put(p.Get(2000)) }

// What is out of a watched pool is in a profile, by the stack of its Get, and what is put back
// is not.
func TestInUseProfile(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll})
	out := getHere(p, 1000)
	getAndPutHere(p)
	profile := pprof.Lookup("dewpond_inuse")
	if profile == nil {
		t.Fatal("there is no profile dewpond_inuse")
	}
	var text strings.Builder
	if err := profile.WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "dewpond_test.getHere") || strings.Contains(s, "dewpond_test.getAndPutHere") {
		t.Errorf("want getHere in the profile, and not getAndPutHere:\n%s", s)
	}
	p.Put(out)
}

// BenchmarkSampled is a Get, a touch and a Put with CheckSampled, in turn with the same
// with CheckOff. BenchmarkCheckAll says what tests pay.
func BenchmarkSampled(b *testing.B) { benchmarkCheck(b, dewpond.CheckSampled) }

func BenchmarkCheckAll(b *testing.B) { benchmarkCheck(b, dewpond.CheckAll) }

func benchmarkCheck(b *testing.B, mode dewpond.CheckMode) {
	for _, size := range []int{128, 8192} {
		for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroNever, dewpond.ZeroOnPut} {
			checked := newPool(b, dewpond.BytePoolOptions{Zero: zero, Check: mode})
			off := newPool(b, dewpond.BytePoolOptions{Zero: zero})
			b.Run(fmt.Sprintf("size=%d/zero=%v/goroutines=1", size, zero == dewpond.ZeroOnPut), func(b *testing.B) {
				compareRounds(b, func(n int) { ourLoop(checked, size, n) }, func(n int) { ourLoop(off, size, n) })
			})
			b.Run(fmt.Sprintf("size=%d/zero=%v/goroutines=GOMAXPROCS", size, zero == dewpond.ZeroOnPut), func(b *testing.B) {
				compareRounds(b,
					func(n int) { parallel(n, func(n int) { ourLoop(checked, size, n) }) },
					func(n int) { parallel(n, func(n int) { ourLoop(off, size, n) }) })
			})
		}
	}
}

// BenchmarkSampledPools is a Get and Put with CheckSampled of so many pools in turn, which all have blocks in
// quarantine. Its control is the same without checks.
func BenchmarkSampledPools(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			pools := func(mode dewpond.CheckMode) (all []*dewpond.BytePool) {
				for range n {
					all = append(all, newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever, Check: mode}))
				}
				return all
			}
			inTurn := func(all []*dewpond.BytePool) func(uses int) {
				return func(uses int) {
					for range uses / 8 / n {
						for _, p := range all {
							var blocks [8][]byte
							for i := range blocks {
								blocks[i] = p.Get(128)
							}
							for _, block := range blocks {
								p.Put(block)
							}
						}
					}
				}
			}
			checked, off := inTurn(pools(dewpond.CheckSampled)), inTurn(pools(dewpond.CheckOff))
			checked(n * 512 * 1024) // the quarantines are full
			compareRounds(b, checked, off)
		})
	}
}

// BenchmarkCheckAllPool is a Get, a write and a Put of a Pool with CheckAll, so many calls
// deep. Its control is two calls of runtime.Callers that return as many frames as the stacks
// of the Get and of the Put have: what these would cost if the runtime recorded them, and
// nothing else were done.
func BenchmarkCheckAllPool(b *testing.B) {
	trades := dewpond.MustPool(dewpond.PoolOptions[trade]{Name: "watched trades", Check: dewpond.CheckAll})
	defer trades.Close()
	// As many frames of a stack are the library's: those of Put, asked, putWatched, put and
	// callers.
	const ours = 5
	var pcs [32]uintptr
	record := func() { runtime.Callers(1, pcs[:]) }
	for _, depth := range []int{0, 10, 20} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			compareRounds(b,
				func(n int) { further(depth, func() { useTrades(trades, n) }) },
				func(n int) {
					further(depth, func() {
						for range n {
							further(ours-2, record) // and itself, and record
							further(ours-2, record)
						}
					})
				})
		})
	}
}

// further calls f so many calls further down.
//
//go:noinline
func further(calls int, f func()) {
	if calls == 0 {
		f()
		return
	}
	further(calls-1, f)
}

package dewpond_test

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
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
		b := dewpond.Get(1024)
		offendHere(func() { p.Put(b) })
		dewpond.Put(b)
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
	{name: "Return: of another variable", kind: "double Put", got: "getHere", put: "putHere", offence: "offendHere", commit: func(p *dewpond.BytePool) {
		b := getHere(p, 1000)
		again := b
		putHere(p, b)
		offendHere(func() { p.Return(&again) })
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
	return newPool(t, dewpond.BytePoolOptions{}).Stats().ReservedBytes > 0
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
			expectCaught(t, o.kind, o.got, o.put, o.offence, func(tell func(dewpond.Violation)) {
				commitOffence(must(makePool(dewpond.BytePoolOptions{Name: "watched", OnViolation: tell})), o.commit)
			})
		})
	}
}

// commitOffence has the fault that an offence may be end in a report.
func commitOffence(p *dewpond.BytePool, commit func(p *dewpond.BytePool)) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(dewpond.Violation); !ok {
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
	var found []dewpond.Violation
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(v dewpond.Violation) { found = append(found, v) }})
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
		v, ok := panics(func() { clear(b) }).(dewpond.Violation)
		if !ok || v.Kind != dewpond.UseAfterPut || v.Size != cap(b) || v.Pool != p.Name() || len(found) != 1 {
			t.Errorf("%d bytes: %v, %d reported", size, v, len(found))
		}
		again := p.Get(size) // and the pool goes on
		clear(again)
		p.Put(again)
	}
	if s := p.Stats(); s.Violations != 3 || s.InUseBytes != 0 || s.HeapFallback != 0 {
		t.Errorf("%+v", s)
	}
}

// firstReport is what the offence that is being committed has been caught with, if it has.
var firstReport *atomic.Value

// expectCaught has an offence committed in a pool that tells of violations, of which the first
// must be of a kind, and have stacks that name these functions.
func expectCaught(t *testing.T, kind, got, put, offence string, commit func(tell func(dewpond.Violation))) {
	t.Helper()
	dewpond.Default() // which others use too, and which is as the environment says at its first use
	t.Setenv("DEWPOND_CHECK", "all")
	// A collection may report what an offence loses by the way, or end a quarantine. Leaks ask
	// for one.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	first := new(atomic.Value) // of its own: an earlier offence may be told of once more
	firstReport = first
	commit(func(v dewpond.Violation) { first.CompareAndSwap(nil, v.String()) })
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
		p := newPool(t, dewpond.BytePoolOptions{Check: mode, OnViolation: func(v dewpond.Violation) { t.Error(v) }})
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
		if s.InUseBytes != 0 || s.Violations != 0 || s.DroppedForeign+s.DroppedDouble != 0 {
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
	var found []dewpond.Violation
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay, OnViolation: func(v dewpond.Violation) {
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
		if v.Kind != dewpond.WriteAfterPut || v.Size != 1024 || v.Pool != p.Name() || v.Got == nil || v.Put == nil {
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
		p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll, OnViolation: func(dewpond.Violation) { n++ }})
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
		var found []dewpond.Violation
		p := newPool(t, dewpond.BytePoolOptions{
			Check: dewpond.CheckAll, IdleTimeout: 32 * time.Second, LeakAfter: time.Minute,
			OnViolation: func(v dewpond.Violation) {
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
		if v := found[0]; v.Kind != dewpond.Leak || v.Age < time.Minute || !strings.Contains(v.String(), "getHere") {
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
		OnViolation: func(dewpond.Violation) { reports.Add(1) },
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
			p := newPool(t, dewpond.BytePoolOptions{OnViolation: func(v dewpond.Violation) {
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
		if s := p.Stats(); s.IdleBytes != 0 || s.Trimmed+s.DroppedFull != 300 {
			t.Errorf("after four timeouts %d bytes are idle; %d trimmed, %d dropped", s.IdleBytes, s.Trimmed, s.DroppedFull)
		}
	})
}

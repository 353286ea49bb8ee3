package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// An entry is an element with a pointer.
type entry struct {
	Name  string
	Value int
}

// A Get of any number returns as many elements, all zero, with the cap of the smallest
// class, and a Put takes them back.
func TestSlicesOfEveryLength(t *testing.T) {
	slicesOfEveryLength[byte](t)
	slicesOfEveryLength[[3]byte](t)
	slicesOfEveryLength[float64](t)
	slicesOfEveryLength[[3]uint32](t)
	slicesOfEveryLength[*int](t)
	slicesOfEveryLength[entry](t)
	slicesOfEveryLength[[5]entry](t)
	slicesOfEveryLength[[1000]byte](t)
	slicesOfEveryLength[[3000]any](t) // larger than any class that is looked up by table
}

func slicesOfEveryLength[T comparable](t *testing.T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	var classes []int
	for _, bytes := range dewpond.DefaultClasses() {
		if n := bytes / size; n > 0 && !slices.Contains(classes, n) {
			classes = append(classes, n)
		}
	}
	p := newSlices(t, dewpond.SlicePoolOptions[T]{})
	class, largest := 0, classes[len(classes)-1]
	for n := 1; n <= largest; n++ {
		if n > 700 && n%509 != 0 && n != classes[class] && n != classes[class]+1 {
			continue
		}
		for classes[class] < n {
			class++
		}
		s := p.Get(n)
		if len(s) != n || cap(s) != classes[class] {
			t.Fatalf("Get(%d) of %T: len %d, cap %d; want cap %d", n, zero, len(s), cap(s), classes[class])
		}
		for _, v := range []T{s[0], s[n-1], s[:cap(s)][cap(s)-1]} {
			if v != zero {
				t.Fatalf("Get(%d) of %T: %v", n, zero, v)
			}
		}
		p.Put(s)
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Oversize != 0 || s.Gets != s.Puts || s.Dropped.Foreign != 0 {
		t.Errorf("%T: %+v", zero, s)
	}
	s := p.Get(largest + 1)
	if len(s) != largest+1 {
		t.Errorf("Get(%d) of %T: len %d", largest+1, zero, len(s))
	}
	p.Put(s)
	if s := p.Stats(); s.Oversize != 1 || s.Dropped.Oversize != 1 || s.InUseBytes != 0 {
		t.Errorf("%T above the largest class: %+v", zero, s)
	}
}

// What is put back is handed out again, as it was allocated: the next Get of its class is
// a hit.
func TestSlicesAreReused(t *testing.T) {
	notWatched(t, countsMiss)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := newSlices(t, dewpond.SlicePoolOptions[entry]{})
	classes := map[int]bool{}                                              // 9, or with 32-bit words 8
	for _, n := range []int{2, 5, 21, 22, 170, 1365, 1366, 5461, 10_000} { // on both sides of what Go allocates in other ways
		a := p.Get(n)
		classes[cap(a)] = true
		first := &a[0]
		p.Put(a[:0])
		if b := p.Get(n); &b[0] != first {
			t.Errorf("Get(%d) is not what was put back", n)
		} else {
			p.Put(b)
		}
	}
	if s := p.Stats(); s.Gets != 18 || s.Misses != uint64(len(classes)) || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	p.Put(nil)
	if s := p.Stats(); s.Puts != 18 {
		t.Errorf("nil is a Put: %+v", s)
	}
}

// T with pointers is cleared on Put, to the cap, whatever the length: what is idle keeps
// nothing alive.
func TestSlicesWithPointersAreClearedOnPut(t *testing.T) {
	onlyOnHeap(t, "slices have no other memory")
	clearedOnPut(t, func(v *[4]int) *[4]int { return v })
	clearedOnPut(t, func(v *[4]int) [2]*[4]int { return [2]*[4]int{v, v} })
	clearedOnPut(t, func(v *[4]int) any { return v })
	clearedOnPut(t, func(v *[4]int) struct {
		N int
		V *[4]int
		M int
	} {
		return struct {
			N int
			V *[4]int
			M int
		}{1, v, 2}
	})
	clearedOnPut(t, func(v *[4]int) (large [17]*[4]int) { large[16] = v; return }) // more than clearShort takes
	clearedOnPut(t, func(v *[4]int) (small [16]*[4]int) { small[0], small[15] = v, v; return })
}

func clearedOnPut[T comparable](t *testing.T, of func(v *[4]int) T) {
	var zero T
	for name, o := range map[string]dewpond.SlicePoolOptions[T]{
		"plain": {}, "Budget": {Budget: dewpond.MustBudget("", 1<<30)}, "CheckAll": {Check: dewpond.CheckAll},
	} {
		p := newSlices(t, o)
		var all [][]T
		var held []weak.Pointer[[4]int]
		for n := 1; n < 200; n += 1 + n/8 {
			s := p.Get(n)
			s = s[:cap(s)]
			for i := range s {
				v := new([4]int)
				s[i] = of(v)
				held = append(held, weak.Make(v))
			}
			all = append(all, s[:n])
		}
		for _, s := range all {
			p.Put(s[:len(s)/2])
		}
		for _, s := range all {
			if i := slices.IndexFunc(s[:cap(s)], func(v T) bool { return v != zero }); i >= 0 {
				t.Fatalf("%s: element %d of %d idle %T is not zero", name, i, cap(s), zero)
			}
		}
		runtime.GC()
		for i, v := range held {
			if v.Value() != nil {
				t.Fatalf("%s: what %d of %d %T pointed to is kept alive", name, i, len(held), zero)
			}
		}
		runtime.KeepAlive(p)
	}
}

// What an owner takes out of a slice before Put is alive as long as that owner wants,
// whatever the collector does meanwhile: clearing tells it.
func TestClearingTellsTheCollector(t *testing.T) {
	onlyOnHeap(t, "slices have no other memory")
	needsThreads(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	p := newSlices(t, dewpond.SlicePoolOptions[*[4]int]{})
	var wg, collector go125.WaitGroup
	stop := make(chan struct{})
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	for g := range 4 {
		wg.Go(func() {
			var others [8]*[4]int
			for i := range rounds {
				n := 4 + (g+i)%60
				s := p.Get(n)
				for j := range s {
					s[j] = &[4]int{i, j, g, 7}
				}
				out := slices.Clone(s[:4])
				p.Put(s)
				for j := range others { // they would take the place of objects that were freed
					others[j] = &[4]int{-1}
				}
				for j, v := range out {
					if *v != [4]int{i, j, g, 7} {
						t.Errorf("%v, want %d %d %d 7", *v, i, j, g)
					}
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	collector.Wait()
}

// T without pointers is cleared as the policy says.
func TestSlicesWithoutPointersFollowThePolicy(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for zero, want := range map[dewpond.ZeroPolicy][2]float64{
		dewpond.ZeroOnPut: {0, 0}, dewpond.ZeroOnGet: {7, 0}, dewpond.ZeroNever: {7, 7},
	} {
		for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
			p := newSlices(t, dewpond.SlicePoolOptions[float64]{Zero: zero, Check: check, MaxIdlePerClass: 2, OnViolation: func(v misuse.Violation) { t.Error(v) }})
			s := p.Get(16)
			for i := range s {
				s[i] = 7
			}
			p.Put(s[:3])
			if poisoned := check == dewpond.CheckAll && zero != dewpond.ZeroNever; s[15] != want[0] && !poisoned {
				t.Errorf("policy %d, check %d: idle %v, want %v", zero, check, s[15], want[0])
			}
			if got := p.Get(15); got[:16][15] != want[1] || &got[0] != &s[0] {
				t.Errorf("policy %d, check %d: %v after Get, want %v", zero, check, got[:16][15], want[1])
			} else {
				p.Put(got)
			}
		}
	}
}

// Reset is called once for each Put that the pool accepts, with the whole slice, and what
// it leaves is what Get returns.
func TestSlicesAreReset(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, o := range map[string]dewpond.SlicePoolOptions[entry]{
		"plain": {}, "Budget": {Budget: dewpond.MustBudget("", 1<<20)}, "CheckAll": {Check: dewpond.CheckAll, MaxIdlePerClass: 9},
	} {
		var resets []int
		o.Classes = []int{4, 8, 100}
		o.Reset = func(s []entry) {
			resets = append(resets, len(s))
			for i := range s {
				s[i].Name = ""
			}
		}
		o.OnViolation = func(v misuse.Violation) {
			if v.Kind != misuse.ForeignPut && v.Kind != misuse.DoublePut {
				t.Errorf("%s: %v", name, v)
			}
		}
		p := newSlices(t, o)
		s := p.Get(6)
		first := &s[0]
		s[0], s[:8][7] = entry{"alice", 7}, entry{"bob", 8}
		p.Put(s[:2])
		p.Put(make([]entry, 7)) // no class
		p.Put(nil)
		if o.Check == dewpond.CheckAll {
			p.Put(s) // a second time
		}
		if s = p.Get(8); s[0] != (entry{"", 7}) || s[7] != (entry{"", 8}) || !slices.Equal(resets, []int{8}) || &s[0] != first {
			t.Errorf("%s: Get after resets of %d returned %v", name, resets, s)
		}
		p.Put(s)
		if s := p.Stats(); s.InUseBytes != 0 || s.Hits != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A slice whose Reset panics is the collector's, and a Budget is charged with it no
// longer once it is collected.
func TestSlicesWhoseResetPanics(t *testing.T) {
	for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
		budget := dewpond.MustBudget("", 1<<20)
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{
			Budget: budget, Check: check,
			Reset:       func(s []entry) { panic("Reset") },
			OnViolation: func(v misuse.Violation) { t.Error(v) },
		})
		func() {
			s := p.Get(8)
			if with := panics(func() { p.Put(s) }); with != "Reset" {
				t.Errorf("Put panicked with %q", with)
			}
		}()
		if s := p.Stats(); s.IdleBytes != 0 || s.Hits != 0 {
			t.Errorf("%+v", s)
		}
		for budget.Used() != 0 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}

// A Put that is refused leaves the slice as it is: it has an owner.
func TestRefusedSlicesAreLeftAlone(t *testing.T) {
	notWatched(t, putsForeign)
	full := func(n int) []entry {
		s := make([]entry, n)
		for i := range s {
			s[i] = entry{"alice", i}
		}
		return s
	}
	own := full(8)
	plain := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8, 16, 100}})
	budgeted := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8, 16, 100}, Budget: dewpond.MustBudget("", 1<<20)})
	checked := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8, 16, 100}, Check: dewpond.CheckAll, OnViolation: func(misuse.Violation) {}})
	closed := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8, 16, 100}, Budget: dewpond.MustBudget("", 1<<20)})
	closed.Close()
	for _, tt := range []struct {
		name string
		p    *dewpond.SlicePool[entry]
		s    []entry
		want dewpond.Stats
	}{
		{"no class", plain, full(9), dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		{"cut", plain, full(16)[:4:9], dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		{"above the largest", plain, full(101), dewpond.Stats{Dropped: dewpond.DropStats{Oversize: 1}}},
		{"not of the Budget", budgeted, own, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		{"never handed out", checked, own, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
		{"closed, and not its own", closed, own, dewpond.Stats{Dropped: dewpond.DropStats{Foreign: 1}}},
	} {
		before, was := tt.p.Stats(), slices.Clone(tt.s)
		tt.p.Put(tt.s)
		if !slices.Equal(tt.s, was) {
			t.Errorf("%s: %v", tt.name, tt.s)
		}
		s := tt.p.Stats()
		s.Dropped.Foreign -= before.Dropped.Foreign
		s.Dropped.Oversize -= before.Dropped.Oversize
		if s.Dropped.Foreign != tt.want.Dropped.Foreign || s.Dropped.Oversize != tt.want.Dropped.Oversize || s.IdleBytes != 0 {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}

	// Of elements without pointers no slice of Go's begins between two multiples of 16.
	type cell [3]float64
	cells := newSlices(t, dewpond.SlicePoolOptions[cell]{Classes: []int{4, 8}})
	cells.Put(make([]cell, 12)[1:9:9])
	cells.Put(make([]cell, 12)[2:10:10]) // which nobody can tell
	if s := cells.Stats(); s.Dropped.Foreign != 1 || s.Classes[1].Idle != 1 {
		t.Errorf("misaligned: %+v", s)
	}
}

// Get and the like panic if no slice can be as long, and say what was asked for. TryGet and the like return an
// error: TestImpossibleLengths.
func TestSlicesOfImpossibleLength(t *testing.T) {
	p := newSlices(t, dewpond.SlicePoolOptions[entry]{Name: "entries"})
	for name, f := range map[string]func(){
		"Get(-1)":             func() { p.Get(-1) },
		"TryGet(-2)":          func() { p.TryGet(-2) },
		"GetContext(-3)":      func() { p.GetContext(t.Context(), -3) },
		"Prewarm(-4)":         func() { p.Prewarm(-4, 1) },
		"Grow by -5 elements": func() { p.Grow(nil, -5) },
		"Grow by " + huge:     func() { p.Grow(make([]entry, 8), math.MaxInt) },
		"Get(" + huge + ")":   func() { p.Get(math.MaxInt) },
	} {
		if got := panics(f); !strings.Contains(got, name) || !strings.Contains(got, `"entries"`) {
			t.Errorf("%s panics with %q", name, got)
		}
	}
	if s := p.Stats(); s.Gets != 0 {
		t.Errorf("%+v", s)
	}
}

var huge = fmt.Sprint(math.MaxInt)

func TestSliceOptionsThatCannotBeMeant(t *testing.T) {
	refusesSlices(t, dewpond.SlicePoolOptions[struct{}]{Name: "empty"}, `"empty"`, "struct {} has size 0")
	refusesSlices(t, dewpond.SlicePoolOptions[[0]*int]{MaxIdleBytes: -2, AllocRate: -1}, "[0]*int has size 0", "MaxIdleBytes -2", "AllocRate -1")
	refusesSlices(t, dewpond.SlicePoolOptions[[2 << 20]byte]{}, "has 2097152 bytes", "give Classes")
	refusesSlices(t, dewpond.SlicePoolOptions[[65 << 20]byte]{Classes: []int{1}}, "a block has at most 67108864")
	refusesSlices(t, dewpond.SlicePoolOptions[float64]{Classes: []int{4, 7, 2}}, "class 7", "use 8", "class 2")
	refusesSlices(t, dewpond.SlicePoolOptions[float64]{Classes: []int{}}, "no class")
	refusesSlices(t, dewpond.SlicePoolOptions[float64]{Zero: 9}, "Zero", "ZeroOnPut")
	refusesSlices(t, dewpond.SlicePoolOptions[entry]{Zero: dewpond.ZeroNever}, "dewpond_test.entry has pointers (string)", "keep alive")
	refusesSlices(t, dewpond.SlicePoolOptions[entry]{Zero: dewpond.ZeroOnGet}, "has pointers")
	refusesSlices(t, dewpond.SlicePoolOptions[int]{Zero: dewpond.ZeroNever, Reset: func([]int) {}}, "with Reset")
	refusesSlices(t, dewpond.SlicePoolOptions[int]{IdleTimeout: 1, MaxIdlePerClass: -2, Check: 9}, "IdleTimeout 1ns", "MaxIdlePerClass -2", "Check 9")
	refusesSlices(t, dewpond.SlicePoolOptions[int]{Budget: new(dewpond.Budget)}, "Budget")

	p := newSlices(t, dewpond.SlicePoolOptions[[2 << 20]byte]{Classes: []int{1}})
	if s := p.Get(1); cap(s) != 1 {
		t.Errorf("cap %d", cap(s))
	} else {
		p.Put(s)
	}
}

func refusesSlices[T any](t *testing.T, o dewpond.SlicePoolOptions[T], parts ...string) {
	t.Helper()
	p, err := dewpond.NewSlicePool(o)
	for _, part := range parts {
		if err == nil || p != nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, want an error that says %q", err, part)
		}
	}
	if panics(func() { dewpond.MustSlicePool(o) }) == "" {
		t.Errorf("MustSlicePool does not panic: %v", err)
	}
}

func TestSlicesGrow(t *testing.T) {
	p := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{4, 16, 64}})
	s := p.Grow(nil, 3)
	if len(s) != 0 || cap(s) != 4 {
		t.Fatalf("Grow(nil, 3): len %d, cap %d", len(s), cap(s))
	}
	for i := range 100 {
		s = p.Append(s, entry{"e", i})
	}
	if capacity := cap(s); capacity < 100 {
		t.Fatalf("cap %d of 100", capacity)
	}
	for i, v := range s {
		if v != (entry{"e", i}) {
			t.Fatalf("element %d of 100 is %v", i, v)
		}
	}
	if s := p.Stats(); s.IdleBytes != int64((4+16+64)*unsafe.Sizeof(entry{})) || s.InUseBytes != 0 || s.Oversize == 0 {
		t.Errorf("%+v", s)
	}
	before := p.Stats()
	s = p.Append(s, s[1:]...) // part of itself, above the largest class
	if len(s) != 199 || s[198] != (entry{"e", 99}) || s[100] != (entry{"e", 1}) {
		t.Errorf("%d elements, the last are %v", len(s), s[190:])
	}
	if grown := p.Grow(s, cap(s)-len(s)); &grown[0] != &s[0] || p.Stats().Gets != before.Gets+1 {
		t.Error("Grow moves what has room")
	}
	p.Put(s)
}

// A Budget counts the bytes of slices, in use and idle, refuses what is past it, takes back
// its own alone, and finds what is lost: whatever Go puts before the elements.
func TestSlicesOfABudget(t *testing.T) {
	notWatched(t, putsForeign)
	slicesOfABudget[entry](t)
	slicesOfABudget[*int](t)
	slicesOfABudget[float64](t)
	slicesOfABudget[[3]byte](t)
}

func slicesOfABudget[T any](t *testing.T) {
	size := int64(unsafe.Sizeof(*new(T)))
	for _, n := range []int{12, 80, 1000, 5000, 40_000, 200_000} {
		budget := dewpond.MustBudget("", 3*16*int64(n/16+1)*size)
		p := newSlices(t, dewpond.SlicePoolOptions[T]{Classes: []int{16 * (n/16 + 1)}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		a, b := must(p.TryGet(n)), must(p.TryGet(n))
		each := size * int64(cap(a))
		c := must(p.GetContext(t.Context(), n))
		if budget.Used() != 3*each || p.Stats().InUseBytes != 3*each {
			t.Errorf("%d bytes are charged and %d in use, want %d", budget.Used(), p.Stats().InUseBytes, 3*each)
		}
		if s, err := p.TryGet(n); !errors.Is(err, dewpond.ErrExhausted) || s != nil {
			t.Errorf("a fourth: %v", err)
		}
		if _, err := p.TryGet(100 * n); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("above the largest class: %v", err)
		}
		p.Put(make([]T, cap(a)))
		if s := p.Stats(); s.Dropped.Foreign != 1 || s.IdleBytes != 0 {
			t.Errorf("a foreign slice: %+v", s)
		}
		p.Put(a)
		p.Put(b)
		if budget.Used() != 3*each || p.Stats().IdleBytes != 2*each {
			t.Errorf("%d bytes are charged and %d idle, want %d and %d", budget.Used(), p.Stats().IdleBytes, 3*each, 2*each)
		}
		if released := p.Trim(); released != 2*each || budget.Used() != each {
			t.Errorf("Trim released %d bytes; %d are charged", released, budget.Used())
		}
		runtime.KeepAlive(c)
		for c = nil; budget.Used() != 0; time.Sleep(time.Millisecond) {
			runtime.GC()
		}
		large := must(p.TryGet(cap(a) + 1))
		if budget.Used() != each+size {
			t.Errorf("%d bytes are charged for a slice of %d", budget.Used(), len(large))
		}
		if p.Put(large); budget.Used() != 0 {
			t.Errorf("%d bytes are charged", budget.Used())
		}
	}
}

// A lost slice of a Budget may point to itself; but what points back to it keeps it.
func TestLostSlicesInACycleStayCharged(t *testing.T) {
	notWatched(t, "what it loses is never collected, and so no leak")
	type node struct {
		next *node
		_    string
	}
	budget := dewpond.MustBudget("", 1<<20)
	p := newSlices(t, dewpond.SlicePoolOptions[node]{Classes: []int{16}, Budget: budget})
	lose := func(cycle bool) {
		s := p.Get(16)
		s[0].next, s[1].next, s[15].next = &s[1], &s[0], new(node)
		if cycle {
			s[15].next.next = &s[0]
		}
	}
	each := int64(16 * unsafe.Sizeof(node{}))
	lose(true)
	for range 10 {
		lose(false)
	}
	for budget.Used() > each {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		runtime.GC()
	}
	if budget.Used() != each {
		t.Errorf("the row is out of date: %d bytes are charged", budget.Used())
	}
}

// GetContext waits for a Put, and one queue serves the pools of a Budget, of slices and
// of bytes.
func TestSlicesAreWaitedFor(t *testing.T) {
	large, small := 7200/int(unsafe.Sizeof(entry{})), 2400/int(unsafe.Sizeof(entry{}))
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 8192)
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{Budget: budget})
		q := newPool(t, dewpond.BytePoolOptions{Budget: budget})
		b := must(q.TryGet(8192))
		order := make(chan string, 2)
		go func() {
			s := must(p.GetContext(t.Context(), large)) // of whose class the Budget has room for one
			order <- "entries"
			p.Put(s)
		}()
		synctest.Wait()
		go func() {
			b := must(q.GetContext(t.Context(), 8192))
			order <- "bytes"
			q.Put(b)
		}()
		synctest.Wait()
		q.Put(b)
		if a, b := <-order, <-order; a != "entries" || b != "bytes" {
			t.Errorf("%s before %s", a, b)
		}
		synctest.Wait()

		s := must(p.TryGet(small))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s, err := p.GetContext(ctx, large); !errors.Is(err, context.DeadlineExceeded) || s != nil {
			t.Errorf("GetContext: %v", err)
		}
		p.Put(s)
		if p.Stats().Refused != 1 {
			t.Errorf("%+v", p.Stats())
		}
		ended := make(chan error)
		hold := must(q.GetContext(t.Context(), 8192))
		go func() {
			_, err := p.GetContext(t.Context(), small)
			ended <- err
		}()
		synctest.Wait()
		p.Close()
		if err := <-ended; err != dewpond.ErrClosed {
			t.Errorf("the wait ended with %v", err)
		}
		q.Put(hold)
	})
}

func TestSlicesAllocRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which AllocRate allows no more
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{AllocRate: 2})
		var out [][]entry
		for range 2 {
			out = append(out, must(p.TryGet(10)))
		}
		if _, err := p.TryGet(10); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("a third miss: %v", err)
		}
		out = append(out, p.Get(10))
		for _, s := range out {
			p.Put(s)
		}
		if s := p.Stats(); s.OverAllocRate != 1 || s.Refused != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestSlicesPrewarmTrimClose(t *testing.T) {
	notWatched(t, countsMiss)
	p := newSlices(t, dewpond.SlicePoolOptions[entry]{Name: "entries", Classes: []int{10, 100}, MaxIdlePerClass: 20})
	if err := p.Prewarm(7, 12); err != nil {
		t.Error(err)
	}
	const size = int64(unsafe.Sizeof(entry{}))
	if s := p.Stats(); s.IdleBytes != 12*10*size || s.Classes[0].Size != 10*int(size) {
		t.Errorf("%+v", s)
	}
	for want, err := range map[string]error{
		`Prewarm(101, 1) on pool "entries": the largest class is 100 elements`: p.Prewarm(101, 1),
		`Prewarm(7, -1) on pool "entries"`:                                     p.Prewarm(7, -1),
		`Prewarm(70, 30) on pool "entries": room for 20 blocks of`:             p.Prewarm(70, 30),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if released := p.Trim(); released != (12*10+20*100)*size || p.Stats().IdleBytes != 0 {
		t.Errorf("Trim released %d bytes", released)
	}
	s := p.Get(10)
	if !slices.Contains(names(), "entries") {
		t.Errorf("Pools has %q", names())
	}
	for live := range dewpond.Pools() {
		if _, ok := live.(*dewpond.BytePool); ok && live.Name() == "entries" {
			t.Error("a pool of slices is in Pools as one of bytes")
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.Put(s)
	if _, err := p.TryGet(10); err != dewpond.ErrClosed || p.Prewarm(10, 1) != dewpond.ErrClosed || p.Stats().Dropped.Closed != 1 {
		t.Errorf("after Close: %v, %+v", err, p.Stats())
	}
	if slices.Contains(names(), "entries") {
		t.Error("a closed pool is in Pools")
	}
}

// A pool that nobody has is collected, with what is idle in it, and one that is used decays.
func TestSlicesDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{IdleTimeout: time.Second})
		var all [][]entry
		for range 100 {
			all = append(all, p.Get(300))
		}
		for _, s := range all {
			p.Put(s)
		}
		full := p.Stats().IdleBytes
		time.Sleep(time.Second)
		if s := p.Stats(); s.IdleBytes != full {
			t.Errorf("%d of %d bytes are idle after a timeout", s.IdleBytes, full)
		}
		time.Sleep(2 * time.Second)
		if s := p.Stats(); s.IdleBytes != 0 || s.ReleasedBytes != full {
			t.Errorf("%d of %d bytes are idle after three timeouts", s.IdleBytes, full)
		}
	})
	lose := func() weak.Pointer[dewpond.SlicePool[entry]] {
		p := dewpond.MustSlicePool(dewpond.SlicePoolOptions[entry]{Name: "lost"})
		p.Put(p.Get(300))
		return weak.Make(p)
	}
	for lost := lose(); lost.Value() != nil || slices.Contains(names(), "lost"); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
}

func TestSlicesDoNotAllocate(t *testing.T) {
	notWatched(t, countsAlloc)
	entries, floats := newSlices(t, dewpond.SlicePoolOptions[entry]{}), newSlices(t, dewpond.SlicePoolOptions[float64]{})
	if n := allocsPerRun(100, func() {
		s := entries.Get(100)
		entries.Put(s)
		floats.Put(floats.Get(100))
		floats.Put(floats.Get(10_000))
	}); n != 0 && !sanitized {
		t.Errorf("%v allocations", n)
	}
}

// Many users at once, of all sizes: no slice has two owners, and every one is clean.
func TestSlicesOfMany(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	budget := dewpond.MustBudget("", 1<<30)
	for _, p := range []*dewpond.SlicePool[entry]{
		newSlices(t, dewpond.SlicePoolOptions[entry]{}),
		newSlices(t, dewpond.SlicePoolOptions[entry]{Budget: budget}),
		newSlices(t, dewpond.SlicePoolOptions[entry]{MaxIdlePerClass: 4}),
		newSlices(t, dewpond.SlicePoolOptions[entry]{Check: dewpond.CheckSampled}),
	} {
		var wg go125.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				var mine [][]entry
				for i := range rounds {
					s := p.Get(1 + (i*7+g)%400)
					for j := range s {
						if s[j] != (entry{}) {
							t.Errorf("an element is %v", s[j])
							return
						}
						s[j].Value = g<<20 | i
					}
					if mine = append(mine, s); len(mine) > 5 {
						s, mine = mine[0], mine[1:]
						for j := range s {
							if s[j] != (entry{Value: s[0].Value}) || s[0].Value>>20 != g {
								t.Errorf("an element of another owner: %v", s[j])
								return
							}
						}
						p.Put(s)
					}
					if i%5000 == 0 {
						p.Trim()
					}
				}
				for _, s := range mine {
					p.Put(s)
				}
			})
		}
		wg.Wait()
		if s := p.Stats(); s.Gets != s.Puts || s.InUseBytes != 0 || s.Dropped.Foreign != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// BenchmarkSlicePool is a Get, a write to the first and the last element and a Put of a
// SlicePool. In turn with it the same is done with a BytePool, and with a sync.Pool of
// pointers to slices of the class, each with the same clearing.
func BenchmarkSlicePool(b *testing.B) {
	for _, size := range []int{128, 1024, 8192} {
		for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroNever} {
			bytes := newPool(b, dewpond.BytePoolOptions{Zero: zero})
			floats := newSlices(b, dewpond.SlicePoolOptions[float64]{Zero: zero})
			ours := func(n int) { floatLoop(floats, size/8, n) }
			compareSlices(b, "float64/of BytePool", size, zero, ours, func(n int) { ourLoop(bytes, size, n) })
			compareSlices(b, "float64/of sync.Pool", size, zero, ours, syncSlices(size/8, zero == dewpond.ZeroOnPut, 1.0))
		}
		// Entries have pointers: to clear them the collector must be told.
		each := size / int(unsafe.Sizeof(entry{}))
		bytes := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		entries := newSlices(b, dewpond.SlicePoolOptions[entry]{})
		own := make([]entry, cap(entries.Get(each)))
		ours := func(n int) { entryLoop(entries, each, n) }
		compareSlices(b, "entry/of BytePool", size, dewpond.ZeroOnPut, ours, func(n int) {
			for range n {
				block := bytes.Get(size)
				block[0], block[size-1] = 1, 1
				clear(own)
				bytes.Put(block)
			}
		})
		compareSlices(b, "entry/of sync.Pool", size, dewpond.ZeroOnPut, ours, syncSlices(each, true, entry{Value: 1}))
	}
}

// syncSlices returns the loop with a sync.Pool.
func syncSlices[T any](size int, clears bool, write T) func(n int) {
	pool := sync.Pool{New: func() any { s := make([]T, size); return &s }}
	return func(n int) {
		for range n {
			s := pool.Get().(*[]T)
			(*s)[0], (*s)[size-1] = write, write
			if clears {
				clear(*s)
			}
			pool.Put(s)
		}
	}
}

func compareSlices(b *testing.B, of string, size int, zero dewpond.ZeroPolicy, ours, control func(n int)) {
	b.Run(fmt.Sprintf("%s/size=%d/zero=%d", of, size, zero), func(b *testing.B) { compareRounds(b, ours, control) })
}

// floatLoop and entryLoop are ourLoop for slices.
func floatLoop(p *dewpond.SlicePool[float64], size, n int) {
	for range n {
		s := p.Get(size)
		s[0], s[len(s)-1] = 1, 1
		p.Put(s)
	}
}

func entryLoop(p *dewpond.SlicePool[entry], size, n int) {
	for range n {
		s := p.Get(size)
		s[0].Value, s[len(s)-1].Value = 1, 1
		p.Put(s)
	}
}

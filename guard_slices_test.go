package dewpond_test

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/guardpage"
)

// slicePuts are how a slice is given back.
var slicePuts = map[string]func(p *dewpond.SlicePool[int32], s []int32){
	"Put":                (*dewpond.SlicePool[int32]).Put,
	"Return":             func(p *dewpond.SlicePool[int32], s []int32) { p.Return(&s) },
	"Replace":            func(p *dewpond.SlicePool[int32], s []int32) { p.Replace(s, s[:0]) },
	"Adopt":              (*dewpond.SlicePool[int32]).Adopt,
	"Adopt of a cut cap": func(p *dewpond.SlicePool[int32], s []int32) { p.Adopt(s[: 1 : cap(s)-1]) },
	"Bodies":             func(p *dewpond.SlicePool[int32], s []int32) { p.Bodies().Put(s) },
}

// A pool with a Reset guards its slices too. The Reset runs once for each Put, on what the owner has left, and the next
// owner gets what that leaves, guarded or not: nothing is other than in a pool that guards none, its counts included.
func TestGuardedReset(t *testing.T) {
	if offHeap || watched {
		t.Skip("only pools on the heap without checks guard blocks")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a Get does not miss what lies with another processor
	for _, setting := range []string{"touch=1000000", "fault=1000000"} {
		for _, bound := range []string{"unbounded", "Budget"} {
			for name, put := range slicePuts {
				t.Run(setting[:5]+"/"+bound+"/"+name, func(t *testing.T) { guardedReset(t, setting, bound, put) })
			}
		}
	}
}

func guardedReset(t *testing.T, setting, bound string, put func(p *dewpond.SlicePool[int32], s []int32)) {
	var written int32 // what owners leave in all elements
	resets := 0
	options := func(name string) dewpond.SlicePoolOptions[int32] {
		o := dewpond.SlicePoolOptions[int32]{Name: name, Classes: []int{64, 100, 4000, 5000}, OnViolation: func(dewpond.Violation) {}, Reset: func(s []int32) {
			resets++
			for i, v := range s {
				if v != written {
					t.Fatalf("Reset finds %d at %d of %d, and not the %d that was put", v, i, len(s), written)
				}
				s[i] = -1
			}
		}}
		if bound == "Budget" {
			o.Budget = dewpond.MustBudget(name, 1<<20)
		}
		return o
	}
	plain := dewpond.MustSlicePool(options("plain"))
	defer plain.Close()
	g := guardingAs(t, setting)
	p := dewpond.MustSlicePool(options("guarded"))
	defer p.Close()
	g.pools = append(g.pools, p)
	for done := 0; done < 4; g.goesOn() {
		n := []int{99, 5000}[done%2]
		s, same := p.Get(n), plain.Get(n)
		all := s[:cap(s)]
		for i, v := range all {
			if v != same[:cap(same)][i] || v != 0 && v != -1 {
				t.Fatalf("a new owner finds %d at %d of %d, and in a pool that guards none %d", v, i, len(all), same[:cap(same)][i])
			}
		}
		written++
		for i := range all {
			all[i], same[:cap(same)][i] = written, written
		}
		resets = 0
		if v := explained(t, func() { put(p, s) }); v != nil {
			t.Fatalf("its Put: %v", v)
		}
		if put(plain, same); resets != 2 {
			t.Fatalf("two Puts have run Reset %d times", resets)
		}
		if got, want := counts(p.Stats()), counts(plain.Stats()); !reflect.DeepEqual(got, want) {
			t.Fatalf("counts\n%+v, want\n%+v", got, want)
		}
		if !guardpage.IsMarked(reflect.ValueOf(all).Pointer()) {
			continue
		}
		done++
		before := p.Stats().Violations
		if g.sweep(); p.Stats().Violations != before {
			t.Fatal("its Put counts as a use after it")
		}
		v := explained(t, func() { all[50] = 1 })
		if g.sweep(); p.Stats().Violations != before+1 || (v != nil) != (setting[:5] == "fault") {
			t.Errorf("a write after Put is not found: %v", v)
		}
	}
}

// A Reset that panics does so to whoever puts the slice back. The pool does not have it then, and goes on.
func TestGuardedResetPanics(t *testing.T) {
	g := guarding(t)
	panics := false
	var found []dewpond.Violation
	p := dewpond.MustSlicePool(dewpond.SlicePoolOptions[int32]{Reset: func([]int32) {
		if panics {
			panic("from Reset")
		}
	}, OnViolation: func(v dewpond.Violation) { found = append(found, v) }})
	defer p.Close()
	is := func(s []int32) bool { return guardpage.IsMarked(reflect.ValueOf(s).Pointer()) }
	s := until(g, func() []int32 { return p.Get(1000) }, p.Put, is)
	func() {
		defer func() {
			if r := recover(); r != "from Reset" {
				t.Errorf("recovered %v", r)
			}
		}()
		panics = true
		p.Put(s)
	}()
	panics = false
	if g.sweep(); found != nil {
		t.Errorf("found %v", found)
	}
	lateSink += byte(s[0])
	if g.sweep(); len(found) != 1 || found[0].Kind != dewpond.ReadAfterPut {
		t.Errorf("after a read, found %v", found)
	}
	p.Put(until(g, func() []int32 { return p.Get(1000) }, p.Put, is))
}

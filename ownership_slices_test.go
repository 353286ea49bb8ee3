package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
)

// The rows of docs/ownership.md for SlicePool, of elements with pointers and without.
var sliceOwnership = map[string]func(t *testing.T, p *dewpond.BytePool){
	"SlicePool: Put of a slice whose cap": func(t *testing.T, _ *dewpond.BytePool) {
		entries, floats := slicesOfEight[entry](t), slicesOfEight[float64](t)
		entries.Put(make([]entry, 7))
		floats.Put(make([]float64, 7))
		floats.Put(make([]float64, 17)[1:9:9])
		expect(t, entries, dewpond.Stats{DroppedForeign: 1})
		expect(t, floats, dewpond.Stats{DroppedForeign: 2})
	},
	"SlicePool: Put of a part whose cap": func(t *testing.T, _ *dewpond.BytePool) {
		entries, floats := slicesOfEight[entry](t), slicesOfEight[float64](t)
		e, f := entries.Get(16), floats.Get(16)
		entries.Put(e[8:])
		floats.Put(f[8:])
		if &entries.Get(8)[0] != &e[8] || &floats.Get(8)[0] != &f[8] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"SlicePool: Put of a slice made elsewhere": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Get(8)
		p.Put(make([]float64, 8))
		expect(t, p, dewpond.Stats{IdleBytes: 64})
	},
	"SlicePool: Put of a slice larger": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Put(make([]float64, 1000))
		expect(t, p, dewpond.Stats{DroppedOversize: 1})
	},
	"SlicePool: Put twice": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		p.Put(s)
		p.Put(s)
		if one, two := p.Get(8), p.Get(8); &one[0] != &two[0] {
			t.Error("the row is out of date: the pool saw it")
		}
	},
	"SlicePool: use after Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		s[0].Name = "alice"
		p.Put(s)
		if s[0].Name != "" {
			t.Error("the row is out of date: it is not cleared")
		}
		p.Get(8)[0].Name = "bob"
		if s[0].Name != "bob" {
			t.Error("the row is out of date")
		}
	},
	"SlicePool: append past cap": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Put(append(p.Get(16), 1))
		expect(t, p, dewpond.Stats{DroppedOversize: 1, InUseBytes: 128})
	},
	"SlicePool: a Reset that leaves a pointer": func(t *testing.T, _ *dewpond.BytePool) {
		p := newSlices(t, dewpond.SlicePoolOptions[entry]{Classes: []int{8}, Reset: func([]entry) {}})
		s := p.Get(8)
		s[7].Name = "alice"
		p.Put(s)
		if p.Get(1)[:8][7].Name != "alice" {
			t.Error("the row is out of date: the pool cleared it")
		}
	},
	"SlicePool: Put after Close": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[entry](t)
		s := p.Get(8)
		p.Close()
		p.Put(s)
		expect(t, p, dewpond.Stats{DroppedClosed: 1})
	},
	"SlicePool: no Put": func(t *testing.T, _ *dewpond.BytePool) {
		p := slicesOfEight[float64](t)
		p.Get(8)
		expect(t, p, dewpond.Stats{InUseBytes: 64})
	},
	"SlicePool: Get of a negative number": func(t *testing.T, _ *dewpond.BytePool) {
		if text := panics(func() { slicesOfEight[entry](t).Get(-1) }); text == "" {
			t.Error("Get(-1) returns")
		}
	},
}

// slicesOfEight makes a pool of slices of 8 and of 16 elements.
func slicesOfEight[T any](t *testing.T) *dewpond.SlicePool[T] {
	return newSlices(t, dewpond.SlicePoolOptions[T]{Classes: []int{8, 16}})
}

package dewpond_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/dewpond/dewpond"
)

func TestNames(t *testing.T) {
	a := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	b := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	c := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if a.Name() != "twin" || b.Name() != "twin-2" || c.Name() != "twin-3" {
		t.Errorf("names %q, %q, %q", a.Name(), b.Name(), c.Name())
	}
	b.Close()
	d := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if d.Name() != "twin-2" || d.Stats().Name != "twin-2" {
		t.Errorf("the name of a closed pool is not used again: %q", d.Name())
	}
	got := names()
	if !slices.IsSorted(got) || !slices.Contains(got, "twin-2") || !slices.Contains(got, "twin-3") {
		t.Errorf("Pools: %q", got)
	}
	b.Close() // again: must not take its successor's place
	if !slices.Contains(names(), "twin-2") {
		t.Error("closing a pool twice unregistered another of its name")
	}
	for p := range dewpond.Pools() { // stops when told to, and may lock again
		p.Stats()
		_ = names()
		break
	}
}

func TestDefault(t *testing.T) {
	b := dewpond.Get(100)
	dewpond.Put(b)
	s := dewpond.Default().Stats()
	if s.Name != "default" || s.Gets == 0 || s.Puts == 0 {
		t.Errorf("Default: %+v", s)
	}
	if !slices.Contains(names(), "default") {
		t.Error("Pools does not have the default pool")
	}
}

// A pool that is dropped without Close is collected, and its blocks with it,
// though the registry knows it, others waited in it, and it was in direct mode.
func TestDroppedPoolIsCollected(t *testing.T) {
	collected := make(chan struct{})
	block := make(chan struct{})
	func() {
		p, err := makePool(dewpond.BytePoolOptions{Name: "dropped", AllocLimit: 1})
		if err != nil {
			t.Fatal(err)
		}
		p.TryGet(100)
		p.TryGet(100)
		b := make([]byte, 128)
		runtime.AddCleanup(&b[0], func(int) { close(block) }, 0)
		p.Put(b) // off the heap it refuses it, and keeps it no longer either
		runtime.AddCleanup(p, func(int) { close(collected) }, 0)
	}()
	for _, done := range []chan struct{}{collected, block} {
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-done:
				waiting = false
			default: // else the test runs into its timeout
			}
		}
	}
	for slices.Contains(names(), "dropped") {
		runtime.GC()
	}
	p := newPool(t, dewpond.BytePoolOptions{Name: "dropped"})
	if p.Name() != "dropped" {
		t.Errorf("the name of a collected pool is not used again: %q", p.Name())
	}
}

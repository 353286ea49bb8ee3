package memory

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

// A ruler says which state in a range a given state is.
type ruler struct {
	states []State
	place  map[*State]int
}

func newRuler(states int) ruler {
	r := ruler{make([]State, states), make(map[*State]int, states)}
	for i := range r.states {
		r.place[&r.states[i]] = i
	}
	return r
}

// No two blocks share a state; blocks of 1 KiB and more, and neighbours of any size, do
// not even share a line of states. (A line of 64 bytes is 16 of them, and the table
// begins with one.)
func TestStatesApart(t *testing.T) {
	const line = 16
	r := newRuler(2048)
	for size := MinBlock; size <= Group; size += Multiple {
		count := max(Group/size, 8)
		b := NewBlocks(0, r.states[:StatesOf(count, size)])
		taken, lines, before := map[int]bool{}, map[int]bool{}, -1
		for i := range count {
			state := b.Find(uintptr(i*size), uint(size))
			place, ok := r.place[state]
			switch {
			case !ok:
				t.Fatalf("size %d: block %d has no state", size, i)
			case taken[place]:
				t.Fatalf("size %d: block %d shares its state", size, i)
			case place/line == before:
				t.Fatalf("size %d: blocks %d and %d share a line", size, i-1, i)
			case size >= 1024 && lines[place/line]:
				t.Fatalf("size %d: block %d shares its line", size, i)
			}
			before = place / line
			taken[place], lines[before] = true, true
		}
	}
}

// A state's word and place identify one slice, among those of any address and size.
func TestStateNamesOneSlice(t *testing.T) {
	const base = 3 * Group
	r := newRuler(2 * (GroupStates + GroupLarge))
	b := NewBlocks(base, r.states)
	type name struct {
		place int
		word  uint32
	}
	type slice struct {
		at   uintptr
		size uint
	}
	seen := map[name]slice{}
	sizes := []uint{64, 80, 112, 128, 576, 1008, 1024, 1040, 4080, 4096, 8192, 32 << 10, 1 << 20, MaxBlock}
	for _, size := range sizes {
		for at := uintptr(base); at < base+2*Group; at++ {
			// Every byte near small blocks, and a sample of what is far from any.
			if at > base+2*1024 && at < base+2*Group-2*1024 && at%61 != 0 && at%64 != 0 {
				continue
			}
			state, whenOut := b.Find(at, size), WhenOut(at, size)
			place, ok := r.place[state]
			if !ok {
				t.Fatalf("%d bytes at %d: no state", size, at-base)
			}
			if isLarge := size >= 4096; isLarge != (place >= 2*GroupStates) {
				t.Fatalf("%d bytes at %d are in the other part", size, at-base)
			}
			n := name{place, whenOut}
			if other, twice := seen[n]; twice {
				t.Fatalf("%d bytes at %d have the state of %d at %d", size, at-base, other.size, other.at-base)
			}
			if whenOut&out == 0 || whenOut^out == 0 {
				t.Fatalf("%d bytes at %d: %#x is no state", size, at-base, whenOut)
			}
			seen[n] = slice{at, size}
		}
	}
}

// Outside of the range there are no blocks, whatever the range holds, and mostly not
// even states.
func TestFindOutside(t *testing.T) {
	const base = 5 * Group
	b := NewBlocks(base, make([]State, GroupStates+GroupLarge))
	for _, size := range []uint{MinBlock, 4096} {
		for at := uintptr(base); at < base+Group; at += uintptr(size) {
			b.Find(at, size).Issue(WhenOut(at, size))
		}
	}
	for _, size := range []uint{64, 80, 1008, 1024, 4096, MaxBlock} {
		for _, at := range []uintptr{0, 1, base - 4096, base - 64, base - 1, base + Group, base + Group + 1, base + 3*Group, ^uintptr(0)} {
			state := b.Find(at, size)
			if at < base || at > base+8*Group {
				if state != nil {
					t.Errorf("%d bytes at %d have a state", size, int(at-base))
				}
			} else if state != nil && !state.Free(WhenOut(at, size)) {
				t.Errorf("%d bytes at %d are a block", size, int(at-base))
			}
		}
		for _, at := range []uintptr{base, base + 64, base + Group - 1} {
			if state := b.Find(at, size); state == nil {
				t.Errorf("%d bytes at %d: nil", size, int(at-base))
			}
		}
		if state := new(Blocks).Find(base, size); state != nil {
			t.Error("the zero Blocks finds a state")
		}
	}
}

// TestState checks what each method does in each state.
func TestState(t *testing.T) {
	b := NewBlocks(Group, make([]State, StatesOf(8, 8192)))
	s, whenOut := b.Find(Group+8192, 8192), WhenOut(Group+8192, 8192)
	expect := func(when string, free, isOut, removed, returned bool) {
		t.Helper()
		if s.Free(whenOut) != free || s.Out(whenOut) != isOut {
			t.Errorf("%s: free %v, out %v", when, s.Free(whenOut), s.Out(whenOut))
		}
		if s.Return(whenOut) != returned {
			t.Errorf("%s: Return is not %v", when, returned)
		}
		if returned {
			s.Issue(whenOut)
		}
		if s.Remove(whenOut) != removed {
			t.Errorf("%s: Remove is not %v", when, removed)
		}
		if removed {
			s.Add(whenOut)
		}
		if s.Free(whenOut) != free || s.Out(whenOut) != isOut {
			t.Errorf("%s, then: free %v, out %v", when, s.Free(whenOut), s.Out(whenOut))
		}
		// No other slice, in whatever state, is this block.
		for _, other := range []uint{4096, 8192 + 16} {
			if w := WhenOut(Group+8192, other); !s.Free(w) || s.Out(w) || s.Return(w) || s.Remove(w) {
				t.Errorf("%s: %d bytes are a block", when, other)
			}
		}
		if w := WhenOut(Group+8192+16, 8192); !s.Free(w) || s.Out(w) || s.Return(w) || s.Remove(w) {
			t.Errorf("%s: 16 bytes on is a block", when)
		}
	}
	expect("new", true, false, false, false)
	s.Add(whenOut)
	expect("added", false, false, true, false)
	s.Issue(whenOut)
	expect("issued", false, true, false, true)
	s.Return(whenOut)
	expect("returned", false, false, true, false)
	s.Remove(whenOut)
	expect("removed", true, false, false, false)
}

// If several goroutines return one block at once, exactly one is accepted. They go
// through many blocks in step, so that they meet at some.
func TestReturnAcceptsOne(t *testing.T) {
	const count, rounds, goroutines = 2000, 60, 2
	b := NewBlocks(0, make([]State, StatesOf(count, 64)))
	for range rounds {
		for i := range count {
			b.Find(uintptr(i*64), 64).Issue(WhenOut(uintptr(i*64), 64))
		}
		var accepted, ready atomic.Int64
		var wg go125.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for ready.Add(1); ready.Load() < goroutines; {
					runtime.Gosched()
				}
				for i := range count {
					if b.Find(uintptr(i*64), 64).Return(WhenOut(uintptr(i*64), 64)) {
						accepted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if got := accepted.Load(); got != count {
			t.Fatalf("of %d blocks %d were accepted", count, got)
		}
	}
}

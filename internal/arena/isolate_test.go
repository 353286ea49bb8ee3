package arena

import (
	"testing"

	"github.com/dewpond/dewpond/internal/memory"
)

func newIsolated(t *testing.T, sys system, granules int) *Arena {
	t.Helper()
	a, err := newArena(Config{Reserve: int64(granules) * granule}, sys)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Isolate() {
		t.Fatal("Isolate says no")
	}
	return a
}

// Isolated blocks of every size end with a page, have a fence behind them, all inside
// their span, begin where slot says and nowhere else, and have states of their own.
func TestIsolatedLayout(t *testing.T) {
	step := 61 * Multiple
	if testing.Short() || raceDetector {
		step = 1021 * Multiple
	}
	for size := MinSize; size <= MaxSize; size += step {
		if size > 2<<20 {
			step = 40_009 * Multiple
		}
		l := isolatedLayoutOf(size)
		if l.count == 0 || l.size != size {
			t.Fatalf("size %d: %+v", size, l)
		}
		before := 0 // the end of the last fence
		blocks := memory.NewBlocks(0, make([]memory.State, memory.StatesOf((l.at(l.count-1)+size-1)/size+1, size)))
		states := map[*memory.State]bool{}
		for slot := range l.count {
			from, to := l.at(slot), l.at(slot)+size
			if from%Multiple != 0 || to%pageSize != 0 || pageDown(from) < before {
				t.Fatalf("size %d: block %d is from %d to %d, and the last fence ends at %d", size, slot, from, to, before)
			}
			before = to + pageSize
			if got, ok := l.slot(uint32(from)); !ok || got != slot {
				t.Fatalf("size %d: slot(%d) = %d, %v; want %d", size, from, got, ok, slot)
			}
			for _, no := range []int{0, from - Multiple, from - 1, from + 1, from + Multiple, pageDown(from), to - 1, to, to + pageSize} {
				if _, ok := l.slot(uint32(no)); ok && no != from && (no-l.lead)%l.stride != 0 {
					t.Fatalf("size %d: there is a block at %d", size, no)
				}
			}
			state := blocks.Find(uintptr(from), uint(size))
			if state == nil || states[state] {
				t.Fatalf("size %d: block %d has the state %p", size, slot, state)
			}
			states[state] = true
		}
		if before > l.granules*granule {
			t.Fatalf("size %d: the last fence ends at %d of %d", size, before, l.granules*granule)
		}
	}
}

func TestIsolateWhereItCannot(t *testing.T) {
	for name, a := range map[string]*Arena{
		"on the heap":        newTest(t, Config{OnHeap: true}),
		"on no known system": newFaulty(t, newFakeSystem(), 200),
	} {
		if a.Isolate() {
			t.Errorf("%s: isolated", name)
		}
		if b := mustAlloc(t, a, 100*Multiple); a.Guard(b) {
			t.Errorf("%s: guarded", name)
		}
	}
	f := newFakeSystem()
	a := newFaulty(t, f, 200)
	a.space.sys = f.guarding()
	mustAlloc(t, a, 64)
	if a.Isolate() {
		t.Error("isolated after a block was made")
	}
}

// guarding returns the fake system with the calls that make pages fault.
func (f *fakeSystem) guarding() system {
	sys := f.system()
	named := func(name string) func([]byte) error {
		return func(part []byte) error {
			if addressOf(part)%uintptr(pageSize) != 0 || len(part)%pageSize != 0 || len(part) == 0 {
				panic(name + " of what is no pages")
			}
			return f.call(name, len(part))
		}
	}
	sys.mark, sys.unmark, sys.hide = named("mark"), named("unmark"), named("hide")
	sys.setApart, sys.join = named("setApart"), named("join")
	return sys
}

// If the system refuses, blocks cannot be guarded, and nothing else changes; what was
// done until then is undone.
func TestGuardRefused(t *testing.T) {
	after := func(n int) func(int) bool {
		return func(int) bool { n--; return n < 0 }
	}
	for _, c := range []struct {
		name   string
		refuse map[string]func(int) bool
		guards bool
		want   map[string]int // calls
	}{
		{"nothing", nil, true, map[string]int{"mark": 1 + 8 + 1, "unmark": 1}},
		{"marks, as before Linux 6.13", map[string]func(int) bool{"mark": always}, true,
			map[string]int{"mark": 1, "setApart": 8, "hide": 8 + 1, "join": 0}},
		{"the fourth mark", map[string]func(int) bool{"mark": after(4)}, false, map[string]int{"mark": 5, "unmark": 1, "setApart": 0}},
		{"mappings past some", map[string]func(int) bool{"mark": always, "setApart": after(3)}, false,
			map[string]int{"setApart": 4, "hide": 3, "join": 1}},
		{"to hide past some", map[string]func(int) bool{"mark": always, "hide": after(3)}, false,
			map[string]int{"setApart": 4, "hide": 4, "join": 1}},
		{"the block's own mark", map[string]func(int) bool{"mark": after(9)}, false, map[string]int{"mark": 10, "unmark": 0}},
		{"to hide the block", map[string]func(int) bool{"mark": always, "hide": after(8)}, false, map[string]int{"hide": 9, "join": 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFakeSystem()
			f.refuse = c.refuse
			if c.refuse == nil {
				f.refuse = map[string]func(int) bool{}
			}
			a := newIsolated(t, f.guarding(), 200)
			b := mustAlloc(t, a, 100*Multiple)
			b[0] = 1
			if got := a.Guard(b); got != c.guards {
				t.Errorf("Guard: %v", got)
			}
			if c.guards {
				a.Unguard(b)
			}
			for call, want := range c.want {
				if got := f.calls[call]; got != want {
					t.Errorf("%d calls of %s, want %d", got, call, want)
				}
			}
			if b[0] != 1 {
				t.Error("the fake system lost a byte")
			}
			a.Free(b)
			if n, err := a.Decommit(); n != int64(pageSize) || err != nil {
				t.Errorf("Decommit = %d, %v", n, err)
			}
			closeTest(t, a)
		})
	}
}

// A span whose fences cannot be removed stays as it is, without guards, until they can
// be.
func TestUnfenceRefused(t *testing.T) {
	for _, by := range []string{"unmark", "join"} {
		f := newFakeSystem()
		f.refuse[by] = always
		if by == "join" {
			f.refuse["mark"] = always
		}
		a := newIsolated(t, f.guarding(), 200)
		b := mustAlloc(t, a, 8192)
		a.Free(b)
		if n, err := a.Decommit(); n != 0 || err == nil || a.Usage().Spans != 1 {
			t.Errorf("%s: Decommit = %d, %v", by, n, err)
		}
		again := mustAlloc(t, a, 8192)
		if &again[0] != &b[0] || a.Guard(again) {
			t.Errorf("%s: guarded, or of another span", by)
		}
		a.Free(again)
		f.refuse[by] = nil
		if n, err := a.Decommit(); n != 8192 || err != nil || a.Usage().Spans != 0 {
			t.Errorf("%s: Decommit = %d, %v", by, n, err)
		}
		closeTest(t, a)
	}
}

package memory

import (
	"math"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

const mib, gib = 1 << 20, 1 << 30

// A fakeLimit stands for the runtime's limit.
type fakeLimit struct {
	mu     sync.Mutex
	now    int64
	sets   int
	before func(to int64) // called before to is set; nil: not called
}

func (f *fakeLimit) set(to int64) int64 {
	if to >= 0 && f.before != nil {
		f.before(to)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.now
	if to >= 0 {
		f.now = to
		f.sets++
	}
	return was
}

func (f *fakeLimit) check(t *testing.T, l *Limit, when string, now int64, want Lowering) {
	t.Helper()
	if f.now != now || l.Lowered() != want {
		t.Errorf("%s: the limit is %d, %+v; want %d, %+v", when, f.now, l.Lowered(), now, want)
	}
}

func TestLowerAndRestore(t *testing.T) {
	f := &fakeLimit{now: gib}
	l := NewLimit(f.set)
	f.check(t, l, "untouched", gib, Lowering{})
	for _, bytes := range []int64{1, 300 * mib, 300 * mib, 200 * mib, 0, 5} {
		l.Lower(bytes)
		f.check(t, l, "lowered", gib-bytes, Lowering{Bytes: bytes})
		if got := l.Found(); got != gib {
			t.Errorf("lowered by %d: found %d", bytes, got)
		}
	}
	if f.sets != 5 {
		t.Errorf("set %d times, want 5: the same is not set again", f.sets)
	}
	for range 2 {
		l.Restore()
		f.check(t, l, "restored", gib, Lowering{})
	}
	f.now = 2 * gib
	if got := l.Found(); got != 2*gib {
		t.Errorf("restored: found %d", got)
	}
	l.Lower(mib)
	f.check(t, l, "taken up again", 2*gib-mib, Lowering{Bytes: mib})
}

func TestFloor(t *testing.T) {
	for _, tt := range []struct{ found, floor int64 }{
		{gib, gib / 4},
		{64 * mib, 16 * mib},
		{40 * mib, 16 * mib},
		{16 * mib, 16 * mib},
		{mib, mib},
		{0, 0},
	} {
		f := &fakeLimit{now: tt.found}
		l := NewLimit(f.set)
		room := tt.found - tt.floor
		l.Lower(room)
		f.check(t, l, "at the floor", tt.floor, Lowering{Bytes: room})
		for _, more := range []int64{1, gib, math.MaxInt64 - room} {
			l.Lower(room + more)
			f.check(t, l, "below the floor", tt.floor, Lowering{Bytes: room, AtFloor: true})
		}
		if got := l.Found(); got != tt.found {
			t.Errorf("limit %d: found %d at the floor", tt.found, got)
		}
		l.Lower(room / 2)
		f.check(t, l, "above the floor", tt.found-room/2, Lowering{Bytes: room / 2})
		l.Restore()
		f.check(t, l, "restored", tt.found, Lowering{})
	}
}

// Without a limit there is nothing to lower; a limit that is set later counts.
func TestNoLimit(t *testing.T) {
	f := &fakeLimit{now: math.MaxInt64}
	l := NewLimit(f.set)
	l.Lower(gib)
	f.check(t, l, "no limit", math.MaxInt64, Lowering{})
	l.Restore()
	if f.sets != 0 || l.Found() != math.MaxInt64 {
		t.Errorf("set %d times, found %d", f.sets, l.Found())
	}
	l.Lower(gib)
	f.now = 4 * gib
	l.Lower(gib)
	f.check(t, l, "a limit now", 3*gib, Lowering{Bytes: gib})
}

// A limit that another caller has set stays, whatever is called, until a Restore: it is
// not replaced even for a moment.
func TestAnothersLimitStays(t *testing.T) {
	for _, theirs := range []int64{gib, 2 * gib, 5, 0, math.MaxInt64} {
		f := &fakeLimit{now: gib}
		l := NewLimit(f.set)
		l.Lower(100 * mib)
		f.now = theirs
		f.check(t, l, "before it is noticed", theirs, Lowering{Lost: true})
		if got := l.Found(); got != theirs {
			t.Errorf("before it is noticed: found %d, want theirs, %d", got, theirs)
		}
		l.Lower(200 * mib)
		l.Lower(0)
		f.check(t, l, "noticed", theirs, Lowering{Lost: true})
		if f.sets != 1 {
			t.Errorf("noticed: set %d times, want the one from before", f.sets)
		}
		f.now = gib - 100*mib // as Lower had made it, by chance: it is still the other caller's
		l.Lower(300 * mib)
		f.check(t, l, "noticed before", gib-100*mib, Lowering{Lost: true})
		l.Restore()
		f.check(t, l, "restored", gib-100*mib, Lowering{})
		l.Lower(mib)
		f.check(t, l, "taken up again", gib-101*mib, Lowering{Bytes: mib})
	}
}

func TestRestoreLeavesAnothersLimit(t *testing.T) {
	f := &fakeLimit{now: gib}
	l := NewLimit(f.set)
	l.Lower(mib)
	f.now = 3 * gib
	l.Restore()
	f.check(t, l, "restored", 3*gib, Lowering{})
	if f.sets != 1 {
		t.Errorf("set %d times, want the one from before", f.sets)
	}
}

// Another caller sets the limit between Lower's read and its change.
func TestAnothersLimitMeanwhile(t *testing.T) {
	for _, how := range []string{"Lower", "Restore"} {
		f := &fakeLimit{now: gib}
		l := NewLimit(f.set)
		l.Lower(mib)
		f.before = func(int64) {
			f.before = nil
			f.now = 7 * gib
		}
		if how == "Lower" {
			l.Lower(2 * mib)
			f.check(t, l, how, 7*gib, Lowering{Lost: true})
			l.Lower(3 * mib)
			l.Restore()
		} else {
			l.Restore()
		}
		f.check(t, l, how, 7*gib, Lowering{})
	}
}

// A reader of the limit while it moves sees the value that was found.
func TestFoundWhileItMoves(t *testing.T) {
	f := &fakeLimit{now: gib}
	l := NewLimit(f.set)
	var wg go125.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range int64(2000) {
				if l.Lower(i << 10); i%100 == 0 {
					l.Restore()
				}
			}
		})
		wg.Go(func() {
			for range 2000 {
				if got := l.Found(); got != gib || l.Lowered().Lost {
					t.Errorf("found %d, %+v", got, l.Lowered())
				}
			}
		})
	}
	wg.Wait()
	l.Restore()
	f.check(t, l, "in the end", gib, Lowering{})
}

func TestGoLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	GoLimit.Lower(gib)
	if got := debug.SetMemoryLimit(-1); got != 1<<40-gib || GoLimit.Found() != 1<<40 {
		t.Errorf("the limit is %d, found %d", got, GoLimit.Found())
	}
	GoLimit.Restore()
	if got := debug.SetMemoryLimit(-1); got != 1<<40 {
		t.Errorf("restored: the limit is %d", got)
	}
}

// BenchmarkLower times one change of the runtime's limit.
func BenchmarkLower(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	defer GoLimit.Restore()
	for i := int64(0); b.Loop(); i++ {
		GoLimit.Lower(i & 1 << 20)
	}
}

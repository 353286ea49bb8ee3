package dewpond_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// Slices that append has moved are there for the next caller, cleared, and none counts as in
// use: by a SliceBodyPool, and by Adopt where the caller has both slices.
func TestGrownSlicesAreReused(t *testing.T) {
	notWatched(t, "it counts hits, and has a row that is watched")
	t.Run("pointers", func(t *testing.T) { grownSlicesAreReused(t, entry{Name: "alice"}) })
	t.Run("plain", func(t *testing.T) { grownSlicesAreReused(t, [3]uint32{1, 2, 3}) })
	t.Run("bytes", func(t *testing.T) { grownSlicesAreReused(t, byte(7)) })
}

func grownSlicesAreReused[T comparable](t *testing.T, x T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds, elements = 200, 1000
	for name, o := range map[string]dewpond.SlicePoolOptions[T]{
		"plain":  {},
		"Budget": {Budget: dewpond.MustBudget("", 1<<20)},
		"Check":  {Check: dewpond.CheckAll},
		"Reset":  {Reset: func(s []T) { clear(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			bodies := newSlices(t, o)
			b := bodies.Bodies()
			grown := newSlices(t, o)
			for range rounds {
				s := b.Get()
				mustBeCleared(t, s)
				for range elements {
					s = append(s, x)
				}
				b.Put(s)

				block := grown.Get(elements / 2)
				mustBeCleared(t, block)
				s = block[:0]
				for range elements {
					s = append(s, x)
				}
				if cap(s) != cap(block) {
					grown.Adopt(s)
				}
				grown.Put(block)
			}
			if s := bodies.Stats(); s.HitRate() < 0.9 && name != "Check" || s.InUseBytes != 0 || s.Puts != s.Gets || s.DroppedForeign != 0 || s.Violations != 0 {
				t.Errorf("a SliceBodyPool: %d of %d hit, %d bytes in use, %d foreign, %d violations", s.Hits, s.Gets, s.InUseBytes, s.DroppedForeign, s.Violations)
			}
			s := grown.Stats()
			if s.InUseBytes != 0 || s.Adopted == 0 || s.DroppedForeign != 0 || s.Violations != 0 {
				t.Errorf("Adopt: %d adopted, %d bytes in use, %d foreign, %d violations", s.Adopted, s.InUseBytes, s.DroppedForeign, s.Violations)
			}
			for _, c := range s.Classes { // what was adopted serves Gets of its size
				if c.Idle > 0 && name != "Check" {
					slice := grown.Get(c.Size / int(unsafe.Sizeof(x)))
					if got := grown.Stats(); got.Misses != s.Misses {
						t.Errorf("Get misses where %d slices of %d bytes are idle", c.Idle, c.Size)
					}
					mustBeCleared(t, slice)
					grown.Put(slice)
				}
			}
			runtime.KeepAlive(b)
		})
	}
}

// A slice that is cut to length 0 before Put teaches by its cap.
func TestSliceBodyPoolFollowsCaps(t *testing.T) {
	notWatched(t, "what waits in quarantine is not idle")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n, rounds = 10_000, 1000
	bodies := newSlices(t, dewpond.SlicePoolOptions[uint64]{}).Bodies()
	outgrown := 0
	for range rounds {
		s := bodies.Get()
		if cap(s) < n {
			outgrown++
		}
		bodies.Put(append(s, make([]uint64, n)...)[:0])
	}
	if outgrown > rounds/8 {
		t.Errorf("%d of %d slices of %d elements outgrow what Get returns", outgrown, rounds, n)
	}
}

func mustBeCleared[T comparable](t *testing.T, s []T) {
	t.Helper()
	if slices.ContainsFunc(s[:cap(s)], func(x T) bool { return x != *new(T) }) {
		t.Fatalf("a slice has %v in it", s[:cap(s)])
	}
}

// What cannot become a slice of the pool is refused.
func TestSlicePoolRefusesToAdopt(t *testing.T) {
	p := newSlices(t, dewpond.SlicePoolOptions[[3]uint32]{Classes: []int{8, 64}})
	for n, foreign := range map[int]bool{0: false, 7: true, 8: false, 17: true, 64: false, 65: false} {
		before := p.Stats()
		p.Adopt(make([][3]uint32, n))
		s := p.Stats().Sub(before)
		want := fmt.Sprint(n == 8 || n == 64, foreign, n == 65)
		if got := fmt.Sprint(s.Adopted == 1, s.DroppedForeign == 1, s.DroppedOversize == 1); got != want {
			t.Errorf("Adopt of cap %d: adopted, foreign, too large are %s, want %s", n, got, want)
		}
	}
	s := make([][3]uint32, 8, 12) // cut to 8
	p.Adopt(s)
	got := p.Get(8)
	defer p.Put(got)
	if cap(got) != 8 {
		t.Errorf("a slice of cap %d", cap(got))
	}
}

package memory

import (
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

// A BlockSet behaves as a map does, under random additions, removals and lookups.
func TestBlockSetIsAMap(t *testing.T) {
	type block struct {
		at    uintptr
		class uint8
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(1, seed))
		var s BlockSet
		model := map[block]bool{}
		var all []block
		any := func() block {
			// Few addresses, all near each other, so that searches meet.
			return block{uintptr(0x40000000) + uintptr(rng.IntN(600))*heapMultiple, uint8(rng.IntN(3) * 63)}
		}
		for range 20_000 {
			b := any()
			if s.Has(b.at, b.class) != model[b] {
				t.Fatalf("seed %d: Has(%#x, %d) is not %v", seed, b.at, b.class, model[b])
			}
			if s.Has(b.at+1, b.class) || s.Has(b.at, b.class+1) {
				t.Fatalf("seed %d: what is next to %#x, %d is in it", seed, b.at, b.class)
			}
			grow := len(model) < 10 || rng.IntN(20) != 0 && rng.IntN(1000) < 550
			switch {
			case grow && !model[b]:
				s.Add(b.at, b.class)
				model[b] = true
				all = append(all, b)
			case !grow:
				i := rng.IntN(len(all))
				b, all[i] = all[i], all[len(all)-1]
				all = all[:len(all)-1]
				if !s.Remove(b.at, b.class) || s.Remove(b.at, b.class) || s.Remove(b.at+1, b.class) {
					t.Fatalf("seed %d: Remove(%#x, %d)", seed, b.at, b.class)
				}
				delete(model, b)
			}
			for b := range model { // any of them
				if !s.Has(b.at, b.class) {
					t.Fatalf("seed %d: %#x, %d is lost", seed, b.at, b.class)
				}
				break
			}
		}
		if s.count != len(model) {
			t.Fatalf("seed %d: %d blocks, want %d", seed, s.count, len(model))
		}
		for b := range model {
			if !s.Remove(b.at, b.class) {
				t.Fatalf("seed %d: %#x, %d is lost", seed, b.at, b.class)
			}
		}
		if s.count != 0 || s.Bytes() > 8*2*minPlaces {
			t.Errorf("seed %d: %d blocks are left, in %d bytes", seed, s.count, s.Bytes())
		}
	}
}

// The table takes 16 to 64 bytes for each block while blocks are added, and shrinks
// when they are removed. It always has an empty place, at which a search ends.
func TestBlockSetSize(t *testing.T) {
	var s BlockSet
	if s.Bytes() != 0 || s.Has(0, 0) || s.Remove(0, 0) {
		t.Error("the zero BlockSet has something")
	}
	const most = 100_000
	for i := range most {
		s.Add(uintptr(i+1)*64, 0)
		if i > minPlaces && (s.Bytes() < 16*(i+1) || s.Bytes() > 64*(i+1)) {
			t.Fatalf("%d blocks: %d bytes", i+1, s.Bytes())
		}
	}
	for i := range most {
		s.Remove(uintptr(i+1)*64, 0)
		if left := most - i - 1; s.Bytes() > max(8*minPlaces, 128*(left+1)) {
			t.Fatalf("%d blocks are left: %d bytes", left, s.Bytes())
		}
	}
	for i := range 10 * most { // few at a time, always new ones
		s.Add(uintptr(i+1)*64, 0)
		if i >= 10 {
			s.Remove(uintptr(i-9)*64, 0)
		}
		if s.Bytes() > 16*8*minPlaces || 2*s.used > s.Bytes()/8 {
			t.Fatalf("%d places are used of %d bytes, for 11 blocks", s.used, s.Bytes())
		}
	}
}

// Goroutines that look up blocks while others add and remove find the blocks that they
// have themselves, and never a block that no goroutine has.
func TestBlockSetByMany(t *testing.T) {
	var s BlockSet
	var wg go125.WaitGroup
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for g := range uintptr(4) {
		wg.Go(func() {
			at := func(i int) uintptr { return uintptr(4*i)*64 + (g+1)*64 }
			for i := range rounds {
				s.Add(at(i), uint8(g))
				for j := max(0, i-50); j <= i; j += 7 {
					if !s.Has(at(j), uint8(g)) || s.Has(at(j), uint8(g)+1) || s.Has(at(j+1000_000), uint8(g)) {
						t.Errorf("goroutine %d: block %d of %d", g, j, i)
						return
					}
				}
				if i >= 60 {
					s.Remove(at(i-60), uint8(g))
				}
			}
		})
	}
	wg.Wait()
	if s.count != 4*min(60, rounds) {
		t.Errorf("%d are left", s.count)
	}
}

package arena

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestSpaceAgainstArray compares a space with a plain array that has the owner of each
// granule.
func TestSpaceAgainstArray(t *testing.T) {
	const granules = 60
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var s space
		s.init(system{}, granules)
		var taken [granules]bool
		var out []run
		fits := func(count int) int { // the lowest place, or -1
			for first := 0; first+count <= granules; first++ {
				n := 0
				for n < count && !taken[first+n] {
					n++
				}
				if n == count {
					return first
				}
			}
			return -1
		}
		for range 300 {
			if rng.IntN(5) < 3 {
				count := 1 + rng.IntN(7)
				want := fits(count)
				got, err := s.take(count)
				if want < 0 {
					if !errors.Is(err, ErrFull) {
						t.Fatalf("seed %d: take(%d) = %d, %v; want ErrFull", seed, count, got, err)
					}
					continue
				}
				if err != nil || got != want {
					t.Fatalf("seed %d: take(%d) = %d, %v; want %d", seed, count, got, err, want)
				}
				for i := range count {
					taken[got+i] = true
				}
				out = append(out, run{got, count})
			} else if len(out) > 0 {
				i := rng.IntN(len(out))
				r := out[i]
				out[i] = out[len(out)-1]
				out = out[:len(out)-1]
				for i := range r.count {
					taken[r.first+i] = false
				}
				s.give(r)
			}
			used := 0
			for _, t := range taken {
				if t {
					used++
				}
			}
			if s.used() != int64(used)<<granuleShift {
				t.Fatalf("seed %d: used %d, want %d granules", seed, s.used(), used)
			}
			end := 0 // of the run before
			for i, r := range s.runs {
				if r.count < 1 || i > 0 && r.first <= end || r.first+r.count >= s.end {
					t.Fatalf("seed %d: runs %v, end %d: empty, adjacent or at the end", seed, s.runs, s.end)
				}
				end = r.first + r.count
			}
		}
	}
}

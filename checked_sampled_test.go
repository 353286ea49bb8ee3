package dewpond_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
)

// CheckSampled watches as many Gets as it says, however few hits there are between two
// changes of the shards, however many pools the Gets are of, and at each place of a request
// that makes several Gets. The bound
// is six standard deviations of a choice at random, which fails once in 10^9 times; a
// place that is never watched, or always, is at eight and more.
func TestSamplingIsFair(t *testing.T) {
	onlyOnHeap(t, "which hits are watched does not depend on where blocks lie")
	const rate = 64
	t.Setenv("DEWPOND_CHECK", "sampled=1/64")
	trim := func(p *dewpond.BytePool) { p.Trim() }
	procs := func(p *dewpond.BytePool) { runtime.GOMAXPROCS(1 + runtime.GOMAXPROCS(0)%4) }
	for _, tt := range []struct {
		name    string
		pools   int // which requests use in turn
		places  int // Gets of a request, one after the other
		due     int // Gets of each place that are to be watched
		between int // requests between two changes
		change  func(p *dewpond.BytePool)
	}{
		{"one place", 1, 1, 1024, 0, nil},
		{"two places", 1, 2, 1024, 0, nil},
		{"many pools", 100, 1, 1024, 0, nil},
		{"as many places as the rate", 1, rate, 64, 0, nil},
		{"Trim before a slot has had its rate of hits", 1, 1, 1024, rate - 1, trim},
		{"Trim, and two places", 1, 2, 1024, 3 * rate, trim},
		{"GOMAXPROCS", 1, 3, 1024, 100, procs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			var pools []*dewpond.BytePool
			for range tt.pools {
				pools = append(pools, newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckSampled}))
			}
			due := tt.due
			if testing.Short() {
				due /= 8
			}
			watched := make([]float64, tt.places)
			for request := range rate * due {
				p := pools[request%tt.pools]
				if tt.between > 0 && request%tt.between == 0 {
					tt.change(p)
				}
				for place := range tt.places {
					b := p.Get(1000)
					if dewpond.IsWatched(p, b) {
						watched[place]++
					}
					p.Put(b)
				}
			}
			want := float64(due)
			for place, n := range watched {
				if off := math.Abs(n-want) / math.Sqrt(want); off > 6 {
					t.Errorf("place %d: %v Gets are watched, want %v: off by %.1f standard deviations", place, n, want, off)
				}
			}
		})
	}
}

package synthetic

import (
	"math/rand/v2"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// BeyondScenario returns the scenario of BeyondRounds.
func BeyondScenario() bench.Scenario {
	s := Mixed
	s.Name, s.Goroutines, s.Sample, s.Duration = "beyond", 1, 0, "1.2s"
	s.Mix, s.Hold, s.Garbage, s.Zero = "65536:100", "", "none", "never"
	s.Blocks, s.Bursts, s.Written = 20_000, 6, "1400 B"
	return s
}

// BeyondRounds returns six rounds in which dewpond allocates a share of the blocks of each later
// burst, and the others none.
func BeyondRounds(share float64) []result.Round {
	rng := rand.New(rand.NewPCG(80, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.005*rng.NormFloat64()) }
	var out []result.Round
	for i := range 6 {
		for _, p := range []Pool{Pools[0], Pools[3], Pools[5]} {
			const ops, size = 6 * 20_000, 64 << 10
			later := 0.0
			if p.Name == bench.Ours {
				later = share * ops * 5 / 6
			}
			r := result.Round{Contender: p.Name, Round: i, Ops: ops, Seconds: 1.2, GCCycles: 6}
			r.AllocBytes, r.Allocs = uint64((ops/6+later)*size), uint64(ops/6+later)
			r.RSSPeakBytes = uint64(jitter(100e6 + later*2e4))
			r.Figures = map[string]float64{"allocated_bytes": float64(r.AllocBytes), "cpu_time_ns": jitter(4e8 + later*8e4), "later_misses": later}
			out = append(out, r)
		}
	}
	return out
}

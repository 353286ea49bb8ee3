package synthetic

import (
	"math/rand/v2"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// FloodScenario returns the scenario of FloodRounds.
func FloodScenario() bench.Scenario {
	s := Mixed
	s.Name, s.Mode, s.Rate, s.Goroutines, s.Sample = "flood", "open", 24_414, 4096, 1
	s.Mix, s.Hold, s.Garbage, s.Zero = "65536:100", "100ms", "none", "never"
	s.Limit, s.Times = "16000000 B", 10
	return s
}

// FloodRounds returns six rounds in which dewpond refuses a share of the requests, and the others
// none.
func FloodRounds(refused float64) []result.Round {
	rng := rand.New(rand.NewPCG(60, 1))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	var out []result.Round
	for i := range 6 {
		for _, p := range []Pool{Pools[0], Pools[3], Pools[5]} {
			const arrivals = 24_000
			r := result.Round{Contender: p.Name, Round: i, Ops: arrivals, Seconds: 1, RecorderBytes: 246_000, GCCycles: 5}
			took, tail, rss, share := 104e6, 0.2, 250e6, 0.0
			if p.Name == bench.Ours {
				share = min(jitter(refused), 1)
				took, tail, rss = 101e6, 0.05, 15e6+(1-refused)*200e6
			}
			r.Ops = uint64((1 - share) * arrivals)
			r.RSSPeakBytes = uint64(jitter(rss))
			r.Figures = map[string]float64{"arrivals": arrivals, "dropped_arrivals": 0, "refused_share": share, "served_per_sec": float64(r.Ops)}
			r.Histograms = map[string][]byte{"response": Lognormal(rng, took, tail, 1500), "lag": Lognormal(rng, 60_000, 1, 15_000)}
			out = append(out, r)
		}
	}
	return out
}

package synthetic

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// MisuseScenario returns the scenario of MisuseRounds.
func MisuseScenario() bench.Scenario {
	s := Mixed
	s.Name, s.Mode, s.Rate, s.Goroutines, s.Sample = "misuse", "paced", 10_000, 4, 1
	s.Mix, s.Hold, s.Garbage = "512:70,8192:30", "", "none"
	s.Seeds, s.Late = 64, "2ms"
	return s
}

// MisuseRounds returns six rounds in which dewpond finds so many double Puts, one write less in
// every other round, and no read.
func MisuseRounds(found float64) []result.Round {
	var out []result.Round
	for i := range 6 {
		for _, p := range []Pool{Pools[0], Pools[3], Pools[5]} {
			r := result.Round{Contender: p.Name, Round: i, Ops: 4000, Seconds: 0.4, RSSPeakBytes: 18e6}
			r.Figures = map[string]float64{
				"double_put_found": 0, "write_after_put_found": 0, "read_after_put_found": 0,
				"false_reports": 0, "blocks_spoilt": 0, "seeded": 3 * 64,
			}
			switch p.Name {
			case bench.Ours:
				r.Figures["double_put_found"], r.Figures["write_after_put_found"] = found, max(0, found-float64(i%2))
			case bench.Baseline:
				r.Figures["blocks_spoilt"] = 280
			}
			out = append(out, r)
		}
	}
	return out
}

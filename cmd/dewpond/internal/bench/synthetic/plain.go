package synthetic

import "github.com/dewpond/dewpond/instruments/kit/result"

// Plain returns rounds with a rate and one figure, without histograms.
func Plain(name string, rates ...float64) []result.Round {
	var out []result.Round
	for i, r := range rates {
		out = append(out, result.Round{Contender: name, Round: i, Ops: uint64(r), Seconds: 1, Figures: map[string]float64{"step_ns": 1e9 / r}})
	}
	return out
}

// As returns the pool under another name.
func As(p Pool, name string) Pool { p.Name = name; return p }

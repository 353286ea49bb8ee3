package digest

import (
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// tools summarizes the tools of dewpond's rounds, in the order in which they were measured.
func (s *series) tools() []bench.Tool {
	var all []bench.Tool
	for _, m := range s.rounds {
		for _, r := range m.Tools {
			if !slices.ContainsFunc(all, func(t bench.Tool) bool { return t.Name == r.Tool && t.Case == r.Case }) {
				all = append(all, s.tool(r))
			}
		}
	}
	return all
}

// tool summarizes one case; r is the first round that has it.
func (s *series) tool(r result.ToolRound) bench.Tool {
	t := bench.Tool{Name: r.Tool, Case: r.Case}
	for i, a := range r.Alternatives {
		var ns, bytes, allocs, ratios []float64
		for _, m := range s.rounds {
			if a, ok := alternative(m.Tools, r.Tool, r.Case, a.Name); ok {
				ns = append(ns, a.Ns)
				bytes = append(bytes, a.Bytes)
				allocs = append(allocs, a.Allocs)
				ratios = append(ratios, a.Ratio)
			}
		}
		folded := bench.Alternative{Name: a.Name, Time: fold(ns), Bytes: fold(bytes), Allocs: fold(allocs)}
		if i > 0 {
			ratio := result.Ratio(summary.Interval(ratios))
			folded.Ratio = &ratio
		}
		t.Alternatives = append(t.Alternatives, folded)
	}
	return t
}

func alternative(all []result.ToolRound, tool, name, alternative string) (result.AlternativeRound, bool) {
	for _, r := range all {
		if r.Tool != tool || r.Case != name {
			continue
		}
		for _, a := range r.Alternatives {
			if a.Name == alternative {
				return a, true
			}
		}
	}
	return result.AlternativeRound{}, false
}

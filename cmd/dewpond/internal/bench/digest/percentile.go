package digest

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// times summarizes one operation's histograms of all rounds. A percentile is
//
//   - nil when all rounds together have fewer than ten samples beyond it;
//   - the median of the rounds' own percentiles when every round has ten;
//   - otherwise the value of the merged histogram, with its name in Merged. The P9999 of a
//     round with few samples is close to its maximum, and a median of maxima would overstate.
//     The quantile of a mixture lies between those of its parts, so the minimum and maximum
//     over the rounds still enclose it; they are as wide as such rounds deserve.
//
// Percentiles of rounds are never averaged.
func (s *series) times(op string) (*bench.Times, error) {
	merged, err := s.merge(op)
	if merged == nil || err != nil {
		return nil, err
	}
	t := &bench.Times{Samples: uint64(merged.TotalCount())}
	if t.Histogram, err = encode(merged); err != nil {
		return nil, err
	}
	var most []float64
	for _, m := range s.rounds {
		if h := m.histograms[op]; h != nil {
			most = append(most, float64(h.Max()))
		}
	}
	t.Max = fold(most)
	for _, p := range figure.Percentiles {
		if merged.TotalCount() < p.Needs {
			continue
		}
		f, thin := s.percentile(op, p)
		if thin {
			v := float64(merged.ValueAtPercentile(p.P))
			// Ranks are rounded, so the value may lie outside by one bucket.
			f = result.Figure{Median: v, Min: min(f.Min, v), Max: max(f.Max, v)}
			t.Merged = append(t.Merged, p.Key+"_ns")
		}
		*figures.At(t, p) = &f
	}
	return t, nil
}

// percentile returns the rounds' own values of p, and whether a round has too few samples for its
// value.
func (s *series) percentile(op string, p figure.Percentile) (f result.Figure, thin bool) {
	var values []float64
	for _, m := range s.rounds {
		h := m.histograms[op]
		if h == nil || h.TotalCount() == 0 {
			continue
		}
		values = append(values, float64(h.ValueAtPercentile(p.P)))
		thin = thin || h.TotalCount() < p.Needs
	}
	return fold(values), thin
}

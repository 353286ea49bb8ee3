package digest

import (
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A series is the rounds of one contender.
type series struct {
	name   string
	rounds []*measured
}

// A measured round is a round with the numbers that follow from it alone.
type measured struct {
	result.Round
	histograms map[string]*hdrhistogram.Histogram
	// values holds each figure by its name in the document: "ops_per_sec", "put_p999_ns", those
	// of the scenario. A percentile for which this round has too few samples is missing.
	values map[string]float64
}

// group sorts the rounds into series, in the order in which contenders first appear. A cut round
// is left out, unless its contender has no other: then it is shown, but in no ratio.
func group(rounds []result.Round) ([]*series, error) {
	var all []*series
	for _, r := range rounds {
		m, err := measure(r)
		if err != nil {
			return nil, err
		}
		s := find(all, r.Contender)
		if s == nil {
			s = &series{name: r.Contender}
			all = append(all, s)
		}
		s.rounds = append(s.rounds, m)
	}
	for _, s := range all {
		whole := slices.DeleteFunc(slices.Clone(s.rounds), func(m *measured) bool { return m.Cut })
		if len(whole) > 0 {
			s.rounds = whole
		}
	}
	return all, nil
}

func find(all []*series, name string) *series {
	i := slices.IndexFunc(all, func(s *series) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

func measure(r result.Round) (*measured, error) {
	m := &measured{Round: r, histograms: map[string]*hdrhistogram.Histogram{}, values: map[string]float64{
		"gc_cpu_share":   r.GCCPUShare,
		"rss_peak_bytes": float64(r.RSSPeakBytes),
		"recorder_bytes": float64(r.RecorderBytes),
	}}
	if r.Seconds > 0 {
		m.values["ops_per_sec"] = float64(r.Ops) / r.Seconds
		m.values["gc_per_5s"] = 5 * float64(r.GCCycles) / r.Seconds
	}
	if r.Ops > 0 {
		m.values["alloc_bytes_per_op"] = float64(r.AllocBytes) / float64(r.Ops)
		m.values["allocs_per_op"] = float64(r.Allocs) / float64(r.Ops)
	}
	for name, v := range r.Figures {
		m.values[name] = v
	}
	for op, blob := range r.Histograms {
		h, err := hdrhistogram.Decode(blob)
		if err != nil {
			return nil, fmt.Errorf("summary: histogram %q of %s, round %d: %w", op, r.Contender, r.Round, err)
		}
		m.histograms[op] = h
		for _, p := range figure.Percentiles {
			if h.TotalCount() >= p.Needs {
				m.values[op+"_"+p.Key+"_ns"] = float64(h.ValueAtPercentile(p.P))
			}
		}
	}
	return m, nil
}

// figure summarizes one value over the rounds that have it.
func (s *series) figure(name string) result.Figure {
	var values []float64
	for _, m := range s.rounds {
		if v, ok := m.values[name]; ok {
			values = append(values, v)
		}
	}
	return fold(values)
}

func fold(values []float64) result.Figure {
	if len(values) == 0 {
		return result.Figure{}
	}
	return result.Figure{Median: quantile.Median(values), Min: slices.Min(values), Max: slices.Max(values)}
}

// middle returns the median round, whose curves over time are shown: the median by the time of a
// burst if the scenario has one, otherwise by rate.
func (s *series) middle() *measured {
	by := "ops_per_sec"
	for _, name := range []string{"second_burst_ns", "burst_ns"} {
		if _, ok := s.rounds[0].values[name]; ok {
			by = name
		}
	}
	sorted := slices.SortedStableFunc(slices.Values(s.rounds), func(a, b *measured) int {
		switch {
		case a.values[by] < b.values[by]:
			return -1
		case a.values[by] > b.values[by]:
			return 1
		}
		return 0
	})
	return sorted[(len(sorted)-1)/2]
}

package digest

import (
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// ratios compares s with the baseline. A figure whose baseline is zero in a round has no ratio.
func ratios(s, base *series) map[string]result.Ratio {
	out := map[string]result.Ratio{}
	for name, pairs := range paired(s, base) {
		if !figure.Comparable(name) {
			continue
		}
		if r, ok := ratio(name, pairs); ok {
			out[name] = r
		}
	}
	return out
}

// ratio compares the pairs of one figure, unless the second is zero in one of them.
func ratio(name string, pairs [][2]float64) (result.Ratio, bool) {
	quotients := make([]float64, 0, len(pairs))
	for _, p := range pairs {
		if p[1] > figure.AllocationNoise[name] {
			quotients = append(quotients, p[0]/p[1])
		}
	}
	if len(pairs) == 0 || len(quotients) < len(pairs) {
		return result.Ratio{}, false
	}
	return result.Ratio(summary.Interval(quotients)), true
}

// differences compares with the baseline the counts that have no ratio.
func differences(s, base *series, ratios map[string]result.Ratio) map[string]result.Excess {
	out := map[string]result.Excess{}
	for name, pairs := range paired(s, base) {
		if _, has := ratios[name]; !has && figure.IsCount(name) {
			out[name] = difference(pairs)
		}
	}
	return out
}

func difference(pairs [][2]float64) result.Excess {
	values := make([]float64, len(pairs))
	for i, p := range pairs {
		values[i] = p[0] - p[1]
	}
	return summary.Interval(values)
}

// excesses returns what s costs over the control, for rates and times.
func excesses(s, nop *series) map[string]result.Excess {
	out := map[string]result.Excess{}
	for name, pairs := range paired(s, nop) {
		if name != "ops_per_sec" && !strings.HasSuffix(name, "_ns") {
			continue
		}
		out[name] = difference(pairs)
	}
	return out
}

// paired returns, for each figure, the values of both series in the rounds that both completed.
// Rounds with the same number ran close together in time, so what the machine did affected both:
// pairing removes it.
func paired(s, other *series) map[string][][2]float64 {
	partner := map[int]*measured{}
	for _, m := range other.rounds {
		if !m.Cut {
			partner[m.Round.Round] = m
		}
	}
	pairs := map[string][][2]float64{}
	for _, m := range s.rounds {
		o := partner[m.Round.Round]
		if o == nil || m.Cut {
			continue
		}
		for name, v := range m.values {
			if w, ok := o.values[name]; ok {
				pairs[name] = append(pairs[name], [2]float64{v, w})
			}
		}
	}
	return pairs
}

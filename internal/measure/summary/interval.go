package summary

import (
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/stats"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

const (
	// Confidence is the confidence asked for. The interval of a median consists of order
	// statistics, so the actual confidence comes in steps: 96.9 % for 6 rounds.
	Confidence = 0.95

	// VerdictRounds is the fewest paired rounds for which an interval of that confidence is
	// finite: all 6 on one side of the truth happens in 1 of 32 cases, all 5 in 1 of 16. With
	// fewer rounds there are figures, but no verdict.
	VerdictRounds = 6
)

// ratios compares s with the baseline. A figure whose baseline is zero in a round has no ratio.
func ratios(s, base *series) map[string]result.Ratio {
	out := map[string]result.Ratio{}
	for name, pairs := range paired(s, base) {
		if !figure.Comparable(name) {
			continue
		}
		quotients := make([]float64, 0, len(pairs))
		for _, p := range pairs {
			if p[1] > figure.AllocationNoise[name] {
				quotients = append(quotients, p[0]/p[1])
			}
		}
		if len(quotients) == len(pairs) {
			out[name] = result.Ratio(Interval(quotients))
		}
	}
	return out
}

// excesses returns what s costs over the control, for rates and times.
func excesses(s, nop *series) map[string]result.Excess {
	out := map[string]result.Excess{}
	for name, pairs := range paired(s, nop) {
		if name != "ops_per_sec" && !strings.HasSuffix(name, "_ns") {
			continue
		}
		differences := make([]float64, len(pairs))
		for i, p := range pairs {
			differences[i] = p[0] - p[1]
		}
		out[name] = Interval(differences)
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

// Interval returns the median of values and its confidence interval, without assumptions about
// their distribution, as benchstat computes them. For fewer than VerdictRounds values the interval is from the least to the
// greatest, with the confidence that it has.
func Interval(values []float64) result.Excess {
	n := len(values)
	sample := stats.Sample{Xs: slices.Sorted(slices.Values(values)), Sorted: true}
	ci := stats.QuantileCI(n, 0.5, Confidence)
	median, low, high := ci.SampleCI(sample)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		low, high = sample.Xs[0], sample.Xs[n-1]
		ci.Confidence = 1 - math.Pow(2, 1-float64(n))
	}
	return result.Excess{Median: median, Low: low, High: high, Confidence: ci.Confidence, Rounds: n}
}

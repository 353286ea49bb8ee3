// Package summary says what several rounds have measured: the median of a figure, and how far it may be
// from the truth.
package summary

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/dewpond/dewpond/instruments/kit/result"
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

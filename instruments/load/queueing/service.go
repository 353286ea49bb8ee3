package queueing

import (
	"math"
	"math/rand/v2"
	"time"
)

// A Service draws service times.
type Service func(*rand.Rand) time.Duration

// Exponential service times, as the formulas of this package have them.
func Exponential(mean time.Duration) Service {
	return func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
}

// Constant service times.
func Constant(d time.Duration) Service {
	return func(*rand.Rand) time.Duration { return d }
}

// Lognormal service times with this mean, and sigma of their logarithm.
func Lognormal(mean time.Duration, sigma float64) Service {
	mu := math.Log(float64(mean)) - sigma*sigma/2
	return func(r *rand.Rand) time.Duration { return time.Duration(math.Exp(mu + sigma*r.NormFloat64())) }
}

// Measured draws from the percentiles of what was measured, in nanoseconds: percentile is that of a
// histogram.
func Measured(percentile func(float64) int64) Service {
	var table [10_000]time.Duration
	for i := range table {
		table[i] = time.Duration(percentile(100 * (float64(i) + 0.5) / float64(len(table))))
	}
	return func(r *rand.Rand) time.Duration { return table[r.IntN(len(table))] }
}

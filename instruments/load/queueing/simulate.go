package queueing

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
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

// Responses are what a simulation had.
type Responses struct {
	sorted  []time.Duration
	waiting int
	sum     float64
}

// Simulate lets n arrivals pass through the queue, whose Service is not used, after a tenth as
// many that are not counted. The same seed gives the same responses.
func Simulate(q Queue, service Service, n int, seed uint64) Responses {
	r := rand.New(rand.NewPCG(seed, 0))
	free := make(slots, q.Slots) // when each slot is free, in seconds
	var out Responses
	now := 0.0
	for i := range n + n/10 {
		now += r.ExpFloat64() / q.Rate
		begin := max(now, free[0])
		end := begin + service(r).Seconds()
		free[0] = end
		heap.Fix(&free, 0)
		if i < n/10 {
			continue
		}
		if begin > now {
			out.waiting++
		}
		out.sum += end - now
		out.sorted = append(out.sorted, time.Duration((end-now)*1e9))
	}
	slices.Sort(out.sorted)
	return out
}

// Waiting returns the share of arrivals that waited.
func (r Responses) Waiting() float64 { return float64(r.waiting) / float64(len(r.sorted)) }

// Mean returns the mean response.
func (r Responses) Mean() time.Duration {
	return time.Duration(r.sum / float64(len(r.sorted)) * 1e9)
}

// Quantile returns the response that a share p of the arrivals did not exceed.
func (r Responses) Quantile(p float64) time.Duration {
	return quantile.Of(r.sorted, p)
}

// slots are a heap of times.
type slots []float64

func (s slots) Len() int           { return len(s) }
func (s slots) Less(i, j int) bool { return s[i] < s[j] }
func (s slots) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *slots) Push(any)          {}
func (s *slots) Pop() any          { return nil }

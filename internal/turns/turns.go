// Package turns has benchmarks of adapters compare themselves with what they replace, in
// one run. Only tests import it.
package turns

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// A Benchmark is a *testing.B.
type Benchmark interface {
	Loop() bool
	ReportMetric(v float64, unit string)
}

// Take runs ours and its control n times each, over and over, and reports the medians
// of the rounds: what each takes and allocates, and the ratio of the times with its interval.
// Each is first in every other round. -benchtime 300x has 300 rounds.
func Take(b Benchmark, n int, ours, control func()) {
	measure := func(f func()) (of [3]float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range n {
			f()
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		for i, total := range []uint64{uint64(took), after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc} {
			of[i] = float64(total) / float64(n)
		}
		return of
	}
	names := []string{"dewpond-ns", "dewpond-allocs", "dewpond-B", "control-ns", "control-allocs", "control-B", "ratio"}
	rounds := make([][]float64, len(names))
	ours()
	control()
	for i := 0; b.Loop(); i++ {
		var us, them [3]float64
		if i%2 == 0 {
			us, them = measure(ours), measure(control)
		} else {
			them, us = measure(control), measure(ours)
		}
		for i, v := range []float64{us[0], us[1], us[2], them[0], them[1], them[2], us[0] / them[0]} {
			rounds[i] = append(rounds[i], v)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, name := range names {
		slices.Sort(rounds[i])
		b.ReportMetric(rounds[i][len(rounds[i])/2], name)
	}
	ratios := rounds[len(rounds)-1]
	low, high := interval(len(ratios))
	b.ReportMetric(ratios[low], "ratio-low")
	b.ReportMetric(ratios[high], "ratio-high")
}

// interval returns which of n values in ascending order are the ends of an interval of about
// 95 % for their median. Each value is below the median as a coin falls, and of n coins the
// heads are 1.96 standard deviations off n/2 in one of twenty throws. Few values have no such
// interval, and their ends are the least and the greatest.
func interval(n int) (low, high int) {
	off := int(math.Ceil(1.96 * math.Sqrt(float64(n)) / 2))
	return max(n/2-off, 0), min(n/2+off, n-1)
}

package workload

import (
	"slices"
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/measure"
)

// clocked returns the wall time of loops that run at once, each in its own goroutine if there
// are several. It reads the clock before and after them, never inside.
func clocked(loops ...func()) time.Duration {
	if len(loops) == 1 {
		began := measure.Now()
		loops[0]()
		return measure.Now() - began
	}
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for _, loop := range loops {
		wg.Go(func() {
			<-gate
			loop()
		})
	}
	began := measure.Now()
	close(gate)
	wg.Wait()
	return measure.Now() - began
}

// filling returns how many operations fill a batch of about that time, starting at least. The
// runs also warm up what is measured.
func filling(batch time.Duration, least int, run func(count int) time.Duration) int {
	for count := least; ; count *= 2 {
		if took := run(count); took > batch/4 {
			return max(int(float64(count)*float64(batch)/float64(took)), 1)
		}
	}
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

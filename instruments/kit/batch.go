package kit

import (
	"sync"
	"time"
)

// Clocked returns the wall time of loops that run at once, each in its own goroutine if there
// are several. It reads the clock before and after them, never inside.
func Clocked(loops ...func()) time.Duration {
	if len(loops) == 1 {
		began := Now()
		loops[0]()
		return Now() - began
	}
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for _, loop := range loops {
		wg.Go(func() {
			<-gate
			loop()
		})
	}
	began := Now()
	close(gate)
	wg.Wait()
	return Now() - began
}

// Filling returns how many operations fill a batch of about that time, starting at least. The
// runs also warm up what is measured.
func Filling(batch time.Duration, least int, run func(count int) time.Duration) int {
	for count := least; ; count *= 2 {
		if took := run(count); took > batch/4 {
			return max(int(float64(count)*float64(batch)/float64(took)), 1)
		}
	}
}

package load

import (
	"context"
	"runtime"
	"time"
)

// longestNap bounds how late a run hears that it is over.
const longestNap = 50 * time.Millisecond

// A pacer waits for the times of arrivals. It belongs to one goroutine.
type pacer struct {
	sleep func(time.Duration)
}

// newPacer locks its goroutine to its thread, so that no other goroutine has to be moved when the
// thread wakes up: that takes time. In a testing/synctest bubble it sleeps as the bubble does.
func newPacer() (p pacer, stop func()) {
	if standsStill() {
		return pacer{time.Sleep}, func() {}
	}
	runtime.LockOSThread()
	return pacer{nanosleep}, runtime.UnlockOSThread
}

// standsStill reports whether the clock does so while a thread sleeps, which is how a bubble's is: it
// goes on when all goroutines of the bubble wait for it.
func standsStill() bool {
	before := time.Now()
	nanosleep(time.Microsecond)
	return time.Since(before) == 0
}

// until waits until t, and reports false if ctx ends before.
func (p pacer) until(ctx context.Context, t time.Time) bool {
	for ctx.Err() == nil {
		left := time.Until(t)
		if left <= 0 {
			return true
		}
		p.sleep(min(left, longestNap))
	}
	return false
}

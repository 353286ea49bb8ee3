package bubble

import (
	"sync/atomic"
	"time"
)

// Slept counts the calls that slept, and for how long. Its methods are safe for concurrent
// use. A call begins and ends by one clock, so that the times of several clocks add up.
type Slept struct {
	calls       atomic.Uint64
	nanoseconds atomic.Int64
}

// Since counts a call that has slept since began, a time of the caller's clock.
func (s *Slept) Since(began time.Time) {
	s.nanoseconds.Add(int64(time.Since(began)))
	s.calls.Add(1)
}

// Load returns how many calls slept, and for how long together.
func (s *Slept) Load() (calls uint64, total time.Duration) {
	calls = s.calls.Load()
	return calls, time.Duration(s.nanoseconds.Load())
}

package pressure

import (
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/memory"
)

// watchEvery is the time between two looks of Watch.
const watchEvery = time.Second

// shown has the levels that Current has returned, for the calls of Watch.
var shown Log

var ofProcess = Monitor{Limit: memory.GoLimit.Found, Changed: shown.Add}

// forced is one more than the level that a test has forced, or 0.
var forced atomic.Uint32

// Current returns the level of this process. It may take a reading: see [Monitor.Level].
func Current() Level {
	if level := forced.Load(); level != 0 {
		return Level(level - 1)
	}
	return ofProcess.Level(memory.OffHeap.Committed())
}

// Limit returns the lower of GOMEMLIMIT and the cgroup's hard limit, in bytes, as [Current] has found
// it last; [Unlimited] if there is none, or no reading yet.
func Limit() int64 {
	if limit := ofProcess.limit.Load(); limit != 0 {
		return limit
	}
	return Unlimited
}

// Watch calls f with each new level that [Current] returns to any caller: see [Log.Watch].
func Watch(f func(Level)) (stop func()) {
	return shown.Watch(watchEvery, func() { Current() }, f) // looks, even if no pool does
}

// Force has [Current] return a level from now on, as if a reading had found it. It is for tests.
func Force(level Level) {
	if forced.Swap(uint32(level)+1) != uint32(level)+1 {
		shown.Add(level)
	}
}

package dewpond

import (
	"time"

	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/pressure"
)

// A Level says how scarce memory is for this process.
type Level uint8

// The level is medium from 70 % of a limit on, and high from 90 % on. The limits are
// GOMEMLIMIT, which is compared with the live heap, the runtime's own memory and the
// committed memory of all off-heap pools, and the limits of the process's cgroups, which
// are compared with their working sets. Off-heap bytes for which GOMEMLIMIT has been
// lowered (offheap.Options.Coupled) are not counted twice: the original limit counts.
// Two things also raise the level: tasks that wait for memory (PSI on Linux), and a
// garbage collector that has run out of processor time. A rise takes effect at once. The
// level falls one step at a time, at the earliest 10 s after its last change.
const (
	PressureLow    Level = iota // pools keep idle memory as long as IdleTimeout says
	PressureMedium              // pools let idle memory go four times as fast
	PressureHigh                // pools let all idle memory go, one after another, each at most once a second
)

// String returns low, medium or high.
func (l Level) String() string { return pressure.Level(l).String() }

// pressureEvery is the time between two looks of OnPressure.
const pressureEvery = time.Second

// shown has the levels that Pressure has shown, for the calls of OnPressure.
var shown pressure.Log

var monitor = pressure.Monitor{Limit: memory.GoLimit.Found, Changed: shown.Add}

// readLevel is monitor.Level, except in tests.
var readLevel = monitor.Level

// Pressure returns the current level. It reads a few small files, which takes tens of
// microseconds, but at most once every 100 ms. Pools call it themselves whenever they
// decay.
func Pressure() Level { return Level(readLevel(memory.OffHeap.Committed())) }

// haste returns how fast decay must be at the current level.
func haste() decay.Haste {
	switch Pressure() {
	case PressureHigh:
		return decay.AllAtOnce
	case PressureMedium:
		return decay.Hurry
	}
	return decay.NoHaste
}

// OnPressure calls f with each new level that [Pressure] returns to any caller from now
// on, in order, and first with the current level unless that is low. It is meant for
// caches that are not pools of this package.
//
// f runs on a goroutine of its own, and never concurrently with itself. OnPressure looks
// every second until stop is called, so f may be called for several levels in quick
// succession. Levels are left out only if f takes minutes. When stop returns f may still
// be running, but it is not called again.
func OnPressure(f func(Level)) (stop func()) {
	if f == nil {
		panic("dewpond: OnPressure(nil): give a function to call")
	}
	look := func() { Pressure() } // reads the level, even if no pool does
	return shown.Watch(pressureEvery, look, func(level pressure.Level) { f(Level(level)) })
}

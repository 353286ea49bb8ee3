// Package pressure says how scarce memory is for this process. The pools of dewpond let
// idle memory go by it, and what else keeps memory that it can do without, such as a
// cache, can follow it too:
//
//	stop := pressure.Watch(func(level pressure.Level) {
//		if level == pressure.High {
//			cache.Clear()
//		}
//	})
//	defer stop()
//
// The level is medium from 70 % of a limit on, and high from 90 % on. The limits are
// GOMEMLIMIT, which is compared with the live heap, the runtime's own memory and the
// committed memory of all off-heap pools, and the limits of the process's cgroups, which
// are compared with their working sets. Off-heap bytes for which GOMEMLIMIT has been
// lowered (Coupled in the Options of package offheap) are not counted twice: the original
// limit counts. Two things also raise the level: tasks that wait for memory (PSI on Linux),
// and a garbage collector that has run out of processor time. A rise takes effect at once.
// The level falls one step at a time, at the earliest 10 s after its last change.
//
// On macOS, Windows and the other systems that have no cgroups and no PSI, GOMEMLIMIT and
// the collector remain. Without GOMEMLIMIT the level there is low.
package pressure

import "github.com/dewpond/dewpond/internal/pressure"

// A Level says how scarce memory is. A higher level is a greater number.
type Level uint8

const (
	Low    Level = iota // pools keep idle memory as long as their IdleTimeout says
	Medium              // pools let idle memory go four times as fast
	High                // pools let all idle memory go, one after another, each at most once a second
)

// String returns low, medium or high.
func (l Level) String() string { return pressure.Level(l).String() }

// Current returns the current level. It reads a few small files, which takes tens of
// microseconds, but at most once every 100 ms; otherwise it returns what the last reading
// found. Pools call it themselves whenever they decay. It may be called by any number of
// goroutines at once.
func Current() Level { return Level(pressure.Current()) }

// Watch calls f with each new level that [Current] returns to any caller from now on, in
// order, and first with the current level unless that is low. It panics if f is nil.
//
// f runs on a goroutine of its own, and never concurrently with itself. Watch looks every
// second until stop is called, so f may be called for several levels in quick succession.
// Levels are left out only if f takes minutes. When stop returns f may still be running,
// but it is not called again. stop may be called more than once.
func Watch(f func(Level)) (stop func()) {
	if f == nil {
		panic("dewpond/pressure: Watch(nil): give a function to call")
	}
	return pressure.Watch(func(level pressure.Level) { f(Level(level)) })
}

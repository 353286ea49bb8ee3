package dewpond

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/pressure"
)

// A Level says how scarce memory is for this process.
type Level uint8

// From 70 % of a limit on the level is medium, from 90 % on high. Limits are
// GOMEMLIMIT, against the live heap, the runtime's own memory and what all off-heap
// pools have committed, and those of the process's cgroups, against their working
// sets. Off-heap bytes for which GOMEMLIMIT has been lowered (offheap.Options.Coupled)
// are not counted twice: the limit of before counts. Tasks that wait for memory (PSI on
// Linux) raise the level too, and so does a collector that has run out of processor
// time. A rise shows at once; the level falls one step at a time, at the earliest 10 s
// after it has last risen or fallen.
const (
	PressureLow    Level = iota // keep what is idle as long as IdleTimeout says
	PressureMedium              // pools let idle memory go four times as fast
	PressureHigh                // pools let all idle memory go, one after another, each at most once a second
)

// String returns low, medium or high.
func (l Level) String() string { return pressure.Level(l).String() }

// pressureEvery is how often OnPressure looks.
const pressureEvery = time.Second

// shown is every level that Pressure has shown, for those that follow it.
var shown pressure.Log

var monitor = pressure.Monitor{Limit: memory.GoLimit.Found, Changed: shown.Add}

// readLevel is monitor.Level but in tests.
var readLevel = monitor.Level

// Pressure returns the level now. It reads a few small files, tens of microseconds,
// but not more often than every 100 ms. Pools look by themselves whenever they
// decay: nobody needs to tell them.
func Pressure() Level { return Level(readLevel(memory.OffHeap.Committed())) }

// haste is what the level asks of decay.
func haste() decay.Haste {
	switch Pressure() {
	case PressureHigh:
		return decay.AllAtOnce
	case PressureMedium:
		return decay.Hurry
	}
	return decay.NoHaste
}

// OnPressure calls f with each level that Pressure shows from now on, to whomever, in
// order, and first with the level of now unless that is low; from a goroutine of its own
// and never twice at once. It looks every second until stop is called, so f may hear of
// two levels at once; only where f takes minutes are some left out. f may be running
// still when stop returns, but is not called again. Caches that are no pools of
// dewpond's are what it is for.
func OnPressure(f func(Level)) (stop func()) {
	if f == nil {
		panic("dewpond: OnPressure(nil): give a function to call")
	}
	w := &watcher{f: f, next: shown.Last()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(0, w.look)
	return w.stop
}

// A watcher is one call of OnPressure.
type watcher struct {
	f    func(Level)
	next int   // number of the level that f is to hear of next; look's alone, as is
	last Level // what f has heard last

	mu      sync.Mutex
	stopped bool
	timer   *time.Timer // the next look
}

func (w *watcher) look() {
	if w.ended() {
		return
	}
	Pressure() // so that somebody reads
	for {
		read, next, ok := shown.Next(w.next)
		if !ok {
			break
		}
		w.next = next
		level := Level(read)
		if level == w.last {
			continue
		}
		if w.ended() {
			return
		}
		w.last = level
		w.f(level)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.timer = time.AfterFunc(pressureEvery, w.look)
	}
}

func (w *watcher) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

package pressure

import (
	"sync"
	"time"
)

// Watch calls f with each level that is added to the log from now on, in order, without
// those that repeat the last one, and first with the level that the log ends with unless
// that is the lowest. It calls look and then reads the log at once and every so often,
// until stop is called. Both run on a goroutine of their own, never concurrently with
// themselves. When stop returns f may still be running, but it is not called again.
func (l *Log) Watch(every time.Duration, look func(), f func(Level)) (stop func()) {
	w := &watcher{log: l, every: every, before: look, f: f, next: l.Last()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(0, w.look)
	return w.stop
}

// A watcher is one call of Watch.
type watcher struct {
	log    *Log
	every  time.Duration
	before func() // called before each look
	f      func(Level)
	next   int   // number in the log of the next level for f; only look uses it, and last
	last   Level // what f was last called with

	mu      sync.Mutex
	stopped bool
	timer   *time.Timer // the next look
}

func (w *watcher) look() {
	if w.ended() {
		return
	}
	w.before()
	for {
		level, next, ok := w.log.Next(w.next)
		if !ok {
			break
		}
		w.next = next
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
		w.timer = time.AfterFunc(w.every, w.look)
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

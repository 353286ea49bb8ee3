package check

import (
	"sync"

	"github.com/dewpond/dewpond/internal/bubble"
)

// An errand is work that finds misuse and reports it: by the collector's cleanup, a tick of decay,
// or a Get. What it has found nobody else finds, and its report is made a moment later. So whoever
// must have all reports waits for the errands that have begun: see Await.
type errand struct {
	checker *Checker
	running sync.Mutex // held until the errand has ended

	// A bubble's clock stands still while one of its goroutines waits for a mutex, and an
	// OnViolation may sleep. So within a bubble this channel, which belongs to it, is waited for.
	bubble uint64 // in which the errand runs, or 0
	ended  chan struct{}
}

// errands are those of all Checkers.
var errands struct {
	mu  sync.Mutex // the lock of a shard may be held when it is locked, but no other is while it is held
	all map[*errand]bool
}

// begin begins an errand. It must be called before anybody can see that the misuse has been found.
func (c *Checker) begin() *errand {
	e := &errand{checker: c, bubble: bubble.Here(), ended: make(chan struct{})}
	e.running.Lock()
	errands.mu.Lock()
	defer errands.mu.Unlock()
	if errands.all == nil {
		errands.all = map[*errand]bool{}
	}
	errands.all[e] = true
	return e
}

// end ends an errand, whose reports have been made. It is deferred, because a report may panic.
func (e *errand) end() {
	errands.mu.Lock()
	delete(errands.all, e)
	errands.mu.Unlock()
	close(e.ended)
	e.running.Unlock()
}

func (e *errand) wait() {
	if e.bubble != 0 && e.bubble == bubble.Here() {
		<-e.ended
		return
	}
	e.running.Lock()
	defer e.running.Unlock()
}

// Errand calls f, which takes blocks out of the pool, looks at them, and reports what it finds.
func (c *Checker) Errand(f func()) {
	defer c.begin().end()
	f()
}

// Await waits until the errands that have begun have ended: those of one Checker, or if it is nil
// of all. An errand must not call it.
func Await(c *Checker) {
	var begun []*errand
	errands.mu.Lock()
	for e := range errands.all {
		if c == nil || e.checker == c {
			begun = append(begun, e)
		}
	}
	errands.mu.Unlock()
	for _, e := range begun {
		e.wait()
	}
}

// Package semaphore counts what is out of a pool that has a limit, and has callers wait
// their turn where the limit is reached.
package semaphore

import (
	"container/list"
	"context"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A Semaphore lets up to Limit through. Callers that wait are served in the order in which
// they came. Only AcquireAnyway overtakes them. One without a limit, as the zero
// Semaphore is, counts nothing: only Limit, MustReach and Close may be called.
//
// A release counts first and looks for waiters second; a waiter announces itself first
// and looks at the count second. Both are atomic, so all see them in one order, and one
// of the two finds the other: no wake-up is lost.
type Semaphore struct {
	limit   int64
	out     atomics.Int64 // above limit by what AcquireAnyway took; never below 0
	waiting atomics.Int64 // length of waiters; changed under mu

	mu       atomics.Mutex   // held for a few list operations
	waiters  list.List       // of chan error with room for one; nil is an acquisition
	sleepers bubble.Sleepers // the same
	closed   error           // what waits end with since Close

	pool func() string
}

// Init sets the limit, 0 for none, and how to find the name of the pool, for panics.
func (s *Semaphore) Init(limit int, pool func() string) { s.limit, s.pool = int64(limit), pool }

// Limit returns what Init has set; 0 is no limit.
func (s *Semaphore) Limit() int { return int(s.limit) }

// Waiting returns how many callers of Acquire wait.
func (s *Semaphore) Waiting() int { return int(s.waiting.Load()) }

// TryAcquire reports whether one more may be out, and counts it. It does not overtake
// callers that wait.
func (s *Semaphore) TryAcquire() bool {
	return s.waiting.Load() == 0 && s.count()
}

// count counts one more unless the limit is reached.
func (s *Semaphore) count() bool {
	for out := s.out.Load(); out < s.limit; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out+1) {
			return true
		}
	}
	return false
}

// AcquireAnyway counts one more and reports whether that is within the limit.
func (s *Semaphore) AcquireAnyway() (within bool) { return s.out.Add(1) <= s.limit }

// Release takes one back. Releases of what was never acquired count for nothing. It
// panics where it should wake a caller and cannot.
func (s *Semaphore) Release() {
	s.uncount()
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serveLocked()
	}
}

// uncount takes one back that is counted.
func (s *Semaphore) uncount() {
	for out := s.out.Load(); out > 0; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out-1) {
			break
		}
	}
}

// serveLocked lets the callers in that have waited longest, as many as the limit allows. It
// panics where it cannot wake them.
func (s *Semaphore) serveLocked() {
	for s.waiters.Len() > 0 && s.count() {
		if !s.sleepers.InReach() {
			s.uncount()
			panic(s.sleepers.Apart(s.pool()))
		}
		s.removeLocked(s.waiters.Front()) <- nil
	}
}

// removeLocked takes a waiter out of the list.
func (s *Semaphore) removeLocked(place *list.Element) chan error {
	s.waiting.Add(-1)
	s.sleepers.Leave()
	return s.waiters.Remove(place).(chan error)
}

// Acquire is TryAcquire for a caller that would rather wait: until it is served, ctx is
// done, or Close ends the wait. ctx is looked at only before waiting.
func (s *Semaphore) Acquire(ctx context.Context) error {
	if s.TryAcquire() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	place, served := s.enlist(bubble.Of(time.Now()))
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case err := <-served: // just before we got the lock
		return err
	default:
	}
	s.removeLocked(place)
	return ctx.Err()
}

// enlist makes the caller, in a bubble or with 0 in none, a waiter, unless the semaphore
// is closed.
func (s *Semaphore) enlist(bubble uint64) (place *list.Element, served chan error) {
	served = make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		served <- s.closed
		return nil, served
	}
	if !s.sleepers.Admit(bubble) {
		panic(s.sleepers.Apart(s.pool()))
	}
	place = s.waiters.PushBack(served)
	s.waiting.Add(1)
	s.serveLocked() // for releases that came before anybody could see us
	return place, served
}

// Close ends every wait with err, those to come too. It panics where it cannot. Release
// and TryAcquire count on.
func (s *Semaphore) Close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = err
	s.mustReachLocked()
	for s.waiters.Len() > 0 {
		s.removeLocked(s.waiters.Front()) <- err
	}
}

// MustReach panics where Close would.
func (s *Semaphore) MustReach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustReachLocked()
}

func (s *Semaphore) mustReachLocked() {
	if !s.sleepers.InReach() {
		panic(s.sleepers.Apart(s.pool()))
	}
}

package dewpond

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
)

// A semaphore counts what is out of a Pool that has a Limit. Those who wait for
// it are served in the order in which they came, and nobody overtakes them but
// acquireAnyway.
//
// A release counts first and looks for waiters second; a waiter says that he
// waits first and looks at the count second. Both are atomic, so all see them in
// one order, and one of the two finds the other: no wake-up is lost.
type semaphore struct {
	limit   int64
	out     atomic.Int64 // above limit by what acquireAnyway took; never below 0
	waiting atomic.Int64 // length of waiters; changed under mu

	mu       sync.Mutex      // held for a few list operations
	waiters  list.List       // of chan error with room for one; nil is an acquisition
	sleepers bubble.Sleepers // the same
	closed   bool

	pool string // whose it is
}

// tryAcquire reports whether one more may be out, and counts it.
func (s *semaphore) tryAcquire() bool {
	return s.waiting.Load() == 0 && s.count()
}

// count counts one more unless the limit is reached.
func (s *semaphore) count() bool {
	for out := s.out.Load(); out < s.limit; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out+1) {
			return true
		}
	}
	return false
}

// acquireAnyway counts one more and reports whether that was within the limit.
func (s *semaphore) acquireAnyway() bool { return s.out.Add(1) <= s.limit }

// release takes one back. More releases than acquisitions, objects from
// elsewhere, count for nothing.
func (s *semaphore) release() {
	s.uncount()
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serveLocked()
	}
}

// uncount takes one back that is counted.
func (s *semaphore) uncount() {
	for out := s.out.Load(); out > 0; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out-1) {
			break
		}
	}
}

// serveLocked lets those in who came first, as many as the limit allows. It panics where
// it cannot wake them.
func (s *semaphore) serveLocked() {
	for s.waiters.Len() > 0 && s.count() {
		if !s.sleepers.InReach() {
			s.uncount()
			panic(s.sleepers.Apart(s.pool))
		}
		s.removeLocked(s.waiters.Front()) <- nil
	}
}

// removeLocked takes one that waits out of the list.
func (s *semaphore) removeLocked(place *list.Element) chan error {
	s.waiting.Add(-1)
	s.sleepers.Leave()
	return s.waiters.Remove(place).(chan error)
}

// acquire is tryAcquire for those who would rather wait. ctx is looked at only
// before waiting.
func (s *semaphore) acquire(ctx context.Context) error {
	if s.tryAcquire() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	place, served := s.enlist(bubble.Of(time.Now()))
	if place == nil {
		return ErrClosed
	}
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

// enlist makes the caller, in a bubble or with 0 in none, one of those who wait, unless
// the semaphore is closed.
func (s *semaphore) enlist(bubble uint64) (place *list.Element, served chan error) {
	served = make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	if !s.sleepers.Admit(bubble) {
		panic(s.sleepers.Apart(s.pool))
	}
	place = s.waiters.PushBack(served)
	s.waiting.Add(1)
	s.serveLocked() // for releases that came before anybody could see us
	return place, served
}

// close ends every wait with ErrClosed, those to come too.
func (s *semaphore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.mustReachLocked()
	for s.waiters.Len() > 0 {
		s.removeLocked(s.waiters.Front()) <- ErrClosed
	}
}

// mustReach panics where its caller cannot end a wait.
func (s *semaphore) mustReach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustReachLocked()
}

func (s *semaphore) mustReachLocked() {
	if !s.sleepers.InReach() {
		panic(s.sleepers.Apart(s.pool))
	}
}

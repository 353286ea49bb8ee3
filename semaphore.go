package dewpond

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
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

	mu      sync.Mutex // held for a few list operations
	waiters list.List  // of chan error with room for one; nil is an acquisition
	closed  bool
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
	for out := s.out.Load(); out > 0; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out-1) {
			break
		}
	}
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		s.serveLocked()
		s.mu.Unlock()
	}
}

// serveLocked lets those in who came first, as many as the limit allows.
func (s *semaphore) serveLocked() {
	for s.waiters.Len() > 0 && s.count() {
		s.waiting.Add(-1)
		s.waiters.Remove(s.waiters.Front()).(chan error) <- nil
	}
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
	served := make(chan error, 1)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	place := s.waiters.PushBack(served)
	s.waiting.Add(1)
	s.serveLocked() // for releases that came before anybody could see us
	s.mu.Unlock()

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
	s.waiters.Remove(place)
	s.waiting.Add(-1)
	return ctx.Err()
}

// close ends every wait with ErrClosed, those to come too.
func (s *semaphore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for s.waiters.Len() > 0 {
		s.waiting.Add(-1)
		s.waiters.Remove(s.waiters.Front()).(chan error) <- ErrClosed
	}
}

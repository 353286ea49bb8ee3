// Package semaphore counts what is out of a pool that has a limit. At the limit callers wait
// in order of arrival.
package semaphore

import (
	"cmp"
	"container/list"
	"context"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A Semaphore lets up to Limit acquisitions be out. Callers that wait are served in order of
// arrival; only AcquireAnyway overtakes them. The zero Semaphore has no limit and counts
// nothing: then only Limit, MustReach and Close may be called.
//
// A release counts first and looks for waiters second; a waiter announces itself first and
// looks at the count second. Both are atomic, so all goroutines see them in one order, and
// one of the two sees the other: no wake-up is lost.
type Semaphore struct {
	limit   int64
	out     atomics.Int64 // AcquireAnyway may take it above limit; never below 0
	waiting atomics.Int64 // length of waiters; changed under mu

	mu       atomics.Mutex   // held for a few list operations
	waiters  list.List       // of chan error with room for one; nil means acquired
	sleepers bubble.Sleepers // the same waiters
	closed   error           // the error of waits since Close

	slept bubble.Slept // in Acquire

	pool func() string
}

// Init sets the limit; 0 means none. pool returns the name of the pool, for panics.
func (s *Semaphore) Init(limit int, pool func() string) { s.limit, s.pool = int64(limit), pool }

// Limit returns the limit; 0 means none.
func (s *Semaphore) Limit() int { return int(s.limit) }

// Waiting returns how many callers wait in Acquire.
func (s *Semaphore) Waiting() int { return int(s.waiting.Load()) }

// Waits returns how many calls of Acquire slept, and for how long together.
func (s *Semaphore) Waits() (n uint64, slept time.Duration) { return s.slept.Load() }

// TryAcquire counts one more if the limit allows it, and reports whether it does. It does not
// overtake callers that wait.
func (s *Semaphore) TryAcquire() bool {
	return s.waiting.Load() == 0 && s.count()
}

// count counts one more unless the limit is reached, and reports whether it did.
func (s *Semaphore) count() bool {
	for out := s.out.Load(); out < s.limit; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out+1) {
			return true
		}
	}
	return false
}

// AcquireAnyway counts one more, even past the limit, and reports whether it is within it.
func (s *Semaphore) AcquireAnyway() (within bool) { return s.out.Add(1) <= s.limit }

// Release gives one acquisition back. A Release without an acquisition has no effect. It panics
// if it should wake a caller and cannot.
func (s *Semaphore) Release() {
	s.uncount()
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serveLocked()
	}
}

// Forget is Release where the caller must not wake anybody. It panics if somebody waits, who would do so
// forever.
func (s *Semaphore) Forget() {
	if s.uncount(); s.Waiting() > 0 {
		s.MustReach()
	}
}

// uncount subtracts one unless the count is 0.
func (s *Semaphore) uncount() {
	for out := s.out.Load(); out > 0; out = s.out.Load() {
		if s.out.CompareAndSwap(out, out-1) {
			break
		}
	}
}

// serveLocked lets waiting callers acquire, oldest first, as many as the limit allows. It
// panics if it cannot wake them.
func (s *Semaphore) serveLocked() {
	for s.waiters.Len() > 0 && s.count() {
		if !s.sleepers.InReach() {
			s.uncount()
			if s.buryLocked() {
				return
			}
			panic(s.sleepers.Apart(s.pool()))
		}
		s.removeLocked(s.waiters.Front()) <- nil
	}
}

// removeLocked removes a waiter from the list.
func (s *Semaphore) removeLocked(place *list.Element) chan error {
	s.waiting.Add(-1)
	s.sleepers.Leave()
	return s.waiters.Remove(place).(chan error)
}

// Acquire is TryAcquire that waits at the limit until it is served, ctx is done, or Close ends
// the wait. It looks at ctx only if it has to wait.
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
	default:
	}
	defer s.slept.Since(time.Now())
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case err := <-served: // served just before mu was locked
		return err
	default:
	}
	s.removeLocked(place)
	return cmp.Or(ctx.Err(), context.Canceled) // a careless Context is done without an error
}

// enlist makes the caller a waiter, unless the semaphore is closed. bubble is the caller's
// bubble, or 0.
func (s *Semaphore) enlist(bubble uint64) (place *list.Element, served chan error) {
	served = make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		served <- s.closed
		return nil, served
	}
	if !s.sleepers.Admit(bubble) && !(s.buryLocked() && s.sleepers.Admit(bubble)) {
		panic(s.sleepers.Apart(s.pool()))
	}
	place = s.waiters.PushBack(served)
	s.waiting.Add(1)
	s.serveLocked() // for releases that came before anybody could see us
	return place, served
}

// Close ends every wait with err, now and later. It panics if it cannot. Release and TryAcquire
// continue to count.
func (s *Semaphore) Close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = err
	s.mustReachLocked()
	for s.waiters.Len() > 0 {
		s.removeLocked(s.waiters.Front()) <- err
	}
}

// MustReach panics if Close would.
func (s *Semaphore) MustReach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustReachLocked()
}

func (s *Semaphore) mustReachLocked() {
	if !s.sleepers.InReach() && !s.buryLocked() {
		panic(s.sleepers.Apart(s.pool()))
	}
}

// buryLocked forgets the waiters if their bubble has ended, and reports whether it has.
func (s *Semaphore) buryLocked() bool {
	if !s.sleepers.Gone() {
		return false
	}
	for s.waiters.Len() > 0 {
		s.removeLocked(s.waiters.Front())
	}
	return true
}

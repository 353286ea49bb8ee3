package semaphore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/go125/synctest"
)

func newSemaphore(limit int) *Semaphore {
	s := new(Semaphore)
	s.Init(limit, func() string { return "the pool" })
	return s
}

// full returns a semaphore at its limit.
func full(limit int) *Semaphore {
	s := newSemaphore(limit)
	for range limit {
		s.TryAcquire()
	}
	return s
}

// expect acquires all that can be acquired at once, and fails the test unless that is free.
func expect(t *testing.T, s *Semaphore, free int) {
	t.Helper()
	n := 0
	for s.TryAcquire() {
		n++
	}
	if n != free {
		t.Errorf("%d could be acquired, want %d", n, free)
	}
}

// panics returns the text that f panics with.
func panics(f func()) (text string) {
	defer func() { text, _ = recover().(string) }()
	f()
	return ""
}

func TestCounts(t *testing.T) {
	s := newSemaphore(3)
	if s.Limit() != 3 {
		t.Errorf("the limit is %d", s.Limit())
	}
	expect(t, s, 3)
	s.Release()
	expect(t, s, 1)
	if s.AcquireAnyway() {
		t.Error("AcquireAnyway says that one more than the limit is within it")
	}
	s.Release()
	expect(t, s, 0) // as many as the limit are still out
	s.Release()
	if !s.AcquireAnyway() {
		t.Error("AcquireAnyway says that the last within the limit is above it")
	}
	for range 3 {
		s.Release()
	}
	for range 5 {
		s.Release() // without an acquisition
	}
	expect(t, s, 3)
}

// While a caller waits, what is free for a moment is reserved for it: no other call may take
// it between the count of a release and its look at the waiters.
func TestTryAcquireOvertakesNobody(t *testing.T) {
	s := newSemaphore(1)
	s.waiting.Add(1)
	if s.TryAcquire() {
		t.Error("a waiter was overtaken")
	}
}

func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := full(2)
		var order []int
		for i := range 5 {
			go func() {
				if err := s.Acquire(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, i)
			}()
			synctest.Wait()
		}
		for n := range 5 {
			if len(order) != n || s.Waiting() != 5-n {
				t.Fatalf("after %d releases %d were served and %d wait", n, len(order), s.Waiting())
			}
			s.Release()
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("served in the order %v", order)
		}
		expect(t, s, 0)
	})
}

// A waiter finds a release that came before it was in the list.
func TestWaiterLooksAgain(t *testing.T) {
	s := full(1)
	s.uncount() // the first half of Release, which saw no waiter
	if _, served := s.enlist(0); len(served) != 1 || <-served != nil || s.Waiting() != 0 {
		t.Error("a caller waits though nothing is out")
	}
	expect(t, s, 0)
	s.MustReach() // there are no waiters
}

func TestAcquireHeedsItsContext(t *testing.T) {
	why := errors.New("why")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	s := newSemaphore(1)
	if err := s.Acquire(ended); err != nil {
		t.Errorf("with nothing out: %v", err)
	}
	if err := s.Acquire(ended); err != context.Canceled {
		t.Errorf("with all out: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- s.Acquire(ctx) }()
			synctest.Wait()
		}
		cancel()
		if a, b := <-errs, <-errs; a != context.Canceled || b != context.Canceled || s.Waiting() != 0 {
			t.Errorf("two waits ended with %v and %v, and %d go on", a, b, s.Waiting())
		}
	})
	s.Release()
	expect(t, s, 1)
}

// A waiter that is served at the moment its context ends does not lose the acquisition.
func TestGrantBeatsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // because select may choose either
			s := full(1)
			ctx, cancel := context.WithCancel(t.Context())
			var acquired bool
			go func() { acquired = s.Acquire(ctx) == nil }()
			synctest.Wait()
			s.mu.Lock()
			cancel()
			s.uncount()
			s.serveLocked()
			s.mu.Unlock()
			synctest.Wait()
			if !acquired {
				t.Fatal("the acquisition is lost")
			}
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	closed := errors.New("closed")
	synctest.Test(t, func(t *testing.T) {
		s := full(1)
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- s.Acquire(t.Context()) }()
		}
		synctest.Wait()
		s.Close(closed)
		if a, b := <-errs, <-errs; a != closed || b != closed || s.Waiting() != 0 {
			t.Errorf("two waits ended with %v and %v, and %d go on", a, b, s.Waiting())
		}
		if err := s.Acquire(t.Context()); err != closed {
			t.Errorf("a wait that begins later: %v", err)
		}
		s.Release()
		expect(t, s, 1)
	})
	var unlimited Semaphore
	unlimited.MustReach()
	unlimited.Close(closed)
}

// A waiter in a bubble can be woken only from within it.
func TestWaiterInBubbleIsOutOfReach(t *testing.T) {
	s := full(1)
	outside := make(chan func(), 1)
	done := make(chan string)
	go func() {
		for f := range outside {
			done <- panics(f)
		}
	}()
	defer close(outside)
	try := func(f func()) string { outside <- f; return <-done }
	synctest.Test(t, func(t *testing.T) {
		var err error
		go func() { err = s.Acquire(t.Context()) }()
		synctest.Wait()
		for i, f := range []func(){
			s.Release,
			s.MustReach,
			func() { _ = s.Acquire(context.Background()) },
			func() { s.Close(errors.New("closed")) },
		} {
			if text := try(f); !strings.Contains(text, `pool "the pool"`) {
				t.Errorf("call %d from outside panics with %q", i, text)
			}
		}
		if out := s.out.Load(); out != 0 {
			t.Errorf("%d are out after a Release that woke nobody", out)
		}
		s.Release() // Release outside has already counted it
		synctest.Wait()
		if err != nil || s.Waiting() != 0 {
			t.Errorf("from within, Release: %v, %d wait", err, s.Waiting())
		}
	})
	expect(t, s, 0)
	s.MustReach() // there are no waiters
}

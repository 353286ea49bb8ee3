package store_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// Every way of a connection is walked on each pool, over a server that hangs where a loan must
// last, and seen in the pool's statistics: reuse, new, wait, time out, and closed by the idle
// bound, by age and by idle time.
func TestWays(t *testing.T) {
	for _, client := range []*store.Client{store.PgxPool, store.PgxSQL, store.PQ} {
		t.Run(client.String(), func(t *testing.T) {
			t.Run("new and reuse", func(t *testing.T) { newAndReuse(t, client) })
			t.Run("wait and time out", func(t *testing.T) { waitAndTimeOut(t, client) })
			if client != store.PgxPool {
				t.Run("idle bound", func(t *testing.T) { idleBound(t, client) })
			}
			t.Run("age", func(t *testing.T) { age(t, client) })
			t.Run("idle time", func(t *testing.T) { idleTime(t, client) })
		})
	}
}

// on opens a pool on a stand-in of its own.
func on(t testing.TB, o store.PoolOptions) (*standin.Postgres, store.Store) {
	t.Helper()
	p, err := standin.NewPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	o.Timeout = time.Hour
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), p.DSN(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return p, s
}

// until polls a pool for a state.
func until(s store.Store, is func(store.PoolStats) bool) {
	for !is(s.PoolStats()) {
		runtime.Gosched()
	}
}

// ask asks for a user n times at once. The channel has each one's error.
func ask(ctx context.Context, s store.Store, n int) <-chan error {
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := s.User(ctx, 7)
			errs <- err
		}()
	}
	return errs
}

// lent has n connections lent at once, and then back.
func lent(t *testing.T, p *standin.Postgres, s store.Store, n int) {
	t.Helper()
	p.Hang()
	errs := ask(t.Context(), s, n)
	until(s, func(st store.PoolStats) bool { return st.InUse == int64(n) })
	p.Resume()
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	until(s, func(st store.PoolStats) bool { return st.InUse == 0 })
}

func newAndReuse(t *testing.T, client *store.Client) {
	p, s := on(t, store.PoolOptions{Client: client, MaxOpen: 3, Health: liveness.Off})
	lent(t, p, s, 3)
	for range 5 {
		if _, err := s.User(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
	}
	st := s.PoolStats()
	if st.Made != 3 || st.Acquired != 8 || st.Idle != 3 || st.Reuse() != 1-3.0/8 {
		t.Errorf("3 at once and 5 one after the other: %+v, reuse %v", st, st.Reuse())
	}
}

func waitAndTimeOut(t *testing.T, client *store.Client) {
	p, s := on(t, store.PoolOptions{Client: client, MaxOpen: 1, Health: liveness.Off})
	lent(t, p, s, 1)
	// pgxpool does not say that somebody waits until it is over, so that a loan may come too late
	// to wait: then another comes.
	before := s.PoolStats().Waited
	for s.PoolStats().Waited == before {
		p.Hang()
		first := ask(t.Context(), s, 1)
		until(s, func(st store.PoolStats) bool { return st.InUse == 1 })
		second := ask(t.Context(), s, 1)
		for range 100 {
			runtime.Gosched()
		}
		p.Resume()
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
	}
	if st := s.PoolStats(); st.Made != 1 || st.WaitTime <= 0 || st.TimedOut != 0 {
		t.Errorf("one connection was enough, for those who waited: %+v", st)
	}

	p.Hang()
	first := ask(t.Context(), s, 1)
	until(s, func(st store.PoolStats) bool { return st.InUse == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	second := ask(ctx, s, 1)
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("a loan that was given up: %v", err)
	}
	p.Resume()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if st := s.PoolStats(); st.TimedOut != 1 || st.Made != 1 {
		t.Errorf("after a loan was given up: %+v", st)
	}
}

func idleBound(t *testing.T, client *store.Client) {
	p, s := on(t, store.PoolOptions{Client: client, MaxOpen: 3, MaxIdle: 1, Health: liveness.Off})
	lent(t, p, s, 3)
	if st := s.PoolStats(); st.ClosedIdle != 2 || st.Idle != 1 || st.ClosedAge+st.ClosedIdleTime != 0 {
		t.Errorf("3 came back where 1 may be idle: %+v", st)
	}
}

func age(t *testing.T, client *store.Client) {
	lifetime := time.Duration(1)
	if client == store.PgxPool {
		// It lends none that is too old, and gives up after a few: it must live until it is lent.
		lifetime = time.Second
	}
	_, s := on(t, store.PoolOptions{Client: client, MaxOpen: 1, MaxLifetime: lifetime, Health: liveness.Off})
	for s.PoolStats().Made == 0 {
		s.User(t.Context(), 7)
	}
	until(s, func(st store.PoolStats) bool { return st.ClosedAge == st.Made && st.Idle == 0 })
	if st := s.PoolStats(); st.ClosedIdle+st.ClosedIdleTime != 0 {
		t.Errorf("each was too old: %+v", st)
	}
}

func idleTime(t *testing.T, client *store.Client) {
	p, s := on(t, store.PoolOptions{Client: client, MaxOpen: 3, MaxIdleTime: 1, Health: liveness.Off})
	lent(t, p, s, 3)
	until(s, func(st store.PoolStats) bool { return st.ClosedIdleTime == 3 && st.Idle == 0 })
	if st := s.PoolStats(); st.Made != 3 || st.ClosedIdle+st.ClosedAge != 0 {
		t.Errorf("3 were idle for too long: %+v", st)
	}
}

package store

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// alive reports whether a connection that was idle can be used.
func alive(ctx context.Context, c *pgx.Conn, within time.Duration) bool {
	return liveness.Alive(ctx, c.PgConn().Conn(), c.Ping, within)
}

// fewAtOnce is how many connections are pinged at once.
const fewAtOnce = 4

// ping has idle connections pinged every so often, until Close.
func (s *pgxStore) ping(every, within time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	var pinging sync.WaitGroup
	pinging.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.PingIdle(ctx, within)
			case <-ctx.Done():
				return
			}
		}
	})
	s.stop = func() {
		cancel()
		pinging.Wait()
	}
}

// PingIdle pings every idle connection once, and closes those that do not answer; it returns how
// many these were. A few are pinged at a time, and never all where there are several: the others
// go back at once.
func (s *pgxStore) PingIdle(ctx context.Context, within time.Duration) (dead int) {
	done := map[*pgx.Conn]bool{}
	for ctx.Err() == nil {
		some := s.some(ctx, done)
		if len(some) == 0 {
			return dead
		}
		var pinging sync.WaitGroup
		answers := make([]error, len(some))
		for i, c := range some {
			done[c.Conn()] = true
			pinging.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, within)
				answers[i] = c.Conn().Ping(ctx)
				cancel()
				if answers[i] != nil {
					c.Conn().Close(ctx) // without a word to the server, for ctx has ended
				}
			})
		}
		pinging.Wait()
		for i, c := range some {
			if answers[i] != nil {
				dead++
			}
			giveBack(c)
		}
	}
	return dead
}

// some takes a few idle connections that are not done.
func (s *pgxStore) some(ctx context.Context, done map[*pgx.Conn]bool) (some []*pgxpool.Conn) {
	idle := s.Pool.AcquireAllIdle(ctx)
	most := min(fewAtOnce, max(1, len(idle)-1))
	for _, c := range idle {
		if len(some) < most && !done[c.Conn()] {
			some = append(some, c)
		} else {
			c.Release()
		}
	}
	return some
}

package store_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// unsure is a ping for where the system does not say that a connection is quiet.
func unsure(context.Context) error { return errors.New("not asked") }

func TestHealthOptions(t *testing.T) {
	for client, want := range map[*store.Client]string{store.PgxPool: "both", store.PgxSQL: "fastfail", store.PQ: "off"} {
		o := store.PoolOptions{Client: client}
		if err := o.Validate(); err != nil || o.Health != want {
			t.Errorf("%s: %s, %v; want %s", client, o.Health, err, want)
		}
	}
	for _, o := range []store.PoolOptions{{Health: "well"}, {Client: store.PgxSQL, Health: "both"}, {Client: store.PQ, Health: "fastfail"}} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "give ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Of 20 connections that the server kills while they are idle, a request notices none where each
// is peeked at or pinged before, and all where nobody looks. The first to be asked are as many as
// there are connections, all at once.
func TestKilledConnections(t *testing.T) {
	const n = 20
	for _, tt := range []struct {
		client *store.Client
		health string
		failed int
	}{
		{store.PgxPool, liveness.Off, n},
		{store.PgxPool, liveness.FastFail, 0},
		{store.PgxPool, liveness.Ping, 0},
		{store.PgxPool, liveness.Both, 0},
		{store.PgxSQL, liveness.FastFail, 0},
	} {
		t.Run(tt.client.String()+" "+tt.health, func(t *testing.T) {
			p, s := on(t, store.PoolOptions{Client: tt.client, MaxOpen: n, Health: tt.health, PingEvery: time.Hour, PingTimeout: time.Hour})
			lent(t, p, s, n)
			open := sockets(t, s, n)
			if killed := p.Kill(); killed != n {
				t.Fatalf("%d are killed, want %d", killed, n)
			}
			for p.Connections() > 0 {
				runtime.Gosched()
			}
			for _, c := range open { // until the news is here too
				for liveness.Alive(t.Context(), c, unsure, time.Hour) {
					runtime.Gosched()
				}
			}
			if liveness.Pings(tt.health) {
				s.(*store.PgxStore).PingIdle(t.Context(), time.Hour) // what the background does
			}
			p.Hang() // so that each request has a connection of its own
			errs := ask(t.Context(), s, n)
			until(s, func(st store.PoolStats) bool { return st.InUse+int64(len(errs)) >= n })
			p.Resume()
			failed := 0
			for range n {
				if <-errs != nil {
					failed++
				}
			}
			if failed != tt.failed {
				t.Errorf("%d requests failed, want %d", failed, tt.failed)
			}
		})
	}
}

// sockets are those of the n idle connections of a pool.
func sockets(t *testing.T, s store.Store, n int) (open []net.Conn) {
	t.Helper()
	if pool, ok := s.(*store.PgxStore); ok {
		for _, c := range pool.Pool.AcquireAllIdle(t.Context()) {
			open = append(open, c.Conn().PgConn().Conn())
			defer c.Release()
		}
	} else {
		for range n {
			c, err := s.(*store.SQLStore).DB.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.Raw(func(c any) error {
				open = append(open, c.(*stdlib.Conn).Conn().PgConn().Conn())
				return nil
			})
		}
	}
	if len(open) != n {
		t.Fatalf("%d connections are idle, want %d", len(open), n)
	}
	return open
}

// Idle connections that are alive are kept by a ping, each is pinged once, and a hung server's are
// given up after the ping's time.
func TestPingIdle(t *testing.T) {
	p, s := on(t, store.PoolOptions{MaxOpen: 9, Health: liveness.Off})
	lent(t, p, s, 9)
	pool := s.(*store.PgxStore)
	if dead := pool.PingIdle(t.Context(), time.Hour); dead != 0 || s.PoolStats().Idle != 9 {
		t.Errorf("%d of 9 are taken for dead: %+v", dead, s.PoolStats())
	}
	p.Hang()
	dead := pool.PingIdle(t.Context(), time.Nanosecond)
	p.Resume()
	if dead != 9 {
		t.Errorf("%d of 9 are taken for dead while the server hangs", dead)
	}
	until(s, func(st store.PoolStats) bool { return st.Idle == 0 })
	if _, err := s.User(t.Context(), 7); err != nil {
		t.Errorf("after the server is back: %v", err)
	}
}

// What it costs an acquire to look, where nothing is wrong.
func BenchmarkAcquire(b *testing.B) {
	for _, bb := range []struct {
		name, health string
		ping         bool
	}{{"never", liveness.Off, false}, {"peek", liveness.FastFail, false}, {"ping", liveness.Off, true}} {
		b.Run(bb.name, func(b *testing.B) {
			_, s := on(b, store.PoolOptions{MaxOpen: 1, Health: bb.health})
			pool := s.(*store.PgxStore).Pool
			for b.Loop() {
				c, err := pool.Acquire(b.Context())
				if err == nil && bb.ping {
					err = c.Ping(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
				c.Release()
			}
		})
	}
}

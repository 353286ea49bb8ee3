package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

func TestPoolOptions(t *testing.T) {
	for _, tt := range []struct {
		o    store.PoolOptions
		says string
	}{
		{store.PoolOptions{}, ""},
		{store.PoolOptions{Client: store.PgxSQL, MaxOpen: 20, MaxIdle: 20}, ""},
		{store.PoolOptions{MaxOpen: -1}, "give 1 or more"},
		{store.PoolOptions{MaxIdle: 20}, "pgxpool has no bound on idle connections"},
		{store.PoolOptions{Client: store.PQ, MaxOpen: 16, MaxIdle: 20}, "--db-max-idle 20 is above --db-max-open 16"},
		{store.PoolOptions{Client: store.PQ, MaxIdle: -1}, "then all may be idle"},
		{store.PoolOptions{MaxLifetime: -1}, "give a time such as 30m"},
		{store.PoolOptions{MinIdle: 50}, ""},
		{store.PoolOptions{MinIdle: 51}, "--db-min-idle 51 of --db-max-open 50: no more can be idle than are open: give 0 to 50"},
		{store.PoolOptions{MinIdle: -1}, "give 0 to 50"},
		{store.PoolOptions{Client: store.PgxSQL, MinIdle: 5}, "--db-min-idle 5: pgx-sql opens no connection before somebody asks: leave it out, or give --db-client pgxpool"},
	} {
		err := tt.o.Validate()
		if tt.says == "" && (err != nil || tt.o.MaxIdle != tt.o.MaxOpen || tt.o.Client == nil) {
			t.Errorf("%+v: %v", tt.o, err)
		}
		if tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.says)
		}
	}
}

// As many connections are open as are to be idle before anybody has asked. Where the server does not take
// them, it is said how many there are.
func TestWarm(t *testing.T) {
	p, s := on(t, store.PoolOptions{MinIdle: 5})
	if err := store.Warm(t.Context(), s, 5); err != nil {
		t.Fatal(err)
	}
	if stats := s.PoolStats(); stats.Idle != 5 || stats.Acquired != 0 || p.Connections() < 5 {
		t.Errorf("%+v, and the server has %d", stats, p.Connections())
	}
	_, none := on(t, store.PoolOptions{})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Warm(over, none, 5); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "0 of 5 connections are open: ") {
		t.Errorf("of a pool that keeps none: %v", err)
	}
	if err := store.Warm(over, none, 0); err != nil {
		t.Errorf("none are wanted: %v", err)
	}
}

// A pool that is larger than its server is refused with both numbers and one that fits.
func TestFit(t *testing.T) {
	p, err := standin.NewPostgres()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := pgx.Connect(t.Context(), p.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	const want = "--db-max-open 150: the server takes 100 connections and keeps 3 of them for superusers: give at most 97"
	err = store.Fit(t.Context(), c, 150)
	if !errors.As(err, new(*store.BoundError)) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := store.Fit(t.Context(), c, 97); err != nil {
		t.Error(err)
	}
}

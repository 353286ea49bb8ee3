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

package main

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// What a flag names is chosen here, and given to the service as a value. Nothing else knows the names.

// source is what --memory names.
func (c *serveCommand) source(pool *dewpond.BytePool) (memory.Source, error) {
	switch name := cmp.Or(c.Memory, "dewpond"); name {
	case "dewpond":
		return memory.Dewpond(pool), nil
	case "sync.Pool":
		return memory.SyncPool(), nil
	case "none":
		return memory.None(), nil
	default:
		return nil, command.UsageError{Err: fmt.Errorf("--memory %s: give dewpond, sync.Pool or none", name)}
	}
}

// client is what --db-client names.
func (c *serveCommand) client() (*store.Client, error) {
	switch name := cmp.Or(c.DBClient, "pgxpool"); name {
	case "pgxpool":
		return store.PgxPool, nil
	case "pgx-sql":
		return store.PgxSQL, nil
	case "pq":
		return store.PQ, nil
	default:
		return nil, command.UsageError{Err: fmt.Errorf("--db-client %s: give pgxpool, pgx-sql or pq", name)}
	}
}

// transport is what --scorer-transport names.
func (c *serveCommand) transport() *http.Transport {
	if c.ScorerTransport == "default" {
		return http.DefaultTransport.(*http.Transport).Clone()
	}
	return upstream.Transport()
}

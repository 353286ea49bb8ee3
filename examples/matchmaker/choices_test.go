package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// Each name of a flag is another value, the empty one the first, and a name that is none is refused with
// those that are.
func TestChoices(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	sources := map[any]bool{}
	for _, name := range []string{"dewpond", "sync.Pool", "none"} {
		s, err := (&serveCommand{Memory: name}).source(pool)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sources[s] = true
	}
	clients := map[*store.Client]bool{}
	for _, name := range []string{"pgxpool", "pgx-sql", "pq"} {
		c, err := (&serveCommand{DBClient: name}).client()
		if err != nil || c.String() != name {
			t.Errorf("%s is the client %v, %v", name, c, err)
		}
		clients[c] = true
	}
	if len(sources) != 3 || len(clients) != 3 {
		t.Errorf("%d sources of memory and %d clients, want 3 each", len(sources), len(clients))
	}
	if c, err := new(serveCommand).client(); c != store.PgxPool || err != nil {
		t.Errorf("no name is the client %v, %v", c, err)
	}
	_, source := (&serveCommand{Memory: "stack"}).source(pool)
	_, client := (&serveCommand{DBClient: "odbc"}).client()
	for err, want := range map[error]string{source: "give dewpond, sync.Pool or none", client: "give pgxpool, pgx-sql or pq"} {
		if !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error of usage that says: %s", err, want)
		}
	}
}

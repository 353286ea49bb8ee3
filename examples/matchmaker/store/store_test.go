package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// Every test of a Store runs on a stand-in, and on a real PostgreSQL where there is one.
func onEach(t *testing.T, f func(t *testing.T, dsn string)) {
	t.Run("stand-in", func(t *testing.T) {
		p, err := standin.NewPostgres()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		f(t, p.DSN())
	})
	t.Run("real", func(t *testing.T) { f(t, realDatabase(t)) })
}

// TestMain ends what private has started.
func TestMain(m *testing.M) {
	realserver.RunMonitor()
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// private starts a PostgreSQL for all tests of this program, with the first that needs it.
var private = sync.OnceValues(func() (string, error) {
	s, err := realserver.Start(realserver.Spec{Postgres: true})
	if err != nil {
		return "", err
	}
	end = s.Close
	return s.Postgres, nil
})

var end = func() error { return nil }

// realDatabase makes a database of its own on the server that MATCHMAKER_TEST_POSTGRES names, or
// on a private one.
func realDatabase(t *testing.T) string {
	t.Helper()
	base := os.Getenv("MATCHMAKER_TEST_POSTGRES")
	if base == "" {
		if testing.Short() {
			t.Skip("starts a PostgreSQL; the run without -short does")
		}
		var err error
		if base, err = private(); errors.Is(err, realserver.ErrMissing) {
			t.Skipf("needs a PostgreSQL (install it, or MATCHMAKER_TEST_POSTGRES=DSN): %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	config, err := pgx.ParseConfig(base)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("matchmaker_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := c.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		c.Close(t.Context())
		t.Fatalf("needs a user who may make databases (MATCHMAKER_TEST_POSTGRES=DSN): %v", err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if _, err := c.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		c.Close(ctx)
	})
	return fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", url.UserPassword(config.User, config.Password), config.Host, config.Port, name)
}

// open opens a store, which makes the schema where there is none.
func open(t *testing.T, dsn string) store.Store { return openBy(t, dsn, store.PgxPool) }

// openBy is open with one of the clients.
func openBy(t *testing.T, dsn string, client *store.Client) store.Store {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	for range 2 { // the second finds it
		if err := store.Prepare(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	o := store.PoolOptions{Client: client, Timeout: time.Hour}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// What each statement is described as, and the rows that it returns, are the same everywhere.
func TestStatements(t *testing.T) {
	onEach(t, func(t *testing.T, dsn string) {
		open(t, dsn)
		c, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		for _, tt := range []struct {
			sql   string
			args  []any
			shape string
			rows  string
		}{
			{store.SelectVersion, nil, "[] -> version:23", "[[1]]"},
			{store.SelectUser, []any{42}, "[20] -> uid:20 name:25 age:23 region:25 interests:20 min_age:23 max_age:23 popularity:23 version:20", ""},
			{store.SelectUser, []any{store.Users + 1}, "", "[]"},
			{store.UpdateUser, []any{7, "Änne", 33, 5, 30, 40}, "[20 25 23 20 23 23] -> uid:20 name:25 age:23 region:25 interests:20 min_age:23 max_age:23 popularity:23 version:20", ""},
			{store.SelectCandidates, []any{store.West, 30, 31, 100, 3}, "[25 23 23 20 20] -> uid:20 name:25 age:23 interests:20", ""},
			{store.SelectCandidates, []any{store.West, 100, 100, 100, 3}, "", "[]"},
			{store.SelectPopular, []any{store.East, 5}, "[25 20] -> uid:20", ""},
			{store.InsertMessage, []any{1, 2, 1, 99, "hi"}, "[20 20 20 20 25] -> id:20", "[[1]]"},
			{store.InsertMessage, []any{1, 2, 1, 99, "again"}, "", "[[1]]"},
			{store.SelectMessages, []any{2, 1, 10}, "[20 20 20] -> id:20 sender:20 recipient:20 seq:20 nonce:20 body:25", "[[1 1 2 1 99 hi]]"},
			{store.UpsertPhoto, []any{3, []byte{1, 2}}, "[20 17] ->", "[]"},
			{store.UpsertPhoto, []any{3, []byte{3}}, "", "[]"},
			{store.SelectPhoto, []any{3}, "[20] -> jpeg:17", "[[[3]]]"},
			{store.SelectConnections, nil, "[] -> current_setting:23 current_setting:23", ""},
		} {
			d, err := c.Prepare(t.Context(), tt.sql, tt.sql)
			if err != nil {
				t.Fatalf("%s: %v", tt.sql, err)
			}
			shape := fmt.Sprint(d.ParamOIDs, " ->")
			if len(d.ParamOIDs) == 0 {
				shape = "[] ->"
			}
			for _, f := range d.Fields {
				shape += fmt.Sprintf(" %s:%d", f.Name, f.DataTypeOID)
			}
			if tt.shape != "" && shape != tt.shape {
				t.Errorf("%s\nis %s\nwant %s", tt.sql, shape, tt.shape)
			}
			rows, err := c.Query(t.Context(), tt.sql, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			got := [][]any{}
			for rows.Next() {
				v, err := rows.Values()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, v)
			}
			if rows.Err() != nil {
				t.Fatalf("%s: %v", tt.sql, rows.Err())
			}
			want := tt.rows
			if want == "" {
				want = expected(tt.sql, got)
			}
			if text := fmt.Sprint(got); text != want {
				t.Errorf("%s %v\nreturns %s\nwant    %s", tt.sql, tt.args, text, want)
			}
		}
	})
}

// What a server refuses, it refuses with the same code everywhere.
func TestErrorCodes(t *testing.T) {
	onEach(t, func(t *testing.T, dsn string) {
		open(t, dsn)
		c, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		raw := func(args ...string) error {
			var values [][]byte
			for _, a := range args {
				values = append(values, []byte(a))
			}
			return c.PgConn().ExecParams(t.Context(), store.SelectUser, values, nil, nil, nil).Read().Err
		}
		exec := func(sql string, args ...any) error {
			_, err := c.Exec(t.Context(), sql, args...)
			return err
		}
		for _, tt := range []struct {
			what string
			err  error
			code string
		}{
			{"a message to nobody", exec(store.InsertMessage, 1, 0, 1, 0, "hi"), "23503"},
			{"a message of nobody", exec(store.InsertMessage, 0, 1, 1, 0, "hi"), "23503"},
			{"a photo of nobody", exec(store.UpsertPhoto, 0, []byte{1}), "23503"},
			{"an argument that is no number", raw("x"), "22P02"},
			{"an argument too few", raw(), "08P01"},
			{"a prepared statement that is not there", c.PgConn().ExecPrepared(t.Context(), "nope", nil, nil, nil).Read().Err, "26000"},
		} {
			var refused *pgconn.PgError
			if !errors.As(tt.err, &refused) || refused.Code != tt.code {
				t.Errorf("%s: %v, want %s", tt.what, tt.err, tt.code)
			}
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("after the errors: %v", err)
		}
	})
}

// expected is what the seed says of the rows of some statements.
func expected(sql string, got [][]any) string {
	row := func(u store.User) []any {
		return []any{u.UID, u.Name, u.Age, u.Region, u.Interests, u.MinAge, u.MaxAge, u.Popularity, u.Version}
	}
	switch sql {
	case store.SelectUser:
		return fmt.Sprint([][]any{row(store.Seeded(42))})
	case store.UpdateUser:
		u := store.Seeded(7)
		u.Name, u.Age, u.Interests, u.MinAge, u.MaxAge, u.Version = "Änne", 33, 5, 30, 40, 2
		return fmt.Sprint([][]any{row(u)})
	case store.SelectCandidates:
		var want [][]any
		for uid := int64(101); len(want) < 3; uid++ {
			if u := store.Seeded(uid); u.Region == store.West && (u.Age == 30 || u.Age == 31) {
				want = append(want, []any{u.UID, u.Name, u.Age, u.Interests})
			}
		}
		return fmt.Sprint(want)
	case store.SelectPopular:
		best := [][]any{}
		for range 5 {
			var top store.User
			for uid := int64(store.Users); uid > 0; uid-- {
				u := store.Seeded(uid)
				taken := false
				for _, b := range best {
					taken = taken || b[0] == uid
				}
				if !taken && u.Region == store.East && u.Popularity >= top.Popularity {
					top = u
				}
			}
			best = append(best, []any{top.UID})
		}
		return fmt.Sprint(best)
	}
	return fmt.Sprint(got) // a server's own settings
}

// Every client finds, refuses and times the same.
func TestErrors(t *testing.T) {
	onEach(t, func(t *testing.T, dsn string) {
		for _, client := range []*store.Client{store.PgxPool, store.PgxSQL, store.PQ} {
			t.Run(client.String(), func(t *testing.T) { refuses(t, openBy(t, dsn, client)) })
		}
	})
}

func refuses(t *testing.T, s store.Store) {
	ctx := t.Context()
	if _, err := s.User(ctx, 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a user that is not there: %v", err)
	}
	if _, err := s.PutUser(ctx, store.User{UID: -1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("writing a user that is not there: %v", err)
	}
	if _, err := s.PutMessage(ctx, store.Message{From: 1, To: 0}); !errors.Is(err, store.ErrNoRecipient) {
		t.Errorf("a message for nobody: %v", err)
	}
	if err := s.PutPhoto(ctx, 0, []byte{1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a photo of nobody: %v", err)
	}
	if err := s.Ping(ctx); err != nil {
		t.Error(err)
	}
	var times store.Times
	if _, err := s.Popular(store.WithTimes(ctx, &times), store.East, 3); err != nil || times.Query <= 0 {
		t.Errorf("%v; the times are %+v", err, times)
	}
	if st := s.PoolStats(); st.Made != 1 || st.Acquired < 5 || st.Idle != 1 || st.InUse != 0 || st.HeldTime <= 0 {
		t.Errorf("one goroutine has needed more than one connection, or they are not counted: %+v", st)
	}
}

// Every client reads what it wrote, and what the seed says.
func TestClientsAgree(t *testing.T) {
	onEach(t, func(t *testing.T, dsn string) {
		for i, client := range []*store.Client{store.PgxPool, store.PgxSQL, store.PQ} {
			t.Run(client.String(), func(t *testing.T) { agrees(t, openBy(t, dsn, client), int64(100+i)) })
		}
	})
}

func agrees(t *testing.T, s store.Store, uid int64) {
	ctx := t.Context()
	if u, err := s.User(ctx, uid); err != nil || u != store.Seeded(uid) {
		t.Errorf("%+v, %v; want %+v", u, err, store.Seeded(uid))
	}
	want := store.Seeded(uid)
	want.Name, want.Version = "Änne", 2
	if u, err := s.PutUser(ctx, want); err != nil || u != want {
		t.Errorf("%+v, %v; want %+v", u, err, want)
	}
	var candidates []any
	err := s.Candidates(ctx, store.Query{Region: store.West, MinAge: 30, MaxAge: 31, After: 100, Most: 3}, func(uid int64, name string, age int32, interests int64) {
		candidates = append(candidates, []any{uid, name, age, interests})
	})
	if got, want := fmt.Sprint(candidates), expected(store.SelectCandidates, nil); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	uids, err := s.Popular(ctx, store.East, 5)
	var popular []any
	for _, uid := range uids {
		popular = append(popular, []any{uid})
	}
	if got, want := fmt.Sprint(popular), expected(store.SelectPopular, nil); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	m := store.Message{From: uid, To: uid + 10, Seq: 3, Nonce: 99, Text: "hi"}
	first, err := s.PutMessage(ctx, m)
	again, err2 := s.PutMessage(ctx, m)
	if err != nil || err2 != nil || first != again {
		t.Errorf("ids %d and %d, %v, %v", first, again, err, err2)
	}
	m.ID = first
	if messages, err := s.Messages(ctx, uid+10, uid, 5); err != nil || len(messages) != 1 || messages[0] != m {
		t.Errorf("%+v, %v; want %+v", messages, err, m)
	}
	if err := s.PutPhoto(ctx, uid, []byte{0, 1, 255}); err != nil {
		t.Error(err)
	}
	if b, err := s.Photo(ctx, uid); err != nil || fmt.Sprint(b) != "[0 1 255]" {
		t.Errorf("%v, %v", b, err)
	}
}

// A stand-in takes as many clients as a stock server, and answers nothing that it does not know.
func TestStandInRefuses(t *testing.T) {
	p, err := standin.NewPostgres()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Bound(3, 1)
	var conns []*pgx.Conn
	for range 2 {
		c, err := pgx.Connect(t.Context(), p.DSN())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	var refused *pgconn.PgError
	if _, err := pgx.Connect(t.Context(), p.DSN()); !errors.As(err, &refused) || refused.Code != "53300" {
		t.Errorf("a third client of two: %v, want 53300", err)
	}
	if _, err := conns[0].Exec(t.Context(), "DROP TABLE users"); !errors.As(err, &refused) || refused.Code != "0A000" {
		t.Errorf("an unknown statement: %v, want 0A000", err)
	}
	if err := conns[0].Ping(t.Context()); err != nil {
		t.Errorf("after an error: %v", err)
	}
	if n := p.Kill(); n != 2 {
		t.Errorf("%d are killed, want 2", n)
	}
	for _, c := range conns {
		if c.Ping(t.Context()) == nil {
			t.Error("a killed connection answers")
		}
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	dsn := realDatabase(t)
	open(t, dsn)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), "UPDATE matchmaker_schema SET version = 7"); err != nil {
		t.Fatal(err)
	}
	const want = "the database has version 7 of the schema, and this program is for version 1: give it another database"
	if err := store.Prepare(t.Context(), c); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

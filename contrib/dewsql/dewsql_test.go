package dewsql_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsql"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// connect returns two connections to a PostgreSQL, or skips the test.
func connect(tb testing.TB) (*sql.DB, *pgx.Conn) {
	address := os.Getenv("DEWPOND_POSTGRES")
	if address == "" {
		address = "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable"
		c, err := net.DialTimeout("tcp", "127.0.0.1:5432", time.Minute)
		if err != nil {
			tb.Skip("there is no PostgreSQL on 127.0.0.1:5432; DEWPOND_POSTGRES has the address of another: ", err)
		}
		c.Close()
	}
	conn, err := pgx.Connect(context.Background(), address)
	if err != nil {
		tb.Skipf("the PostgreSQL at %s cannot be used; DEWPOND_POSTGRES has the address of another: %v", address, err)
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		db.Close()
		conn.Close(context.Background())
	})
	return db, conn
}

// query has n rows of a number, a text that is NULL in each third row and empty in each
// fifth, and bytes of up to 20,000.
func query(n int) string {
	return fmt.Sprintf(`SELECT i, CASE WHEN i %% 3 = 0 THEN NULL WHEN i %% 5 = 0 THEN '' ELSE 'row ' || i END,
		convert_to(repeat('x', i * 37 %% 20000), 'UTF8') FROM generate_series(0, %d) AS i`, n-1)
}

// check compares row i of the query.
func check(t *testing.T, i int, number string, row [][]byte) {
	want := fmt.Sprint("row ", i)
	switch {
	case i%3 == 0:
		want = "NULL"
	case i%5 == 0:
		want = ""
	}
	got := string(row[1])
	if row[1] == nil {
		got = "NULL"
	}
	if number != fmt.Sprint(i) || got != want || string(row[2]) != strings.Repeat("x", i*37%20000) {
		t.Errorf("row %d: %s, %q, %d bytes", i, number, got, len(row[2]))
	}
}

func TestRead(t *testing.T) {
	db, conn := connect(t)
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	reader := dewsql.New(pool)
	for _, n := range []int{0, 1, 7, 700} {
		rows, err := db.QueryContext(t.Context(), query(n))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := conn.Query(t.Context(), query(n))
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func() (*dewsql.Batch, error){
			"database/sql": func() (*dewsql.Batch, error) { return reader.Read(rows, 100) },
			"pgx":          func() (*dewsql.Batch, error) { return reader.ReadRaw(raw, 100) },
		} {
			seen := 0
			for more := true; more; {
				batch, err := read()
				if err != nil {
					t.Fatal(err)
				}
				for i := range batch.Len() {
					row := batch.Row(i)
					number := string(row[0])
					if name == "pgx" { // binary
						number = fmt.Sprint(binary.BigEndian.Uint32(row[0]))
					}
					check(t, seen, number, row)
					seen++
				}
				more = batch.Len() > 0
				batch.Close()
				batch.Close()
			}
			if seen != n {
				t.Errorf("%s: %d rows of %d", name, seen, n)
			}
		}
		rows.Close()
		raw.Close()
	}
}

// Clients that go, by their context or with their connection, and statements that fail
// midway leave nothing behind.
func TestClientsLeaveMidway(t *testing.T) {
	db, _ := connect(t)
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	reader := dewsql.New(pool)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			text := query(5000)
			if i%3 == 1 {
				text = "SELECT 1000 / (1000 - i) FROM generate_series(1, 2000) AS i" // fails midway
			}
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			rows, err := conn.QueryContext(ctx, text)
			for batches := 0; err == nil; batches++ {
				if batches == 2 && i%3 == 0 {
					cancel()
				}
				if batches == 2 && i%3 == 2 {
					break
				}
				var batch *dewsql.Batch
				if batch, err = reader.Read(rows, 50); err != nil {
					break
				}
				if batch.Len() == 0 {
					t.Errorf("client %d has come to the end", i)
					err = sql.ErrNoRows
				}
				batch.Close()
			}
			if rows != nil {
				rows.Close()
			}
		})
	}
	wg.Wait()
}

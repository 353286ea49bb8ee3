package dewsql_test

import (
	"context"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsql"
	"github.com/dewpond/dewpond/internal/turns"
)

const text = "SELECT i::text, 'BTC-USD', 'an order of some length, number ' || i FROM generate_series(1, 1000) AS i"

// BenchmarkSQL and BenchmarkPgx read 1000 rows of three columns and keep them all, with
// Scan into []byte in turn.
func BenchmarkSQL(b *testing.B) {
	db, _ := connect(b)
	reader := dewsql.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}))
	turns.Take(b, 5, func() {
		rows, err := db.Query(text)
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		batch, err := reader.Read(rows, 2000)
		if err != nil || batch.Len() != 1000 {
			b.Fatal(batch, err)
		}
		batch.Close()
	}, func() {
		rows, err := db.Query(text)
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		var all [][3][]byte
		for rows.Next() {
			var row [3][]byte
			if err := rows.Scan(&row[0], &row[1], &row[2]); err != nil {
				b.Fatal(err)
			}
			all = append(all, row)
		}
		if len(all) != 1000 {
			b.Fatal(len(all), rows.Err())
		}
	})
}

func BenchmarkPgx(b *testing.B) {
	_, conn := connect(b)
	reader := dewsql.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()}))
	turns.Take(b, 5, func() {
		rows, err := conn.Query(context.Background(), text)
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		batch, err := reader.ReadRaw(rows, 2000)
		if err != nil || batch.Len() != 1000 {
			b.Fatal(batch, err)
		}
		batch.Close()
	}, func() {
		rows, err := conn.Query(context.Background(), text)
		if err != nil {
			b.Fatal(err)
		}
		defer rows.Close()
		var all [][3][]byte
		for rows.Next() {
			var row [3][]byte
			if err := rows.Scan(&row[0], &row[1], &row[2]); err != nil {
				b.Fatal(err)
			}
			all = append(all, row)
		}
		if len(all) != 1000 {
			b.Fatal(len(all), rows.Err())
		}
	})
}

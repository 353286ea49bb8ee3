package dewsql_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsql"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/dewpond/dewpond/internal/turns"
)

// made are rows that no database has sent, each of the same values, as pgx has them: in one buffer that the next
// row overwrites.
type made struct {
	values [][]byte
	rows   int
	raw    [][]byte
}

// rowsOf returns n rows of values of these sizes.
func rowsOf(n int, sizes ...int) *made {
	m := &made{rows: n}
	for i, size := range sizes {
		m.values = append(m.values, bytes.Repeat([]byte{byte('a' + i)}, size))
		m.raw = append(m.raw, make([]byte, size))
	}
	return m
}

func (m *made) Next() bool { m.rows--; return m.rows >= 0 }
func (m *made) Err() error { return nil }
func (m *made) RawValues() [][]byte {
	for i, v := range m.values {
		copy(m.raw[i], v)
	}
	return m.raw
}

// use reads all rows in one batch and looks at each value.
func use(t *testing.T, r *dewsql.Reader, rows int, sizes ...int) {
	t.Helper()
	m := rowsOf(rows, sizes...)
	batch, err := r.ReadRaw(m, rows)
	if err != nil || batch.Len() != rows {
		t.Fatal(batch, err)
	}
	for i := range rows {
		for j, v := range batch.Row(i) {
			if v == nil || !bytes.Equal(v, m.values[j]) || cap(v) != len(v) {
				t.Fatalf("row %d of %v: value %d has %d bytes of cap %d", i, sizes, j, len(v), cap(v))
			}
		}
	}
	batch.Close()
	batch.Close() // does nothing
}

// taken returns which blocks a use takes, by size, as in 2x1024.
func taken(t *testing.T, pool *dewpond.BytePool, use func()) string {
	t.Helper()
	before := pool.Stats()
	use()
	s := pool.Stats().Sub(before)
	var all []string
	for _, c := range s.Classes {
		if c.Gets > 0 {
			all = append(all, fmt.Sprintf("%dx%d", c.Gets, c.Size))
		}
	}
	if s.Oversize > 0 {
		all = append(all, fmt.Sprintf("%d above", s.Oversize))
	}
	return strings.Join(all, " ")
}

// A batch takes what batches have had lately: one small block for a few narrow rows, and blocks of the bound for a
// wide export. Rows of another kind take over within some batches.
func TestBlocksFollowRows(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	r := dewsql.New(pool)
	narrow := func() { use(t, r, 4, 8, 20, 0, 40) }
	wide := func() { use(t, r, 500, 8, 1000, 2000) }
	for range 3 {
		narrow()
	}
	if got := taken(t, pool, narrow); got != "1x1024" {
		t.Errorf("narrow rows take %s", got)
	}
	for range 20 {
		wide()
	}
	if got := taken(t, pool, wide); !strings.HasSuffix(got, "x65536") || len(strings.Fields(got)) > 2 {
		t.Errorf("wide rows take %s", got)
	}
	for range 60 {
		narrow()
	}
	if got := taken(t, pool, narrow); got != "1x1024" {
		t.Errorf("narrow rows after wide ones take %s", got)
	}
}

// Bounds hold, whatever rows are; a value that is large has a block of its own.
func TestBlockBounds(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	r, err := dewsql.NewBounded(pool, 2048, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if got := taken(t, pool, func() { use(t, r, 4, 8, 20) }); got != "1x2048" {
			t.Errorf("a few rows take %s", got)
		}
		if got := taken(t, pool, func() { use(t, r, 20, 300) }); got != "4x2048" {
			t.Errorf("20 values of 300 bytes take %s", got)
		}
		if got := taken(t, pool, func() { use(t, r, 2, 3000, 10) }); got != "1x2048 2x3072" {
			t.Errorf("2 rows with a value of 3000 bytes take %s", got)
		}
	}
	for _, bounds := range [][2]int{{0, 10}, {-1, 10}, {10, 9}} {
		if _, err := dewsql.NewBounded(pool, bounds[0], bounds[1]); err == nil || !strings.Contains(err.Error(), "give a least of 1") {
			t.Errorf("blocks of %v: %v", bounds, err)
		}
	}
	small := dewtest.NewBytePool(t, dewpond.BytePoolOptions{Classes: []int{512}})
	if got := taken(t, small, func() { use(t, dewsql.New(small), 10, 100) }); got != "2x512" {
		t.Errorf("of a pool whose largest class is 512, 10 values of 100 bytes take %s", got)
	}
}

// BenchmarkRows reads narrow rows as of a transaction, and wide ones as of an export, and has a Reader in turn whose
// blocks have 8 to 32 KiB whatever rows are, as the chunks of a Scope. The rows are made here: a database would take
// most of the time.
func BenchmarkRows(b *testing.B) {
	for _, shape := range []struct {
		name       string
		rows, each int
		sizes      []int
	}{{"narrow", 4, 5000, []int{8, 20, 40}}, {"wide", 500, 20, []int{8, 1000, 2000}}} {
		b.Run(shape.name, func(b *testing.B) {
			pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
			scopes, err := dewsql.NewBounded(pool, 8<<10, 32<<10)
			if err != nil {
				b.Fatal(err)
			}
			m := rowsOf(0, shape.sizes...)
			inUse := map[*dewsql.Reader]int64{}
			read := func(r *dewsql.Reader, learning bool) {
				m.rows = shape.rows
				batch, err := r.ReadRaw(m, shape.rows)
				if err != nil {
					b.Fatal(err)
				}
				if learning {
					inUse[r] = pool.Stats().InUseBytes
				}
				batch.Close()
			}
			learned := dewsql.New(pool)
			for range 20 {
				read(learned, true)
				read(scopes, true)
			}
			turns.Take(b, shape.each, func() { read(learned, false) }, func() { read(scopes, false) })
			b.ReportMetric(float64(inUse[learned]), "dewpond-inuse-B")
			b.ReportMetric(float64(inUse[scopes]), "control-inuse-B")
		})
	}
}

package dewsql

import (
	"database/sql"
	"sync/atomic"

	"github.com/dewpond/dewpond"
)

// A Reader reads rows in batches. Make one with [New] for each statement, and keep it: it
// learns how many values its batches have. All methods may be called by any number of
// goroutines at once, each with rows of its own.
type Reader struct {
	blocks  *dewpond.BytePool
	values  *dewpond.SlicePool[[]byte]
	targets *dewpond.SlicePool[any]
	seen    atomic.Int64 // a moving average of the values in a batch
}

// New returns a Reader whose batches have their bytes in blocks of pool, and the slices of
// their values in a pool NAME-values.
func New(pool *dewpond.BytePool) *Reader {
	return &Reader{
		blocks:  pool,
		values:  dewpond.MustSlicePool(dewpond.SlicePoolOptions[[]byte]{Name: pool.Name() + "-values"}),
		targets: dewpond.MustSlicePool(dewpond.SlicePoolOptions[any]{Name: pool.Name() + "-targets"}),
	}
}

// A Batch is some rows of a result, in memory of its own. Its values are as the database
// has sent them; database/sql turns those that its driver has decoded into text.
type Batch struct {
	reader  *Reader
	scope   *dewpond.Scope
	values  [][]byte // of all rows, one after the other
	columns int
	rows    int
}

// Len returns how many rows there are.
func (b *Batch) Len() int { return b.rows }

// Row returns the values of row i, each nil if it is NULL. They are valid until Close.
func (b *Batch) Row(i int) [][]byte {
	return b.values[i*b.columns : (i+1)*b.columns : (i+1)*b.columns]
}

// Close gives the memory of all rows back. A second Close does nothing.
func (b *Batch) Close() {
	b.scope.Close()
	b.reader.values.Put(b.values)
	b.values, b.rows = nil, 0
}

// Read reads up to most rows. At the end of the rows the Batch is empty, but must be closed
// too:
//
//	for {
//		batch, err := reader.Read(rows, 1000)
//		if err != nil || batch.Len() == 0 {
//			return err
//		}
//		...
//		batch.Close()
//	}
//
// With an error there is no Batch. The caller closes rows.
func (r *Reader) Read(rows *sql.Rows, most int) (*Batch, error) {
	var raw []sql.RawBytes
	var targets []any
	defer func() { r.targets.Put(targets) }()
	return r.read(rows, most, func(b *Batch) error {
		// Rows that are over do not tell their columns. After a Scan into RawBytes, Columns
		// would wait for ever if the context ends meanwhile: Next comes first.
		if raw == nil {
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			b.columns = len(columns)
			raw, targets = make([]sql.RawBytes, b.columns), r.targets.Get(b.columns)
			for i := range raw {
				targets[i] = &raw[i]
			}
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for _, v := range raw {
			b.add(v)
		}
		return nil
	})
}

// RawRows is what [Reader.ReadRaw] needs of a pgx.Rows.
type RawRows interface {
	cursor
	RawValues() [][]byte
}

type cursor interface {
	Next() bool
	Err() error
}

// ReadRaw is [Reader.Read] for rows of pgx, whose values are in the format of the wire,
// binary or text, as the statement has asked for.
func (r *Reader) ReadRaw(rows RawRows, most int) (*Batch, error) {
	return r.read(rows, most, func(b *Batch) error {
		values := rows.RawValues()
		b.columns = len(values)
		for _, v := range values {
			b.add(v)
		}
		return nil
	})
}

func (r *Reader) read(rows cursor, most int, row func(b *Batch) error) (*Batch, error) {
	b := &Batch{reader: r, scope: r.blocks.Scope()}
	b.values = r.values.Get(int(r.seen.Load()))[:0]
	done := false
	defer func() {
		if !done {
			b.Close()
		}
	}()
	for b.rows < most && rows.Next() {
		if err := row(b); err != nil {
			return nil, err
		}
		b.rows++
	}
	if b.rows < most {
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	if b.rows > 0 { // two goroutines may lose what one of them has seen
		seen := r.seen.Load()
		r.seen.Store(seen + (int64(len(b.values))-seen)/4)
	}
	done = true
	return b, nil
}

// add copies a value, which is valid only until the next row.
func (b *Batch) add(v []byte) {
	if v != nil {
		v = b.scope.Copy(v)
	}
	b.values = b.reader.values.Append(b.values, v)
}

package dewsql

import (
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/dewpond/dewpond"
)

// A Reader reads rows in batches. Make one with [New] for each statement, and keep it: it
// learns how many values its batches have, and how many bytes. All methods may be called by any
// number of goroutines at once, each with rows of its own.
type Reader struct {
	blocks      *dewpond.BytePool
	values      *dewpond.SlicePool[[]byte]
	targets     *dewpond.SlicePool[any]
	least, most int     // bytes of a block
	seen, size  average // of the values in a batch, and of their bytes
}

// The bounds of a block's size that [New] takes.
const (
	leastBlock = 1 << 10
	mostBlock  = 64 << 10
)

// New returns a Reader whose batches have their bytes in blocks of pool, and the slices of
// their values in a pool NAME-values. A batch takes a block of the size that batches have had
// lately, of 1 KiB to 64 KiB, and more of them where it has more.
func New(pool *dewpond.BytePool) *Reader {
	largest := mostBlock
	if classes := pool.Stats().Classes; len(classes) > 0 {
		largest = min(largest, classes[len(classes)-1].Size)
	}
	r, _ := NewBounded(pool, min(leastBlock, largest), largest)
	return r
}

// NewBounded is [New] with blocks of least to most bytes. With least as large as most their size is
// fixed. It returns an error unless 0 < least <= most. What is larger than the pool's largest class is
// not pooled.
func NewBounded(pool *dewpond.BytePool, least, most int) (*Reader, error) {
	if least <= 0 || most < least {
		return nil, fmt.Errorf("dewsql: blocks of %d to %d bytes: give a least of 1 or more, and a most that is not below it", least, most)
	}
	return &Reader{
		least: least, most: most,
		blocks:  pool,
		values:  dewpond.MustSlicePool(dewpond.SlicePoolOptions[[]byte]{Name: pool.Name() + "-values"}),
		targets: dewpond.MustSlicePool(dewpond.SlicePoolOptions[any]{Name: pool.Name() + "-targets"}),
	}, nil
}

// An average moves with what batches have had. What two goroutines see at the same moment may be seen once.
type average struct{ of atomic.Int64 }

func (a *average) see(n int) {
	was := a.of.Load()
	if was == 0 {
		a.of.Store(int64(n))
		return
	}
	a.of.Store(was + (int64(n)-was)/4)
}

func (a *average) get() int { return int(a.of.Load()) }

// A Batch is some rows of a result, in memory of its own. Its values are as the database
// has sent them; database/sql turns those that its driver has decoded into text.
type Batch struct {
	reader  *Reader
	block   []byte   // its length is what values have of it
	full    [][]byte // the blocks before it, and those of single large values, as long as what is in them
	bytes   int      // of all values
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
	r := b.reader
	if block := b.block; block != nil {
		b.block = nil
		r.blocks.PutWritten(block)
	}
	for last := len(b.full) - 1; last >= 0; last-- {
		block := b.full[last]
		b.full = b.full[:last]
		r.blocks.PutWritten(block)
	}
	r.values.Put(b.full)
	r.values.Put(b.values)
	b.full, b.values, b.rows = nil, nil, 0
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
		// would wait forever if the context ends meanwhile: Next comes first.
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
	b := &Batch{reader: r}
	b.values = r.values.Get(r.seen.get())[:0]
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
	if b.rows > 0 {
		r.seen.see(len(b.values))
		r.size.see(b.bytes)
	}
	done = true
	return b, nil
}

// add copies a value, which is valid only until the next row.
func (b *Batch) add(v []byte) {
	if v != nil {
		v = b.copy(v)
	}
	b.values = b.reader.values.Append(b.values, v)
}

// copy returns a copy of v in a block of the batch.
func (b *Batch) copy(v []byte) []byte {
	n := len(v)
	if n == 0 {
		return []byte{} // no NULL
	}
	if n > cap(b.block)-len(b.block) {
		if n > b.reader.most/4 { // the block may still hold others
			own := b.reader.blocks.Get(n)
			copy(own, v)
			b.keep(own)
			b.bytes += n
			return own[:n:n]
		}
		b.next(n)
	}
	at := len(b.block)
	b.block = b.block[:at+n]
	copy(b.block[at:], v)
	b.bytes += n
	return b.block[at : at+n : at+n]
}

// next takes a block with room for n bytes. It is as large as what batches have had lately, an eighth more,
// and less what this one has; one that has more than they takes twice the block before.
func (b *Batch) next(n int) {
	r := b.reader
	size := r.size.get()
	size += size/8 - b.bytes
	if size <= 0 {
		size = 2 * cap(b.block)
	}
	size = max(n, min(max(size, r.least), r.most))
	if b.block != nil {
		full := b.block
		b.block = nil
		b.keep(full)
	}
	b.block = r.blocks.Get(size)[:0]
}

// keep has a block until Close.
func (b *Batch) keep(block []byte) { b.full = b.reader.values.Append(b.full, block) }

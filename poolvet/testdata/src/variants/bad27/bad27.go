// Package bad27 iterates over log entries from the newest to the oldest.
package bad27

import (
	"sync"
	"time"
)

// Entry is a log line.
type Entry struct {
	At   time.Time
	Line string
}

type entryBuffer struct{ entries []Entry }

var entryBuffers = sync.Pool{New: func() any { return new(entryBuffer) }}

// Source gives entries in rising order.
type Source interface {
	Next() (Entry, bool)
	Close() error
}

// Reverse gives the entries of a source backwards.
type Reverse struct {
	src Source
	buf *entryBuffer
	cur Entry
}

// NewReverse wraps src.
func NewReverse(src Source) *Reverse {
	buf := entryBuffers.Get().(*entryBuffer)
	for e, ok := src.Next(); ok; e, ok = src.Next() {
		buf.entries = append(buf.entries, e)
	}
	return &Reverse{src: src, buf: buf}
}

// Next moves on.
func (r *Reverse) Next() bool {
	n := len(r.buf.entries)
	if n == 0 {
		entryBuffers.Put(r.buf)
		return false
	}
	r.cur, r.buf.entries = r.buf.entries[n-1], r.buf.entries[:n-1]
	return true
}

// Close ends the iteration.
func (r *Reverse) Close() error {
	r.buf.entries = r.buf.entries[:0]
	entryBuffers.Put(r.buf) // missed
	return r.src.Close()
}

// Lines collects all lines and closes the iterator.
func Lines(src Source) (out []string, err error) {
	it := NewReverse(src)
	for it.Next() {
		out = append(out, it.cur.Line)
	}
	return out, it.Close()
}

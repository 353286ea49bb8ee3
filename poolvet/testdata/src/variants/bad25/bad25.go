// Package bad25 writes table rows as CSV with a length prefix.
package bad25

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"io"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func getBuf() *bytes.Buffer {
	b := pool.Get().(*bytes.Buffer)
	b.Reset()
	return b
}

func putBuf(b *bytes.Buffer) {
	if b.Cap() > 1<<20 {
		return
	}
	pool.Put(b)
}

// Writer writes tables.
type Writer struct {
	w    io.Writer
	rows int
}

// WriteTable writes all rows of one table.
func (w *Writer) WriteTable(rows [][]string) error {
	buf := getBuf()
	defer putBuf(buf)

	cw := csv.NewWriter(buf)
	if err := cw.WriteAll(rows); err != nil {
		putBuf(buf) // want `\(doubleput\)`
		return err
	}
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(buf.Len()))
	if _, err := w.w.Write(size[:]); err != nil {
		return err
	}
	if _, err := buf.WriteTo(w.w); err != nil {
		return err
	}
	w.rows += len(rows)
	return nil
}

// Package ok09 writes table rows as CSV with a length prefix.
package ok09

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"io"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func putBuf(b *bytes.Buffer) {
	if b.Cap() <= 1<<20 {
		pool.Put(b)
	}
}

// WriteTable writes all rows of one table.
func WriteTable(w io.Writer, rows [][]string) error {
	buf := pool.Get().(*bytes.Buffer)
	buf.Reset()

	cw := csv.NewWriter(buf)
	if err := cw.WriteAll(rows); err != nil {
		putBuf(buf)
		return err
	}
	var size [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(buf.Len()))
	_, err := w.Write(size[:])
	if err == nil {
		_, err = buf.WriteTo(w)
	}
	putBuf(buf)
	return err
}

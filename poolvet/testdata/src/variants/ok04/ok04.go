// Package ok04 counts the valid calls in a JSON-RPC batch.
package ok04

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Batch is a parsed batch over recycled memory.
type Batch struct {
	Calls []json.RawMessage
	buf   *bytes.Buffer
}

// Release gives the memory back; Calls must not be used afterwards.
func (b *Batch) Release() {
	if b.buf == nil {
		return
	}
	pool.Put(b.buf)
	b.buf, b.Calls = nil, nil
}

// Read reads one call per line. The caller must Release the batch.
func Read(r io.Reader) (*Batch, error) {
	buf := pool.Get().(*bytes.Buffer)
	buf.Reset()
	if _, err := buf.ReadFrom(r); err != nil {
		pool.Put(buf)
		return nil, err
	}
	b := &Batch{buf: buf}
	for _, line := range bytes.Split(buf.Bytes(), []byte{'\n'}) {
		b.Calls = append(b.Calls, json.RawMessage(line))
	}
	return b, nil
}

// Count gives the number of valid calls.
func Count(r io.Reader) (n int, err error) {
	b, err := Read(r)
	if err != nil {
		return 0, err
	}
	defer b.Release()
	for _, c := range b.Calls {
		if json.Valid(c) {
			n++
		}
	}
	return n, nil
}

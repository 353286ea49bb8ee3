// Package bad26 has request bodies over recycled chunks.
package bad26

import (
	"io"
	"sync"
)

type chunk struct {
	data []byte
	off  int
}

var chunks = sync.Pool{
	New: func() any { return &chunk{data: make([]byte, 0, 16<<10)} },
}

// Body reads from a recycled chunk.
type Body struct {
	c *chunk
}

// NewBody takes over a copy of p.
func NewBody(p []byte) *Body {
	c := chunks.Get().(*chunk)
	c.data, c.off = append(c.data[:0], p...), 0
	return &Body{c: c}
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.c.off == len(b.c.data) {
		return 0, io.EOF
	}
	n := copy(p, b.c.data[b.c.off:])
	b.c.off += n
	return n, nil
}

// Close gives the chunk back.
func (b *Body) Close() error {
	chunks.Put(b.c)
	return nil
}

// Copy writes p to w by way of a body.
func Copy(w io.Writer, p []byte) (err error) {
	body := NewBody(p)
	defer body.Close()
	if _, err = io.Copy(w, body); err != nil {
		return err
	}
	return body.Close() // want `\(doubleput\)`
}

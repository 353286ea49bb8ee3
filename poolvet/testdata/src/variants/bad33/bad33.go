// Package bad33 buffers downloads part by part.
package bad33

import (
	"bytes"
	"io"
	"sync"
)

// BufferPool recycles part buffers.
type BufferPool struct {
	pool sync.Pool
}

// NewBufferPool makes a pool for parts of that size.
func NewBufferPool(size int) *BufferPool {
	return &BufferPool{pool: sync.Pool{
		New: func() any { return bytes.NewBuffer(make([]byte, 0, size)) },
	}}
}

func (p *BufferPool) Get() *bytes.Buffer { return p.pool.Get().(*bytes.Buffer) }

// Put empties the buffer and takes it back.
func (p *BufferPool) Put(b *bytes.Buffer) {
	b.Reset()
	p.pool.Put(b)
}

// PartReader reads one downloaded part.
type PartReader struct {
	pool  *BufferPool
	buf   *bytes.Buffer
	ready chan struct{}
	err   error
}

// Start downloads in the background.
func Start(pool *BufferPool, src io.Reader) *PartReader {
	r := &PartReader{pool: pool, buf: pool.Get(), ready: make(chan struct{})}
	go func() {
		defer close(r.ready)
		_, r.err = r.buf.ReadFrom(src)
	}()
	return r
}

// Read waits for the part and reads from it.
func (r *PartReader) Read(p []byte) (int, error) {
	<-r.ready
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.buf.Read(p)
	if r.buf.Len() == 0 && r.buf.Cap() > 0 {
		r.buf = new(bytes.Buffer)
		r.pool.Put(r.buf) // want `\(useafterput\)`
	}
	return n, err
}

package memory

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// recycled lends buffers of a [sync.Pool].
type recycled struct {
	fresh
	buffers sync.Pool
}

func (s *recycled) Buffer() Buffer {
	b, ok := s.buffers.Get().(*pooled)
	if !ok {
		b = &pooled{from: s}
	}
	b.users.Store(1)
	return b
}

// Payload sends what b holds, which goes back when nobody reads it any more.
func (s *recycled) Payload(b Buffer) Payload {
	p := b.(*pooled)
	p.users.Add(1)
	return &sent{p}
}

// A pooled buffer goes back when its last user has released it.
type pooled struct {
	bytes.Buffer
	from  *recycled
	users atomic.Int32
}

// Release gives the buffer back.
func (b *pooled) Release() {
	if b.users.Add(-1) == 0 {
		b.Reset()
		b.from.buffers.Put(b)
	}
}

type sent struct{ b *pooled }

func (s *sent) NewRequest(ctx context.Context, method, url string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, s.reader())
	if err != nil {
		s.b.Release()
		return nil, err
	}
	r.ContentLength = int64(s.b.Len())
	r.GetBody = func() (io.ReadCloser, error) { return s.reader(), nil }
	return r, nil
}

// reader is one more user of the buffer. http.Client closes it, which may be after its answer.
func (s *sent) reader() io.ReadCloser {
	s.b.users.Add(1)
	return &reading{Reader: bytes.NewReader(s.b.Bytes()), b: s.b}
}

func (s *sent) Close() { s.b.Release() }

type reading struct {
	*bytes.Reader
	b      *pooled
	closed atomic.Bool
}

func (r *reading) Close() error {
	if !r.closed.Swap(true) {
		r.b.Release()
	}
	return nil
}

// objects are a Pool on a [sync.Pool].
type objects[T any, P interface {
	*T
	Reset()
}] struct {
	pool sync.Pool
	make func() *T
}

func (o *objects[T, P]) Get() *T {
	if v, ok := o.pool.Get().(*T); ok {
		return v
	}
	return o.make()
}

func (o *objects[T, P]) Put(v *T) {
	P(v).Reset()
	o.pool.Put(v)
}

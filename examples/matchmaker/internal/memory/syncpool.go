package memory

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// SyncPool returns the source that has a [sync.Pool] wherever dewpond's has a pool. It is there to be
// compared with: delete this file, and its line in choices.go.
func SyncPool() Source { return new(recycled) }

// recycled lends what it keeps in pools of [sync.Pool].
type recycled struct{ buffers, contexts, pads sync.Pool }

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

// Handler does nothing: sync.Pool has nothing that ends with a request.
func (*recycled) Handler(next http.Handler) http.Handler { return next }

func (*recycled) Body(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) }

func (s *recycled) Context() *matching.Context {
	if c, ok := s.contexts.Get().(*matching.Context); ok {
		return c
	}
	return matching.New()
}

func (s *recycled) PutContext(c *matching.Context) {
	c.Reset()
	s.contexts.Put(c)
}

func (s *recycled) Pad(n int) Pad {
	p, ok := s.pads.Get().(*pooledPad)
	if !ok {
		p = &pooledPad{from: s}
	}
	return Pad{p.people[:n], p.scores[:n], p}
}

func (*recycled) Close() error { return nil }

// A pooledPad goes back as it is: there are no pointers in it.
type pooledPad struct {
	people [matching.Most]matching.Person
	scores [matching.Most]float64
	from   *recycled
}

// Close gives the pad back.
func (p *pooledPad) Close() { p.from.pads.Put(p) }

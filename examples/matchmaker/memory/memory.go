// Package memory is where the memory of a request comes from: dewpond's pools, sync.Pool in the
// same places, or nothing but the heap. The service uses dewpond's; the others are there to be
// compared with.
package memory

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/dewpond/dewpond"
)

// The kinds of memory.
const (
	Dewpond  = "dewpond"
	SyncPool = "sync.Pool"
	None     = "none" // new memory for each request
)

// A Source lends memory. Its methods may be called by several goroutines at once.
type Source interface {
	Buffer() Buffer
	// Payload takes over what b holds, as the body of requests. The caller still releases b.
	Payload(b Buffer) Payload
	// Handler has Body work in next.
	Handler(next http.Handler) http.Handler
	// Body reads all of a request's body, which is valid until its handler returns.
	Body(r *http.Request) ([]byte, error)
}

// A Buffer is what [dewpond.Buffer] and [bytes.Buffer] both are, with an end.
type Buffer interface {
	io.Writer
	io.ReaderFrom
	AvailableBuffer() []byte
	Grow(n int)
	Bytes() []byte
	Release()
}

// A Payload is the body of requests. Who makes a request sends it.
type Payload interface {
	NewRequest(ctx context.Context, method, url string) (*http.Request, error)
	Close()
}

// Of returns the source of a kind; an empty one is dewpond's, which alone takes from the pool.
func Of(kind string, pool *dewpond.BytePool) (Source, error) {
	switch kind {
	case Dewpond, "":
		return pond{pool}, nil
	case SyncPool:
		return new(recycled), nil
	case None:
		return fresh{}, nil
	}
	return nil, fmt.Errorf("--memory %s: give %s, %s or %s", kind, Dewpond, SyncPool, None)
}

// A Pool lends objects of one type.
type Pool[T any] interface {
	Get() *T
	Put(v *T)
}

// PoolOf returns a pool of a kind, and the function that closes it. T's method Reset, which every
// one of them calls, forgets what an object was used for.
func PoolOf[T any, P interface {
	*T
	Reset()
}](kind string, o dewpond.PoolOptions[T]) (Pool[T], func() error) {
	if o.New == nil {
		o.New = func() *T { return new(T) }
	}
	switch kind {
	case SyncPool:
		return &objects[T, P]{make: o.New}, func() error { return nil }
	case None:
		return made[T]{o.New}, func() error { return nil }
	}
	pool := dewpond.MustPool(o)
	return pool, pool.Close
}

package memory

import (
	"net/http"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// pond lends blocks of a pool, and Contexts of another.
type pond struct {
	pool     *dewpond.BytePool
	contexts *dewpond.Pool[matching.Context]
}

// Dewpond returns the source that takes from dewpond's pools. The pool of bytes stays the caller's.
func Dewpond(pool *dewpond.BytePool) Source {
	return pond{pool, dewpond.MustPool(dewpond.PoolOptions[matching.Context]{Name: "matching.Context", New: matching.New})}
}

func (p pond) Buffer() Buffer { return p.pool.Buffer() }

func (p pond) Payload(b Buffer) Payload { return dewhttp.NewPayload(b.(*dewpond.Buffer)) }

func (p pond) Handler(next http.Handler) http.Handler {
	return dewhttp.Middleware(dewhttp.Options{Pool: p.pool, MaxBody: -1})(next)
}

func (p pond) Body(r *http.Request) ([]byte, error) { return dewhttp.ReadBody(r) }

func (p pond) Context() *matching.Context { return p.contexts.Get() }

// PutContext gives a Context back. The pool calls its Reset.
func (p pond) PutContext(c *matching.Context) { p.contexts.Put(c) }

// Pad has slices of a Scope, whose Close gives back both.
func (p pond) Pad(n int) Pad {
	scope := p.pool.Scope()
	return Pad{dewpond.ScopeSlice[matching.Person](scope, n), dewpond.ScopeSlice[float64](scope, n), scope}
}

func (p pond) Close() error { return p.contexts.Close() }

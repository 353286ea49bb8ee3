package memory

import (
	"net/http"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
)

// pond lends blocks of a pool.
type pond struct{ pool *dewpond.BytePool }

func (p pond) Buffer() Buffer { return p.pool.Buffer() }

func (p pond) Payload(b Buffer) Payload { return dewhttp.NewPayload(b.(*dewpond.Buffer)) }

func (p pond) Handler(next http.Handler) http.Handler {
	return dewhttp.Middleware(dewhttp.Options{Pool: p.pool, MaxBody: -1})(next)
}

func (p pond) Body(r *http.Request) ([]byte, error) { return dewhttp.ReadBody(r) }

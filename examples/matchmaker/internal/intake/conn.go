package intake

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// A Conn is a client's connection.
type Conn struct {
	carried atomic.Bool
	resets  atomic.Int32 // more streams that were taken back than were answered
	close   func() error
}

type connKey struct{}

// ConnContext is for an http.Server.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &Conn{close: c.Close})
}

// ConnOf is the connection that a request has come by, or nil.
func ConnOf(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// First reports whether it is called for the first time.
func (c *Conn) First() bool { return !c.carried.Swap(true) }

// MostResets is how many more streams of an HTTP/2 connection may be taken back than are answered.
// A page that is left takes back some tens.
const MostResets = 200

// Resets closes a connection of HTTP/2 whose client goes on to begin streams and to take them back,
// which costs the client nothing, and the service what it has begun.
func Resets(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := ConnOf(r.Context())
		if c == nil || r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		defer func() {
			switch {
			case r.Context().Err() == nil:
				if c.resets.Add(-1) < 0 {
					c.resets.Add(1)
				}
			case c.resets.Add(1) > MostResets:
				c.close()
			}
		}()
		next.ServeHTTP(w, r)
	})
}

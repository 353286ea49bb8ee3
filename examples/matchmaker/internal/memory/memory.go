// Package memory is where the memory of a request comes from: dewpond's pools. Two other sources are
// there to be compared with, each in a file of its own that can be deleted.
package memory

import (
	"context"
	"io"
	"net/http"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// A Source lends memory. Its methods may be called by several goroutines at once.
type Source interface {
	// Buffer lends an empty buffer until its Release.
	Buffer() Buffer
	// Payload takes over what b holds, as the body of requests. The caller still releases b.
	Payload(b Buffer) Payload
	// Handler has Body work in next.
	Handler(next http.Handler) http.Handler
	// Body reads all of a request's body, which is valid until its handler returns.
	Body(r *http.Request) ([]byte, error)
	// Context lends an empty Context until PutContext, after which the caller has no pointer into it.
	Context() *matching.Context
	PutContext(c *matching.Context)
	// Pad lends scratch memory for n candidates, at most [matching.Most], until its Close.
	Pad(n int) Pad
	// Close ends the source, of which nothing is lent any more.
	Close() error
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

// A Pad has the memory of one question to the scorer, and of its answer. Who has it writes an element
// before reading it.
type Pad struct {
	People []matching.Person
	Scores []float64
	end    interface{ Close() } // nil: the collector is the end
}

// Close gives the memory back. It is called once.
func (p Pad) Close() {
	if p.end != nil {
		p.end.Close()
	}
}

package memory

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
)

// None returns the source that lends nothing: all is new, and the collector's. It is there to be
// compared with: delete this file, and its line in choices.go.
func None() Source { return none{} }

type none struct{}

func (none) Buffer() Buffer { return new(newBuffer) }

func (none) Payload(b Buffer) Payload { return newBody(b.Bytes()) }

func (none) Handler(next http.Handler) http.Handler { return next }

func (none) Body(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) }

func (none) Context() *matching.Context { return matching.New() }

func (none) PutContext(*matching.Context) {}

func (none) Pad(n int) Pad {
	return Pad{People: make([]matching.Person, n), Scores: make([]float64, n)}
}

func (none) Close() error { return nil }

type newBuffer struct{ bytes.Buffer }

// Release does nothing.
func (*newBuffer) Release() {}

type newBody []byte

func (b newBody) NewRequest(ctx context.Context, method, url string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, method, url, bytes.NewReader(b))
}

func (newBody) Close() {}

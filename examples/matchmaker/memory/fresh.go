package memory

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// fresh lends nothing: all is new, and the collector's.
type fresh struct{}

func (fresh) Buffer() Buffer { return new(plain) }

func (fresh) Payload(b Buffer) Payload { return newBody(b.Bytes()) }

func (fresh) Handler(next http.Handler) http.Handler { return next }

func (fresh) Body(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) }

type plain struct{ bytes.Buffer }

// Release does nothing.
func (*plain) Release() {}

type newBody []byte

func (b newBody) NewRequest(ctx context.Context, method, url string) (*http.Request, error) {
	return http.NewRequestWithContext(ctx, method, url, bytes.NewReader(b))
}

func (newBody) Close() {}

// made makes every object anew.
type made[T any] struct{ make func() *T }

func (m made[T]) Get() *T { return m.make() }

func (made[T]) Put(*T) {}

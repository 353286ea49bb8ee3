package dewhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/dewpond/dewpond"
)

// A Payload is the body of requests, in a block. http.NewRequest knows the length of a
// [bytes.Buffer], but not of a [dewpond.Buffer], which it would send chunked and could not
// send again after a redirect. Requests of a Payload have ContentLength and GetBody:
//
//	payload := dewhttp.NewPayload(b)
//	defer payload.Close()
//	req, err := payload.NewRequest(ctx, http.MethodPost, url)
//	...
//	res, err := client.Do(req)
//
// All methods may be called by several goroutines at once.
type Payload struct {
	mu     sync.Mutex // held for one retain or release
	lease  dewpond.Lease
	length int
	closed bool
}

// NewPayload takes over what b holds. The Buffer is empty then, and can be used again.
func NewPayload(b *dewpond.Buffer) *Payload {
	l := b.Lease()
	return &Payload{lease: l, length: l.Len()}
}

// Close gives the block back as soon as no request is reading it. A second Close does
// nothing.
func (p *Payload) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.lease.Release()
	}
	p.closed = true
}

// NewRequest is [http.NewRequestWithContext] with this body. Whoever sends the request
// closes its Body, as [http.Client] does, which may be after Close. The caller closes the
// Body of a request that it does not send.
func (p *Payload) NewRequest(ctx context.Context, method, url string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	if r.Body, err = p.body(); err != nil {
		return nil, err
	}
	r.ContentLength, r.GetBody = int64(p.length), p.body
	return r, nil
}

// body returns a new reader of the payload, which is an owner of the block until it is
// closed.
func (p *Payload) body() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, errors.New("dewhttp: the Payload was closed: close it when its requests are over")
	case p.length == 0:
		return http.NoBody, nil
	}
	l := p.lease.Retain()
	return &body{lease: l, rest: l.Bytes()}, nil
}

// A body reads from a block. An http.Transport may close it while it reads, so that a lock
// keeps the block until the bytes are copied.
type body struct {
	mu    sync.Mutex // held for one copy
	lease dewpond.Lease
	rest  []byte
	over  bool
}

func (b *body) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over:
		return 0, http.ErrBodyReadAfterClose
	case len(b.rest) == 0:
		return 0, io.EOF
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return nil
	}
	b.over, b.rest = true, nil
	b.lease.Release()
	return nil
}

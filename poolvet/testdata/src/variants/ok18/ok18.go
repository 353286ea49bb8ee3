// Package ok18 is a small client with recycled responses.
package ok18

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
)

// Response is a recycled answer.
type Response struct {
	status int
	body   []byte
}

// Body gives the body, valid until ReleaseResponse.
func (r *Response) Body() []byte { return r.body }

// AppendBody adds a copy of the body to dst.
func (r *Response) AppendBody(dst []byte) []byte { return append(dst, r.Body()...) }

var responses = sync.Pool{New: func() any { return new(Response) }}

// AcquireResponse gives an empty response.
func AcquireResponse() *Response { return responses.Get().(*Response) }

// ReleaseResponse takes it back.
func ReleaseResponse(r *Response) {
	r.status, r.body = 0, r.body[:0]
	responses.Put(r)
}

func do(c *http.Client, addr string, resp *Response) error {
	hr, err := c.Get(addr)
	if err != nil {
		return err
	}
	defer hr.Body.Close()
	resp.status = hr.StatusCode
	buf := bytes.NewBuffer(resp.body)
	_, err = buf.ReadFrom(hr.Body)
	resp.body = buf.Bytes()
	return err
}

// Fetch loads the address.
func Fetch(c *http.Client, addr string) ([]byte, error) {
	resp := AcquireResponse()
	defer ReleaseResponse(resp)
	if err := do(c, addr, resp); err != nil {
		return nil, err
	}
	if resp.status != http.StatusOK {
		return nil, fmt.Errorf("status %d: %.80s", resp.status, resp.Body())
	}
	return resp.AppendBody(nil), nil
}

// Package bad09 is a small client with recycled responses.
package bad09

import (
	"fmt"
	"io"
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

func (r *Response) readFrom(src io.Reader) (err error) {
	var chunk [512]byte
	for {
		n, rerr := src.Read(chunk[:])
		r.body = append(r.body, chunk[:n]...)
		if rerr == io.EOF {
			return nil
		}
		if rerr != nil {
			return rerr
		}
	}
}

var responses = sync.Pool{New: func() any { return new(Response) }}

// AcquireResponse gives an empty response.
func AcquireResponse() *Response { return responses.Get().(*Response) }

// ReleaseResponse takes it back.
func ReleaseResponse(r *Response) {
	r.status, r.body = 0, r.body[:0]
	responses.Put(r)
}

// Fetch loads the address.
func Fetch(c *http.Client, addr string) ([]byte, error) {
	resp := AcquireResponse()
	defer ReleaseResponse(resp)
	hr, err := c.Get(addr)
	if err != nil {
		return nil, err
	}
	defer hr.Body.Close()
	resp.status = hr.StatusCode
	if err := resp.readFrom(hr.Body); err != nil {
		return nil, err
	}
	if resp.status != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.status)
	}
	return resp.Body(), nil // want `\(returnput\)`
}

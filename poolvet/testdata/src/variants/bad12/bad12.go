// Package bad12 probes hosts and reports their banners.
package bad12

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"unsafe"
)

var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// Chain holds one answer with a recycled body.
type Chain struct {
	resp *http.Response
	body *bytes.Buffer
}

// Fill reads the body.
func (c *Chain) Fill(limit int64) error {
	c.body.Reset()
	_, err := c.body.ReadFrom(io.LimitReader(c.resp.Body, limit))
	return err
}

// BodyString gives the body as text.
func (c *Chain) BodyString() string {
	b := c.body.Bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Close gives the body back.
func (c *Chain) Close() {
	if c.body != nil {
		bodies.Put(c.body)
		c.body = nil
	}
	c.resp.Body.Close()
}

// Banner is a finding.
type Banner struct {
	Host, Text string
}

// Probe asks the host for its front page.
func Probe(cl *http.Client, host string) (Banner, error) {
	resp, err := cl.Get("http://" + host + "/")
	if err != nil {
		return Banner{}, err
	}
	chain := &Chain{resp: resp, body: bodies.Get().(*bytes.Buffer)}
	defer chain.Close()
	if err := chain.Fill(4096); err != nil {
		return Banner{}, err
	}
	return Banner{Host: host, Text: chain.BodyString()}, nil // missed
}

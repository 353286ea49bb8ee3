// Package bad17 pushes write requests to an ingester.
package bad17

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
)

// Transport sends raw frames; it may block for long.
type Transport interface {
	Send(frame []byte) error
}

// WriteRequest is a set of samples.
type WriteRequest struct {
	Tenant  string             `json:"tenant"`
	Samples map[string]float64 `json:"samples"`
}

// Client pushes requests.
type Client struct {
	tr   Transport
	bufs sync.Pool
}

func (c *Client) buffer() *bytes.Buffer {
	if b, ok := c.bufs.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return bytes.NewBuffer(make([]byte, 0, 4096))
}

// Push sends the request or gives up when ctx ends.
func (c *Client) Push(ctx context.Context, wr *WriteRequest) error {
	b := c.buffer()
	defer c.bufs.Put(b)
	if err := json.NewEncoder(b).Encode(wr); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		done <- c.tr.Send(b.Bytes())
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err() // want `\(returnput\)`
	}
}

// Package ok07 pushes write requests to an ingester.
package ok07

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
)

// Transport sends raw frames; it may block for long but keeps nothing.
type Transport interface {
	Send(frame []byte) error
}

// Client pushes requests.
type Client struct {
	tr   Transport
	bufs sync.Pool
}

// New makes a client.
func New(tr Transport) *Client {
	c := &Client{tr: tr}
	c.bufs.New = func() any { return new(bytes.Buffer) }
	return c
}

// Push sends the samples or gives up when ctx ends.
func (c *Client) Push(ctx context.Context, samples map[string]float64) error {
	b := c.bufs.Get().(*bytes.Buffer)
	b.Reset()
	if err := json.NewEncoder(b).Encode(samples); err != nil {
		c.bufs.Put(b)
		return err
	}
	done := make(chan error, 1)
	go func() {
		err := c.tr.Send(b.Bytes())
		c.bufs.Put(b)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

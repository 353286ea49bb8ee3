// Package near keeps for a moment, in this process, what the Redis of a region has answered. A hot key, which
// everybody asks for at once, then costs its server one read in that time, however many ask.
package near

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// A Source is what is kept: a region's Redis servers, as package region has them.
type Source interface {
	Get(ctx context.Context, region, key string) ([]byte, error)
	Set(ctx context.Context, region, key string, value []byte, life time.Duration) error
	Fill(ctx context.Context, region, key string, value []byte, life time.Duration) error
}

// A Cache is a Source that keeps what another has answered. Who writes by it reads what was written, at
// once; what another process writes is read a life later at most. What the source does not have is not
// kept. Its methods may be called by several goroutines at once.
type Cache struct {
	source  Source
	entries *otter.Cache[name, []byte]
	load    otter.Loader[name, []byte]

	asked, loaded atomic.Uint64
}

type name struct{ region, key string }

// most is how many values are kept. Those that are asked for often stay.
const most = 10_000

// New returns a Cache that keeps each value for a life, which must be above 0. It must be closed.
func New(source Source, life time.Duration) *Cache {
	c := &Cache{source: source}
	c.entries = otter.Must(&otter.Options[name, []byte]{MaximumSize: most, ExpiryCalculator: otter.ExpiryWriting[name, []byte](life)})
	c.load = otter.LoaderFunc[name, []byte](func(ctx context.Context, n name) ([]byte, error) {
		c.loaded.Add(1)
		value, err := source.Get(ctx, n.region, n.key)
		if err == nil && value == nil {
			err = otter.ErrNotFound
		}
		return value, err
	})
	return c
}

// Get returns what the source has for a key, or nil where it has nothing. Of those who ask at once for a key
// that is not kept, one asks the source, and the others have its answer; where its context ends, the next
// asks. Several callers may have the same bytes, so nobody may change them.
func (c *Cache) Get(ctx context.Context, region, key string) ([]byte, error) {
	c.asked.Add(1)
	value, err := c.entries.Get(ctx, name{region, key}, c.load)
	if errors.Is(err, otter.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// Set sets the value of a key. What is kept of it goes, also where the source fails, and so does what is being
// read of it meanwhile.
func (c *Cache) Set(ctx context.Context, region, key string, value []byte, life time.Duration) error {
	err := c.source.Set(ctx, region, key, value, life)
	c.entries.Invalidate(name{region, key})
	return err
}

// Fill sets the value of a key that has none.
func (c *Cache) Fill(ctx context.Context, region, key string, value []byte, life time.Duration) error {
	return c.source.Fill(ctx, region, key, value, life)
}

// Asked is how many Gets there were.
func (c *Cache) Asked() uint64 { return c.asked.Load() }

// Loaded is how many of them asked the source.
func (c *Cache) Loaded() uint64 { return c.loaded.Load() }

// Close ends what removes values in the background.
func (c *Cache) Close() { c.entries.StopAllGoroutines() }

package region

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Where a read is answered, for the metrics.
const (
	fromReplica       = iota
	fromPrimaryForOwn // the replicas that may be read lack a write of the key
	fromPrimary       // there is no replica, or none that may be read
	readsFrom
)

// Get returns what a region has for a key, or nil where it has nothing.
//
// It asks a replica, but the primary where no replica has the last write of the key for all that
// is known: who has written, reads that. A replica that fails is passed over.
func (m *Map) Get(ctx context.Context, region, key string) ([]byte, error) {
	return m.of(region).get(ctx, key)
}

// Set sets the value of a key in a region for a time. If it fails, what the key had is not read any
// more.
func (m *Map) Set(ctx context.Context, region, key string, value []byte, life time.Duration) error {
	return m.of(region).set(ctx, key, value, life)
}

// Fill sets the value of a key that has none. A value that somebody has Set meanwhile, or that a
// replica did not have yet, stays: it is newer than what a reader has found elsewhere. It follows a Get,
// which has counted a region that is unknown.
func (m *Map) Fill(ctx context.Context, region, key string, value []byte, life time.Duration) error {
	return m.known(region).fill(ctx, key, value, life)
}

func (r *group) get(ctx context.Context, key string) ([]byte, error) {
	if r.ledger.doubtful(key) {
		return nil, r.settle(ctx, key)
	}
	from := fromPrimary
	turn := r.turn.Add(1)
	for i := range r.replicas {
		i = int((turn + uint64(i)) % uint64(len(r.replicas)))
		if !r.blind {
			switch r.ledger.may(i, key) {
			case outOfUse:
				continue
			case lacksKey:
				from = fromPrimaryForOwn
				continue
			}
		}
		value, err := r.replicas[i].get(ctx, key)
		if err == nil {
			r.reads[fromReplica].Add(1)
			return value, nil
		}
		if ctx.Err() != nil {
			return nil, r.fault(err)
		}
	}
	r.reads[from].Add(1)
	value, err := r.primary.get(ctx, key)
	return value, r.fault(err)
}

func (n *node) get(ctx context.Context, key string) (value []byte, err error) {
	err = n.do(ctx, func(c *redis.Client) error {
		value, err = c.Get(ctx, key).Bytes()
		if errors.Is(err, redis.Nil) {
			value, err = nil, nil
		}
		return err
	})
	return value, err
}

// settle deletes what a write that failed may have left of an older one.
func (r *group) settle(ctx context.Context, key string) error {
	err := r.primary.do(ctx, func(c *redis.Client) error { return c.Del(ctx, key).Err() })
	if err == nil {
		r.ledger.wrote(key)
	}
	return r.fault(err)
}

func (r *group) set(ctx context.Context, key string, value []byte, life time.Duration) error {
	err := r.primary.do(ctx, func(c *redis.Client) error { return c.Set(ctx, key, value, life).Err() })
	if err == nil {
		r.ledger.wrote(key)
	} else {
		r.ledger.failed(key, life)
	}
	return r.fault(err)
}

func (r *group) fill(ctx context.Context, key string, value []byte, life time.Duration) error {
	return r.fault(r.primary.do(ctx, func(c *redis.Client) error {
		err := c.SetArgs(ctx, key, value, redis.SetArgs{Mode: "NX", TTL: life}).Err()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	}))
}

package region

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// ErrDown says that a node is down, and was not asked.
var ErrDown = errors.New("the node is down: it is asked again as soon as it answers a ping")

// mostFailures in a row mark a node down.
const mostFailures = 3

// A node is one Redis server.
type node struct {
	client  *redis.Client
	prober  *redis.Client // a connection of its own: a pool of which all is lent is no sign of death
	replica bool
	stands  func(context.Context) (position, error)
	health  string
	every   time.Duration

	failures atomic.Int32 // in a row
	down     atomic.Bool
	tried    atomic.Int64 // when a node that is down was tried last, where nothing is in the background
	refused  atomic.Uint64
	changes  atomic.Uint64
}

func newNode(address string, replica bool, o Options) *node {
	n := &node{client: client(address, o), replica: replica, health: o.Health, every: o.ProbeEvery}
	o.MaxActive, o.MaxIdle, o.MinIdle = 1, 1, 0
	n.prober = client(address, o)
	n.stands = n.position
	return n
}

func (n *node) address() string { return n.client.Options().Addr }

func (n *node) close() error { return errors.Join(n.client.Close(), n.prober.Close()) }

// warm returns when as many connections are open as are to be kept idle, or the node is down.
func (n *node) warm(ctx context.Context) error {
	want := n.client.Options().MinIdleConns
	for !n.down.Load() {
		open := int(n.client.PoolStats().TotalConns)
		if open >= want {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d connections are open: %w", open, want, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// do has f ask the node, unless it is down.
func (n *node) do(ctx context.Context, f func(c *redis.Client) error) error {
	if n.down.Load() && !n.tries() {
		n.refused.Add(1)
		return ErrDown
	}
	err := f(n.client)
	silent := ctx.Err() != nil || errors.Is(err, redis.ErrPoolTimeout) // that says nothing of the node
	if liveness.Fails(n.health) && !silent {
		n.learn(err == nil, mostFailures)
	}
	return err
}

// tries lets one in a while through to a node that is down, where no probe brings it back.
func (n *node) tries() bool {
	if liveness.Pings(n.health) {
		return false
	}
	last, now := n.tried.Load(), time.Now().UnixNano()
	return now-last >= int64(n.every) && n.tried.CompareAndSwap(last, now)
}

// learn takes note of an answer, or that there was none; so many failures in a row are too many.
func (n *node) learn(ok bool, most int32) {
	switch {
	case ok:
		n.failures.Store(0)
		n.set(false)
	case n.failures.Add(1) >= most:
		n.set(true)
	}
}

func (n *node) set(down bool) {
	if n.down.CompareAndSwap(!down, down) {
		n.tried.Store(time.Now().UnixNano())
		n.changes.Add(1)
	}
}

// probe asks the node for nothing but an answer. One that does not is down.
func (n *node) probe(ctx context.Context) {
	err := n.prober.Ping(ctx).Err()
	if ctx.Err() == nil {
		n.learn(err == nil, 1)
	}
}

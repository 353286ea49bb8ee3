package region

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/liveness"
)

// ErrDown says that a node is down, and was not asked.
var ErrDown = errors.New("the node is down: it is asked again as soon as it answers a ping")

// mostFailures in a row mark a node down.
const mostFailures = 3

// A node is one Redis server.
type node struct {
	client *redis.Client
	health string
	every  time.Duration

	failures atomic.Int32 // in a row
	down     atomic.Bool
	tried    atomic.Int64 // when a node that is down was tried last, where nothing is in the background
	refused  atomic.Uint64
	changes  atomic.Uint64
}

func newNode(address string, o Options) *node {
	return &node{client: client(address, o), health: o.Health, every: o.ProbeEvery}
}

// do has f ask the node, unless it is down.
func (n *node) do(ctx context.Context, f func(c *redis.Client) error) error {
	if n.down.Load() && !n.tries() {
		n.refused.Add(1)
		return ErrDown
	}
	err := f(n.client)
	if liveness.Fails(n.health) && ctx.Err() == nil { // who gives up says nothing of the node
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
	err := n.client.Ping(ctx).Err()
	if ctx.Err() == nil {
		n.learn(err == nil, 1)
	}
}

// Probe asks every node once whether it is there, and returns when all have said so or are marked
// down. The background does it every so often.
func (m *Map) Probe(ctx context.Context) {
	var done []chan struct{}
	for _, r := range m.regions {
		for _, n := range r.nodes() {
			c := make(chan struct{})
			done = append(done, c)
			go func() {
				defer close(c)
				n.probe(ctx)
			}()
		}
	}
	for _, c := range done {
		<-c
	}
}

func (m *Map) probe(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			m.Probe(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// nodes are all of a region.
func (r *Region) nodes() []*node { return []*node{r.primary} }

// Down calls each for every node: whether it is down, how many commands were refused meanwhile,
// and how often that has changed.
func (m *Map) Down(each func(region, node string, down bool, refused, changes uint64)) {
	for _, r := range m.regions {
		for _, n := range r.nodes() {
			each(r.Name, n.client.Options().Addr, n.down.Load(), n.refused.Load(), n.changes.Load())
		}
	}
}

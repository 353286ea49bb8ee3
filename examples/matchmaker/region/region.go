// Package region knows which Redis servers serve which region. It is a map from labels to nodes:
// regions are few, and they do not move, so there is nothing for a hash ring to do.
package region

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// Options are of each node's connections.
type Options struct {
	MaxActive int           // connections, and one more for probes; 0: 32
	MaxIdle   int           // at most MaxActive; 0: as many
	MinIdle   int           // how many idle ones are kept open, within MaxIdle; see [Map.Warm]
	Timeout   time.Duration // of a command; 0: 100 ms
	Health    string        // a mode of package liveness; empty: both
	Password  string        // of every node; empty: they ask for none
	// ProbeEvery is how often a node is probed in the background, and one that is down tried where
	// nothing is in the background; 0: 200 ms.
	ProbeEvery time.Duration

	blind bool // reads go to any replica, whatever it lacks: a control for tests
}

// defaultMaxActive is how many connections a node gets where nothing else is said.
const defaultMaxActive = 32

// Validate returns an error that says what is wrong.
func (o Options) Validate() error { return o.defaults() }

func (o *Options) defaults() error {
	if o.MaxActive < 0 || o.MaxIdle < 0 {
		return fmt.Errorf("%d connections of which %d may be idle: give 1 or more", o.MaxActive, o.MaxIdle)
	}
	if o.MaxActive == 0 {
		o.MaxActive = defaultMaxActive
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = o.MaxActive
	}
	if o.Timeout == 0 {
		o.Timeout = 100 * time.Millisecond
	}
	if o.Health == "" {
		o.Health = liveness.Both
	}
	if o.ProbeEvery == 0 {
		o.ProbeEvery = 200 * time.Millisecond
	}
	if err := liveness.Valid(o.Health); err != nil {
		return err
	}
	if o.MaxIdle > o.MaxActive {
		return fmt.Errorf("%d idle connections of at most %d: no more can be idle than there are, so give at most %d", o.MaxIdle, o.MaxActive, o.MaxActive)
	}
	if o.MinIdle < 0 || o.MinIdle > o.MaxIdle {
		return fmt.Errorf("at least %d idle connections of at most %d: give 0 to %d", o.MinIdle, o.MaxIdle, o.MaxIdle)
	}
	return nil
}

// A Map is all regions. Its methods may be called by several goroutines at once.
type Map struct {
	regions  map[string]*group
	fallback *group
	unknown  atomic.Uint64
	stop     context.CancelFunc
	probing  sync.WaitGroup
}

// A group has the servers of a region: a primary, which has all writes, and replicas, which have them later.
// A primary that is down stays the primary. To promote a replica is for an operator, who then
// starts the service with other addresses.
type group struct {
	name     string
	primary  *node
	replicas []*node
	ledger   *ledger
	probing  sync.Mutex // held for a probe: its offsets are in order
	blind    bool

	turn  atomic.Uint64 // of the replica that is asked first
	reads [readsFrom]atomic.Uint64
}

// New connects to nobody yet. The first region is the fallback.
func New(regions []Nodes, o Options) (*Map, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	if len(regions) == 0 {
		return nil, errors.New("there is no region: write " + form)
	}
	m := &Map{regions: map[string]*group{}}
	for i, n := range regions {
		r := &group{name: n.Name, primary: newNode(n.Primary, false, o), ledger: newLedger(len(n.Replicas)), blind: o.blind}
		for _, address := range n.Replicas {
			r.replicas = append(r.replicas, newNode(address, true, o))
		}
		m.regions[n.Name] = r
		if i == 0 {
			m.fallback = r
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	for _, r := range m.regions {
		m.probing.Go(func() { r.probes(ctx, o.ProbeEvery) })
	}
	return m, nil
}

// client is a client that answers soon, whether or not there is a server: go-redis by default
// tries for ten seconds and more.
func client(address string, o Options) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: address, Password: o.Password, PoolSize: o.MaxActive, MaxActiveConns: o.MaxActive, MaxIdleConns: o.MaxIdle, MinIdleConns: o.MinIdle,
		DialTimeout: o.Timeout, ReadTimeout: o.Timeout, WriteTimeout: o.Timeout, PoolTimeout: o.Timeout,
		DialerRetries: 1, MaxRetries: -1, ContextTimeoutEnabled: true, PipelinePoolSize: -1,
		DisableIdentity: true, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// of returns the region of that name, or the fallback, which is counted.
func (m *Map) of(name string) *group {
	if _, ok := m.regions[name]; !ok {
		m.unknown.Add(1)
	}
	return m.known(name)
}

// known returns the region of that name, or the fallback.
func (m *Map) known(name string) *group {
	if r, ok := m.regions[name]; ok {
		return r
	}
	return m.fallback
}

// Unknown is how often a region was not in the map.
func (m *Map) Unknown() uint64 { return m.unknown.Load() }

// Close closes all connections.
func (m *Map) Close() error {
	m.stop()
	m.probing.Wait()
	var all error
	for _, r := range m.regions {
		for n := range r.nodes {
			all = errors.Join(all, n.close())
		}
	}
	return all
}

// Ping asks every primary for an answer.
func (m *Map) Ping(ctx context.Context) error {
	var all error
	for _, r := range m.regions {
		if err := r.primary.client.Ping(ctx).Err(); err != nil {
			all = errors.Join(all, r.fault(err))
		}
	}
	return all
}

// Warm returns when MinIdle connections are open to each node that is up: they are opened in the background.
// It asks again and again until ctx ends, and then says of which primary they are not. A replica that lacks
// some is read all the same.
func (m *Map) Warm(ctx context.Context) error {
	var all error
	for _, r := range m.regions {
		for n := range r.nodes {
			if err := n.warm(ctx); !n.replica {
				all = errors.Join(all, r.fault(err))
			}
		}
	}
	return all
}

// nodes yields all of a region, the primary first.
func (r *group) nodes(yield func(*node) bool) {
	if !yield(r.primary) {
		return
	}
	for _, n := range r.replicas {
		if !yield(n) {
			return
		}
	}
}

func (r *group) fault(err error) error {
	if err != nil {
		return fmt.Errorf("redis of region %s: %w", r.name, err)
	}
	return nil
}

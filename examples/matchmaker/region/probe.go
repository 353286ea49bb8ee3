package region

import (
	"context"
	"sync"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// Probe asks every node once whether it is there, and every replica how far it is behind, and
// returns when all have said so or are marked down. The background does it every so often.
func (m *Map) Probe(ctx context.Context) {
	var probing sync.WaitGroup
	for _, r := range m.regions {
		probing.Go(func() { r.probe(ctx) })
	}
	probing.Wait()
}

// probes probes one region every so often. Each has its own: no region waits for another's.
func (r *group) probes(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			r.probe(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func (r *group) probe(ctx context.Context) {
	r.probing.Lock()
	defer r.probing.Unlock()
	if liveness.Pings(r.primary.health) {
		var pinging sync.WaitGroup
		for n := range r.nodes {
			pinging.Go(func() { n.probe(ctx) })
		}
		pinging.Wait()
	}
	if len(r.replicas) > 0 {
		r.compare(ctx)
	}
	r.ledger.forget(time.Now())
}

// compare asks where the primary stands, and then whether its replicas have come as far. That is
// no matter of health: without it no replica can be read.
func (r *group) compare(ctx context.Context) {
	r.ledger.begin()
	p, err := r.primary.standing(ctx)
	if ctx.Err() != nil {
		return
	}
	answered := err == nil
	if answered {
		r.ledger.stands(p)
	}
	var asking sync.WaitGroup
	for i, n := range r.replicas {
		asking.Go(func() {
			p, err := n.standing(ctx)
			if ctx.Err() == nil {
				r.ledger.follows(i, p, err, answered)
			}
		})
	}
	asking.Wait()
}

// standing is where the node stands. One that is down is not asked.
func (n *node) standing(ctx context.Context) (position, error) {
	if n.down.Load() {
		return position{}, ErrDown
	}
	return n.stands(ctx)
}

// Package bad08 routes requests to replicas and tracks them.
package bad08

import (
	"net/http"
	"sync"
	"sync/atomic"
)

type replica struct {
	addr    string
	running atomic.Int64
}

type routing struct {
	id     string
	target *replica
	done   bool
}

func (rc *routing) finish() {
	if !rc.done {
		rc.done = true
		rc.target.running.Add(-1)
	}
}

// Gateway spreads requests.
type Gateway struct {
	pool     sync.Pool
	finals   sync.Map
	replicas []*replica
	next     atomic.Uint64
}

// Final runs what remains for the request when its stream has ended.
func (g *Gateway) Final(id string) {
	if f, ok := g.finals.LoadAndDelete(id); ok {
		f.(func())()
	}
}

// ServeHTTP picks a replica and answers with its address.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc, _ := g.pool.Get().(*routing)
	if rc == nil {
		rc = &routing{}
	}
	defer g.pool.Put(rc)
	*rc = routing{id: r.Header.Get("X-Request-Id")}
	rc.target = g.replicas[g.next.Add(1)%uint64(len(g.replicas))]
	rc.target.running.Add(1)

	g.finals.Store(rc.id, rc.finish) // want `\(returnput\)`
	w.Header().Set("X-Replica", rc.target.addr)
	w.WriteHeader(http.StatusAccepted)
}

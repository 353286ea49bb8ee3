package dewsync

import (
	"sync"

	"github.com/dewpond/dewpond/internal/hooks"
)

// youngCalls is how many calls a Pool serves before it keeps objects itself. A program may have thousands of pools
// of which each is used now and then, or once, and such a pool is to cost what a sync.Pool does.
var youngCalls uint64 = 63 // 0 in tests that count

// A young is a Pool before there is a kind: a sync.Pool, and calls that the first kind will count.
type young struct {
	cache sync.Pool
	calls hooks.Calls // guarded by Pool.mu
}

// isYoung reports whether the Pool needs no kind for a call that brings or makes an object.
func (p *Pool) isYoung() bool {
	if len(p.all()) > 0 {
		return false
	}
	p.mu.Lock()
	c := p.calls
	p.mu.Unlock()
	return c.Recovered+c.Missed+c.Puts < youngCalls && hooks.MayCache()
}

// count counts calls that no kind has seen: for the first one, because it is not known which type the caller of a
// Get that returns nil would have wanted.
func (p *Pool) count(c hooks.Calls) {
	kinds := p.all()
	if len(kinds) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		kinds = p.all() // perhaps one is made meanwhile: then grow does not see what is counted here
	}
	if len(kinds) > 0 {
		kinds[0].count(c)
		return
	}
	p.calls.Recovered += c.Recovered
	p.calls.Missed += c.Missed
	p.calls.Puts += c.Puts
}

// grow has the Pool keep what it had when it was young, after its first kind is made. What a Put that began
// before brings later is the collector's.
func (p *Pool) grow(first *kind) {
	p.mu.Lock()
	c := p.calls
	p.mu.Unlock()
	for hooks.MayCache() {
		x := p.cache.Get()
		if x == nil {
			break
		}
		p.kindOf(x).put(x) // counts it again
		c.Puts--
	}
	first.count(c)
}

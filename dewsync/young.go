package dewsync

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/hooks"
)

// A Pool serves youngCalls calls before it keeps objects itself: a program may have thousands of pools of which each
// is used now and then, or once, and such a pool should cost what a sync.Pool does. It serves up to mostYoungCalls if
// they come within youngTime, because many live no longer, and because a test that counts the allocations of its
// first calls, as with testing.AllocsPerRun, should not meet those of the Pool's own memory.
const (
	leastCalls     = 63
	mostYoungCalls = 1023
	youngAge       = 10 * time.Millisecond
)

// In tests that count calls both are 0.
var (
	youngCalls uint64 = leastCalls
	youngTime         = youngAge
)

// start is what Pools count time from, and sinceStart the time.
var (
	start      = time.Now()
	sinceStart = func() time.Duration { return time.Since(start) }
)

// A young is a Pool before there is a kind: a sync.Pool, and calls that the first kind will count. Pool.mu guards it.
type young struct {
	cache sync.Pool
	calls hooks.Calls
	first time.Duration // when the first call came, since start
	open  func() bool   // whether the cache may be used now; nil: never
	asked uint32        // open is of the hooks.Settings before this; 0: of none
}

// getYoung returns an object that the Pool had put back when it was young, or nil.
func (p *Pool) getYoung() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all()) > 0 || !p.mayCache() {
		return nil
	}
	x := p.cache.Get()
	if x != nil {
		p.countYoung(hooks.Calls{Recovered: 1})
	}
	return x
}

// putYoung keeps an object and reports true, unless it is time for a kind.
func (p *Pool) putYoung(x any) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isYoung() {
		return false
	}
	p.countYoung(hooks.Calls{Puts: 1})
	p.cache.Put(x)
	return true
}

// missedYoung counts a miss and reports true, unless it is time for a kind.
func (p *Pool) missedYoung() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isYoung() {
		return false
	}
	p.countYoung(hooks.Calls{Missed: 1})
	return true
}

// missed counts a Get that returns nil, for the first kind: it is not known which type the caller wants.
func (p *Pool) missed() {
	c := hooks.Calls{Missed: 1}
	if len(p.all()) == 0 {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.all()) == 0 {
			p.countYoung(c)
			return
		}
	}
	p.all()[0].count(c)
}

// isYoung reports whether the Pool needs no kind for a call that brings or makes an object.
func (p *Pool) isYoung() bool {
	if len(p.all()) > 0 || !p.mayCache() {
		return false
	}
	calls := p.calls.Recovered + p.calls.Missed + p.calls.Puts
	return calls < youngCalls || calls < mostYoungCalls && sinceStart()-p.first < youngTime
}

func (p *Pool) mayCache() bool {
	if g := hooks.Settings.Load() + 1; p.asked != g {
		p.open, p.asked = hooks.MayCache(), g
	}
	return p.open != nil && p.open()
}

func (p *Pool) countYoung(c hooks.Calls) {
	if p.calls == (hooks.Calls{}) && p.mayCache() { // a bubble's clock is another
		p.first = sinceStart()
	}
	p.calls.Recovered += c.Recovered
	p.calls.Missed += c.Missed
	p.calls.Puts += c.Puts
}

// grow has the Pool keep what it had when it was young, after its first kind is made.
func (p *Pool) grow(first *kind) {
	take := func() (x any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.mayCache() {
			x = p.cache.Get()
		}
		return x
	}
	c := p.calls // no call changes them any more
	for x := take(); x != nil; x = take() {
		p.kindOf(x).put(x) // counts it again
		c.Puts--
	}
	first.count(c)
}

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
var (
	youngCalls     uint64 = 63 // 0 in tests that count
	mostYoungCalls uint64 = 1023
	youngTime             = 10 * time.Millisecond
)

// start is what Pools count time from.
var start = time.Now()

// A young is a Pool before there is a kind: a sync.Pool, and calls that the first kind will count. Pool.mu guards it.
type young struct {
	cache sync.Pool
	calls hooks.Calls
	first time.Duration // when the first call came, since start
	open  func() bool   // whether the cache may be used now; nil: never
	asked bool          // open is set
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := (hooks.Calls{Missed: 1}); len(p.all()) > 0 {
		p.all()[0].count(c)
	} else {
		p.countYoung(c)
	}
}

// isYoung reports whether the Pool needs no kind for a call that brings or makes an object.
func (p *Pool) isYoung() bool {
	if len(p.all()) > 0 || !p.mayCache() {
		return false
	}
	calls := p.calls.Recovered + p.calls.Missed + p.calls.Puts
	return calls < youngCalls || calls < mostYoungCalls && time.Since(start)-p.first < youngTime
}

func (p *Pool) mayCache() bool {
	if !p.asked {
		p.open, p.asked = hooks.MayCache(), true
	}
	return p.open != nil && p.open()
}

func (p *Pool) countYoung(c hooks.Calls) {
	if p.calls == (hooks.Calls{}) {
		p.first = time.Since(start)
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

package dewpond

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/pressure"
)

// Gathered reports whether the pool bypasses its shards.
func Gathered(p *BytePool) bool { return p.engine.Gathered() }

// Waiting reports whether anybody waits in GetContext.
func Waiting(p *BytePool) bool { return p.queue.waiting.Load() > 0 }

// Unlocked reports whether nobody holds the budget's lock.
func Unlocked(b *Budget) bool {
	if !b.mu.TryLock() {
		return false
	}
	b.mu.Unlock()
	return true
}

// Claims returns how many wait for bytes of a budget.
func Claims(b *Budget) int64 { return b.waiting.Load() }

// Members returns how many pools a budget knows.
func Members(b *Budget) int { return len(*b.members.Load()) }

// Reserved returns the bytes that the pool keeps idle or holds places for.
func Reserved(p *BytePool) int64 { return p.engine.Reserved() }

// LastGeneration and FirstGeneration put a lease's handle into its last generation,
// and name its first one.
func LastGeneration(l Lease) Lease {
	l.h.word.Store(1<<64 - 1<<32 + ownerHolds)
	l.generation = 1<<32 - 1
	return l
}

func FirstGeneration(l Lease) Lease {
	l.generation = 0
	return l
}

// SameHandle reports whether two leases have one handle.
func SameHandle(a, b Lease) bool { return a.h == b.h }

// Armed reports whether a timer will let go of what the pool has idle.
func Armed(p *BytePool) bool { return p.decay.armed.Load() }

// CountLooks counts how often the pool's timers, and what hangs on the collector, look for
// the pool.
func CountLooks(p *BytePool, n *atomic.Int64) {
	d := &p.decay
	d.alive = func() *decayer { n.Add(1); return d }
}

// AgeBubble has the pool's bubble be found a minute earlier than it was.
func AgeBubble(p *BytePool) {
	p.decay.mu.Lock()
	defer p.decay.mu.Unlock()
	if !p.decay.seen.IsZero() {
		p.decay.seen = p.decay.seen.Add(-bubbleLife)
	}
}

// Untimed makes the pool's timer do nothing when it fires, and arm no other.
func Untimed(p *BytePool) {
	p.decay.mu.Lock()
	defer p.decay.mu.Unlock()
	p.decay.timer++
}

// testLevel is the level of pressure that the tests see, or realLevel for the
// machine's. They begin with low, whatever the machine that they run on says.
var testLevel atomic.Uint32

const realLevel = 100

func init() {
	readLevel = func(offHeap int64) pressure.Level {
		if level := testLevel.Load(); level != realLevel {
			return pressure.Level(level)
		}
		return monitor.Level(offHeap)
	}
}

// SetLevel makes the level what a test says.
func SetLevel(level Level) { testLevel.Store(uint32(level)) }

// RealLevel makes it the machine's.
func RealLevel() { testLevel.Store(realLevel) }

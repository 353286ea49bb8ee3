package dewpond

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/pressure"
)

// Gathered reports whether the pool bypasses its shards.
func Gathered(p *BytePool) bool { return p.engine.IsDirect() }

// Waiting reports whether anybody waits in GetContext.
func Waiting(p *BytePool) bool { return p.gate.Waiting() > 0 }

// WaitingFor reports how many wait in GetContext of a Pool.
func WaitingFor[T any](p *Pool[T]) int64 { return int64(p.out.Waiting()) }

// TrimAsTimer lets go of what a pool has idle as its timer does under high pressure.
func TrimAsTimer(p *BytePool) { p.trimReserved() }

// MissTimer returns what the timer does that was armed last for those who wait for
// AllocLimit.
func MissTimer(p *BytePool) func() { return p.gate.MissTimer() }

// Bubble returns the number of the caller's bubble.
func Bubble() uint64 { return bubble.Of(time.Now()) }

// Unlocked reports whether nobody holds the budget's lock.
func Unlocked(b *Budget) bool { return b.of.Unlocked() }

// Claims returns how many wait for bytes of a budget.
func Claims(b *Budget) int64 { return b.of.Waiting() }

// Members returns how many pools a budget knows.
func Members(b *Budget) int { return b.of.Members() }

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
func Armed(p *BytePool) bool { return p.decay.Armed() }

// ForgetWarnings has the log be told again of what it is told once.
func ForgetWarnings() { unknownMode, uselessLeakAfter = new(sync.Once), new(sync.Once) }

// DuringStats makes every Stats of a pool that is checked call f between two of its looks.
func DuringStats(p StatsSource, f func()) { checksOf(p).looked = f }

// EndQuarantines does what a tick does to the quarantine of a pool that is checked.
func EndQuarantines(p StatsSource) { checksOf(p).Flush() }

func checksOf(p StatsSource) *checks { return p.(interface{ checked() *checks }).checked() }

func (p *BytePool) checked() *checks { return p.checks }
func (p *Pool[T]) checked() *checks  { return p.checks }

// CountTrims counts how often high pressure has emptied an engine, until the test's end, and
// the most that were at it at once. Each calls pause meanwhile.
func CountTrims(t interface{ Cleanup(func()) }, pause func()) (trims, most func() int64) {
	var now, all, max atomic.Int64
	t.Cleanup(decay.CountTrims(func() {
		all.Add(1)
		if n := now.Add(1); n > max.Load() {
			max.Store(n)
		}
		pause()
	}, func() { now.Add(-1) }))
	return all.Load, max.Load
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

// SetLevel makes the level what a test says, as a reading would.
func SetLevel(level Level) {
	if testLevel.Swap(uint32(level)) != uint32(level) {
		shown.Add(pressure.Level(level))
	}
}

// RealLevel makes it the machine's.
func RealLevel() { testLevel.Store(realLevel) }

// AfterCollection is what is called after a garbage collection, and Collections how often
// it was.
func AfterCollection() { afterCollection() }

func Collections() int64 { return collections.Load() }

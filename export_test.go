package dewpond

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/guardpage"
	"github.com/dewpond/dewpond/internal/pressure"
	"github.com/dewpond/dewpond/misuse"
)

// Most tests look into one pool that does its work itself. Those of bubbles_test.go ask for parts.
var _ = func() bool {
	keepApart = func() bool { return false }
	return true
}()

// KeepApart has pools that are made during a test keep bubbles apart, if this process can.
func KeepApart(t interface{ Cleanup(func()) }) (ok bool) {
	before := keepApart
	t.Cleanup(func() { keepApart = before })
	ok, _ = bubble.Apart()
	keepApart = func() bool { return ok }
	return ok
}

// GuardAs has pools that are made during a test guard blocks, as a value of DEWPOND_GUARD asks for. It
// returns their Guard, and why they do not, or "".
func GuardAs(t interface{ Cleanup(func()) }, setting string) (g *guardpage.Guard, why string) {
	asked, ok := guardpage.Parse(setting)
	if !ok {
		panic(setting)
	}
	before := processGuard.Load()
	t.Cleanup(func() { processGuard.Store(before) })
	g = guardpage.New(asked, armAll)
	processGuard.Store(g)
	return g, g.Off()
}

// IsGuarded reports whether a slice begins where a guarded block does that is out, or idle.
func IsGuarded(b []byte) bool { return processGuard.Load().Begins(addressOf(b)) }

// PartsOf and PartsOfBytes return how many bubbles have a part of a pool.
func PartsOf[T any](p *Pool[T]) int { return len(p.parts.bubbles.All(func() {})) }

func PartsOfBytes(p *BytePool) int { return len(p.parts.bubbles.All(func() {})) }

// Births returns how many objects a pool knows to be of a bubble.
func Births[T any](p *Pool[T]) (n int) {
	for range p.parts.made.Range {
		n++
	}
	return n
}

// Unreturned reports what is out of a pool, and returns how much that is.
func Unreturned[T any](p *Pool[T]) int { return p.reportLeaks() }

// MayBelong reports whether a pool of a type has parts.
func MayBelong(t reflect.Type) bool { return mayBelong(t) }

// ErrReleased is what Release returns if the owner has released before.
var ErrReleased = errors.New("released before")

// Release is [Lease.Release], and says what that does not: whether it was the owner's first.
func Release(l Lease) error {
	if !l.releaseOnce() {
		return ErrReleased
	}
	return nil
}

// IsWatched reports whether the checks of a pool watch a block.
func IsWatched(p *BytePool, b []byte) bool { return p.checks.Around(addressOf(b)) != nil }

// IsDirect reports whether the pool bypasses its shards.
func IsDirect(p *BytePool) bool { return p.engine.IsDirect() }

// Waiting reports whether anybody waits in GetContext.
func Waiting(p *BytePool) bool { return p.gate.Waiting() > 0 }

// WaitingFor reports how many wait in GetContext of a Pool.
func WaitingFor[T any](p *Pool[T]) int64 { return int64(p.out.Waiting()) }

// TrimAsTimer is what the timer of a pool calls under high pressure.
func TrimAsTimer(p interface{ trimInTurn() bool }) (all bool) { return p.trimInTurn() }

// MissTimer returns what the timer does that was armed last for the waiters for
// AllocRate.
func MissTimer(p *BytePool) func() { return p.gate.MissTimer() }

// Bubble returns the number of the caller's bubble.
func Bubble() uint64 { return bubble.Of(time.Now()) }

// Looked returns how often refusals of the budget have looked at a pool.
func Looked(b *Budget) uint64 { return b.of.Looked() }

// Unlocked reports whether the budget's lock is free.
func Unlocked(b *Budget) bool { return b.of.Unlocked() }

// Claims returns how many wait for bytes of a budget.
func Claims(b *Budget) int64 { return b.of.Waiting() }

// Members returns how many pools a budget knows.
func Members(b *Budget) int { return b.of.MemberCount() }

// Reserved returns the bytes that the pool keeps idle or holds places for.
func Reserved(p *BytePool) int64 { return p.engine.Reserved() }

// LastGeneration and FirstGeneration put a lease's handle into its last generation,
// and name its first one.
func LastGeneration(l Lease) Lease {
	l.h.word.Store(lastGeneration*generationUnit + ownedBit)
	l.mark |= 1<<32 - 1 - capBits
	return l
}

func FirstGeneration(l Lease) Lease {
	l.mark &= capBits
	return l
}

// FirstBlock returns how large a block the first write to a Buffer takes now, in bytes.
func FirstBlock(p *BytePool) int { return p.first.Size() }

// LimitIsRight reports whether a Buffer may fill as much of its block as it thinks.
func LimitIsRight(b *Buffer) bool { return b.limit == b.Cap() || b.limit < 0 }

// SameHandle reports whether two leases have one handle.
func SameHandle(a, b Lease) bool { return a.h == b.h }

// Armed reports whether a timer will let go of what the pool has idle.
func Armed(p *BytePool) bool { return p.decay.Armed() }

// ForgetWarnings has the log be told again of what it is told once.
func ForgetWarnings() { unknownMode, uselessLeakAfter = new(sync.Once), new(sync.Once) }

// DuringStats makes every Stats of a pool that is checked call f between two of its looks.
func DuringStats(p StatsSource, f func()) { checksOf(p).looked = f }

// Told returns what OnViolation is told of what a pool of Types has found.
func Told[Type any](found misuse.Violation) misuse.Violation {
	return (&reports{pool: "pool", advice: "advice", objects: reflect.TypeFor[Type]()}).violation(found)
}

// EndQuarantines does what a tick does to the quarantine of a pool that is checked.
func EndQuarantines(p StatsSource) { checksOf(p).Flush() }

// DecayHere calls all that decay calls of each part of a pool that is checked.
func DecayHere[T any](p *Pool[T]) {
	for _, part := range p.parts.all() {
		part.settle() // first, while the engine is full
		part.shed(0, 1000)
		part.trimInTurn()
	}
}

func checksOf(p StatsSource) *checks { return p.(interface{ checked() *checks }).checked() }

func (p *BytePool) checked() *checks { return p.checks }
func (p *Pool[T]) checked() *checks  { return p.checks }

func (p *SlicePool[T]) checked() *checks { return p.pool.checks }

// CountTrims counts how often high pressure has emptied an engine of the pools whose names begin
// so, until the test's end, how often one of any pool, which other tests may have left, and the
// most that were at it at once. Each calls pause meanwhile.
func CountTrims(t interface{ Cleanup(func()) }, names string, pause func()) (trims, ofAny, most func() int64) {
	var now, own, all, max atomic.Int64
	t.Cleanup(decay.CountTrims(func(pool string) {
		all.Add(1)
		if strings.HasPrefix(pool, names) {
			own.Add(1)
		}
		if n := now.Add(1); n > max.Load() {
			max.Store(n)
		}
		pause()
	}, func() { now.Add(-1) }))
	return own.Load, all.Load, max.Load
}

// The tests begin with low pressure, whatever the machine that they run on says.
func init() { pressure.Force(pressure.Low) }

// SetLevel makes the level what a test says, as a reading would.
func SetLevel[L ~uint8](level L) { pressure.Force(pressure.Level(level)) }

// AfterCollection is what is called after a garbage collection, and Collections how often
// it was.
func AfterCollection() { afterCollection() }

func Collections() int64 { return collections.Load() }

// BodySize returns the size of the blocks that a BodyPool hands out now.
func BodySize(h *BodyPool) int { return h.fits.Size() }

// BodyPools returns how many BodyPools a pool knows, those that are gone included.
func BodyPools(p *BytePool) int { return len(p.bodyPools.all) }

// Spilled returns at most how many bytes the second tiers of all pools have.
func Spilled() int64 { return spilled() }

package admission

import (
	"math"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// An Owner is the pool that a Gate belongs to.
type Owner interface {
	// Free lets go of a block that neither the engine nor a caller has. It may be called
	// under the lock of the Gate, so it must call no pool; what it finds, and what
	// panics, is for l. The Gate takes the charge off the Budget itself.
	Free(class uint8, block magazine.Block, l *late.List)

	// Loosened is called after blocks were let go, perhaps under the lock.
	Loosened()

	// Kept is called after the engine has kept a block on a slow path.
	Kept()
}

// A Config is what a Gate is made from. The caller has checked it.
type Config struct {
	Name       string // of the pool
	Owner      Owner
	Engine     *magazine.Engine
	Sizes      []int // bytes of a block, by class
	AllocLimit int   // misses a second; 0: no limit
	Budget     *Budget
	Heap       bool // the blocks are of the Go heap, where a lost one is found by the collector
	Gathered   bool // the engine is gathered for good
}

// A Gate decides for one pool who may have a block: at once, later, or never. All its
// methods may be called by any number of goroutines at once, after Init and Join. A pool
// holds its Gate by value, in a named field; it must not be copied.
type Gate struct {
	owner    Owner
	engine   *magazine.Engine
	sizes    []int
	name     string // of the pool
	gathered bool

	limiter limiter
	account *account // nil: no Budget
	queue   queue
	counts  []counts // by class
}

// Counts are the blocks of one class that came past the Gate. Each only grows.
type Counts struct {
	Puts   uint64 // those that the engine does not count, each once, whatever came of it
	Handed uint64 // from a Put straight to a waiter
	Full   uint64 // dropped: no room, or an overdrawn Budget
	Closed uint64 // dropped: the pool is closed
}

type counts struct{ puts, handed, full, closed atomics.Statistic }

// Init prepares a Gate, which nobody else knows yet.
func (g *Gate) Init(c Config) {
	g.name, g.owner, g.engine, g.sizes, g.gathered = c.Name, c.Owner, c.Engine, c.Sizes, c.Gathered
	g.limiter.init(c.AllocLimit)
	g.counts = make([]counts, len(c.Sizes))
	g.queue.init(len(c.Sizes), c.Budget)
	if c.Budget != nil {
		g.account = newAccount(c.Budget, c.Sizes, c.Heap)
	}
}

// Join makes the pool known to the other pools of its Budget, which may look at its engine
// from then on.
func (g *Gate) Join() {
	if g.account != nil {
		g.account.join(g)
	}
}

// Counts returns what has come past the Gate. A block is counted before a waiter has it.
func (g *Gate) Counts(class uint8) Counts {
	c := &g.counts[class]
	return Counts{c.puts.Load(), c.handed.Load(), c.full.Load(), c.closed.Load()}
}

// TryGet returns an idle block of a class, or an error, or nil twice: then the caller may
// allocate, which has been charged. It comes after a look at the engine that found nothing.
func (g *Gate) TryGet(class uint8) (block magazine.Block, err error) {
	if !g.takeMiss() {
		return g.Idle(class)
	}
	allowed := false
	defer func() {
		if !allowed { // also if a report panics
			g.returnMiss()
		}
	}()
	if !g.charge(class, false) {
		if block, err = g.Idle(class); err != ErrExhausted {
			return block, err
		}
		if !g.account.makeRoom(g.sizes[class]) {
			return nil, ErrExhausted
		}
	}
	allowed = true
	return nil, nil
}

// TryBytes reports whether the Budget, if there is one, has room for a slice that no class
// holds, and charges it.
func (g *Gate) TryBytes(n int) bool {
	return g.account == nil || g.chargeBytes(n, false) || g.account.makeRoom(n)
}

// Idle returns a block of the class that lies idle in any shard. Where it returns
// ErrExhausted, there was a moment during the call when none did.
func (g *Gate) Idle(class uint8) (magazine.Block, error) {
	g.queue.refusedNow()
	for {
		block, exact := g.engine.PopExact(class)
		switch {
		case block != nil:
			return block, nil
		case exact:
			return nil, ErrExhausted
		case !g.engine.Gather():
			return nil, ErrClosed
		}
	}
}

// Overrun charges a miss of Get, which is never refused, and reports which bounds it is
// past.
func (g *Gate) Overrun(class uint8) (overLimit, overBudget bool) {
	overLimit = !g.takeMiss()
	if !g.charge(class, true) {
		g.account.chargeAnyway(g.sizes[class])
		overBudget = true
	}
	return overLimit, overBudget
}

// OverrunBytes is Overrun for a slice that no class holds.
func (g *Gate) OverrunBytes(n int) (overBudget bool) {
	if g.account == nil || g.chargeBytes(n, true) {
		return false
	}
	g.account.chargeAnyway(n)
	return true
}

// Charge reports whether the Budget, if there is one, has room for a block as it is, and
// charges it. AllocLimit is not asked.
func (g *Gate) Charge(class uint8) bool { return g.account.charge(g.sizes[class]) }

// Uncharge gives back what was charged for a block that there is not, to those who wait
// first.
func (g *Gate) Uncharge(class uint8) { g.UnchargeBytes(g.sizes[class]) }

// UnchargeBytes is Uncharge for a slice that no class holds.
func (g *Gate) UnchargeBytes(n int) {
	g.account.uncharge(int64(n))
	g.account.serve()
}

// Return is Uncharge for what TryGet or Wait allowed: with the charge the miss goes back to
// AllocLimit.
func (g *Gate) Return(class uint8) {
	defer g.returnMiss() // also if Uncharge cannot wake somebody
	g.Uncharge(class)
}

// takeMiss reports whether AllocLimit allows a miss now, and counts it. While somebody
// waits, what is left is for the waiters.
func (g *Gate) takeMiss() bool {
	return g.limiter.unlimited() || g.queue.waiting.Load() == 0 && g.limiter.allow()
}

// returnMiss gives back what takeMiss or a grant has allowed, to those who wait first.
func (g *Gate) returnMiss() {
	if g.limiter.unlimited() {
		return
	}
	g.limiter.restore(bubble.Of(atomics.Now()))
	g.queue.mu.Lock()
	defer g.queue.unlock()
	g.allowLocked()
}

// charge reports whether the Budget, if there is one, has room for a block of the
// class, and charges it. It lets other blocks go for that where it finds them at once.
// For Get it lets them go also where that is not enough, to go past the Budget by less.
func (g *Gate) charge(class uint8, get bool) bool {
	return g.account == nil || g.chargeBytes(g.sizes[class], get)
}

// chargeBytes is charge for any size, where there is a Budget.
func (g *Gate) chargeBytes(n int, get bool) bool {
	return g.account.charge(n) || (get || g.account.budget.inReach(n)) && g.account.shed(n)
}

// Budget returns the Budget, or nil.
func (g *Gate) Budget() *Budget {
	if g.account == nil {
		return nil
	}
	return g.account.budget
}

// Overdrawn reports whether more is charged to the Budget than its limit, as only Get does.
func (g *Gate) Overdrawn() bool { return g.account != nil && g.account.budget.Over() > 0 }

// many is more blocks than there are.
const many = math.MaxInt

package admission

import (
	"math"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/perclass"
)

// An Owner is the pool that a Gate belongs to.
type Owner interface {
	// Free frees a block that neither the engine nor a caller has. It may be called under the
	// lock of the Gate, so it must not call a pool. It adds reports and panics to l. The Gate
	// takes the charge off the Budget itself.
	Free(class uint8, block magazine.Block, l *late.List)

	// Loosened is called after blocks were freed, perhaps under the lock.
	Loosened()

	// Kept is called after the engine has kept a block on a slow path.
	Kept()
}

// A Config says how to make a Gate. The caller has validated it.
type Config struct {
	Name      string // of the pool
	Owner     Owner
	Engine    *magazine.Engine
	Sizes     []int // bytes of a block, by class
	AllocRate int   // misses a second; 0: no limit
	Budget    *Budget
	Heap      bool // the blocks are on the Go heap, where the collector finds lost ones
	Direct    bool // the engine is in direct mode permanently
}

// A Gate decides for one pool who gets a block: at once, later, or never. After Init and Join
// its methods are safe for concurrent use. A pool holds its Gate by value, in a named field;
// it must not be copied.
type Gate struct {
	owner  Owner
	engine *magazine.Engine
	sizes  []int
	name   string // of the pool
	direct bool

	limiter  limiter
	account  *account // nil: no Budget
	queue    queue
	counters perclass.List[counters]
	slept    bubble.Slept // in Wait and WaitBytes

	lost *atomics.Witness // has the account leave the Budget
}

// Counts counts the blocks of one class that passed the Gate. Each number only grows.
type Counts struct {
	Puts   uint64 // those that the engine does not count, each once, whatever the outcome
	Handed uint64 // from a Put directly to a waiter
	Full   uint64 // dropped: no room, or the Budget is overdrawn
	Closed uint64 // dropped: the pool is closed
}

type counters struct{ puts, handed, full, closed atomics.Statistic }

// Init prepares a Gate that no other goroutine has yet.
func (g *Gate) Init(c Config) {
	g.name, g.owner, g.engine, g.sizes, g.direct = c.Name, c.Owner, c.Engine, c.Sizes, c.Direct
	g.limiter.init(c.AllocRate)
	g.counters.Init(len(c.Sizes), nil)
	g.queue.init(c.Budget)
	if c.Budget != nil {
		g.account = newAccount(c.Budget, c.Sizes, c.Heap)
	}
}

// Join makes the pool known to the other pools of its Budget. They may use its engine from
// then on.
func (g *Gate) Join() {
	if g.account != nil {
		g.account.join(g)
	}
}

// Size returns how many bytes a block of a class counts in the Budget.
func (g *Gate) Size(class uint8) int { return g.sizes[class] }

// Counts returns the counts of a class. A block is counted before a waiter has it.
func (g *Gate) Counts(class uint8) Counts {
	if g.counters.Made() == nil {
		return Counts{}
	}
	c := g.counters.At(class)
	return Counts{c.puts.Load(), c.handed.Load(), c.full.Load(), c.closed.Load()}
}

// TryGet returns an idle block of a class, or a permit: then the caller may allocate a block,
// which has been charged. If there is neither it returns an error. Call it after the engine had
// no block.
func (g *Gate) TryGet(class uint8) (block magazine.Block, permit bool, err error) {
	if !g.takeMisses(1) {
		block, err = g.Idle(class)
		return block, false, err
	}
	defer func() {
		if !permit { // also if a report panics
			g.returnMisses(1)
		}
	}()
	if !g.chargeFromDepots(class, false) {
		if block, err = g.Idle(class); err != ErrExhausted {
			return block, false, err
		}
		if !g.account.makeRoom(g.sizes[class]) {
			return nil, false, ErrExhausted
		}
	}
	return nil, true, nil
}

// Allow charges n blocks of a class that the caller may allocate, and reports whether
// AllocRate and the Budget allow all of them now. It does not look for idle blocks in the
// shards of other processors: Wait does.
func (g *Gate) Allow(class uint8, n int) (allowed bool) {
	if !g.takeMisses(n) {
		return false
	}
	defer func() {
		if !allowed { // also if a report panics
			g.returnMisses(n)
		}
	}()
	return g.account == nil || g.chargeBytesFromDepots(n*g.sizes[class], false)
}

// TryBytes charges n bytes for slices that no class holds, and reports whether the Budget
// has room for them. Without a Budget it returns true.
func (g *Gate) TryBytes(n int) bool {
	return g.account == nil || g.chargeBytesFromDepots(n, false) || g.account.makeRoom(n)
}

// Idle returns a block of the class that is idle in any shard. If it returns ErrExhausted,
// there was a moment during the call at which no block was idle.
func (g *Gate) Idle(class uint8) (magazine.Block, error) {
	g.queue.refusedNow()
	for {
		block, exact := g.engine.PopExact(class)
		switch {
		case block != nil:
			return block, nil
		case exact:
			return nil, ErrExhausted
		case !g.engine.EnterDirect():
			return nil, ErrClosed
		}
	}
}

// Overrun charges a miss of Get, which is never refused, and reports which limits the miss
// exceeds.
func (g *Gate) Overrun(class uint8) (overRate, overBudget bool) {
	overRate = !g.takeMisses(1)
	if !g.chargeFromDepots(class, true) {
		g.account.chargeAnyway(g.sizes[class])
		overBudget = true
	}
	return overRate, overBudget
}

// OverrunBytes is Overrun for a slice that no class holds.
func (g *Gate) OverrunBytes(n int) (overBudget bool) {
	if g.account == nil || g.chargeBytesFromDepots(n, true) {
		return false
	}
	g.account.chargeAnyway(n)
	return true
}

// Charge charges a block of the class, and reports whether the Budget has room for it. It
// frees no idle blocks to make room and does not consult AllocRate. Without a Budget it
// returns true.
func (g *Gate) Charge(class uint8) bool { return g.account.charge(g.sizes[class]) }

// Uncharge gives back the charge for a block that was not made, first to waiters.
func (g *Gate) Uncharge(class uint8) { g.UnchargeBytes(g.sizes[class]) }

// UnchargeBytes is Uncharge for a slice that no class holds.
func (g *Gate) UnchargeBytes(n int) {
	g.account.uncharge(int64(n))
	g.account.grantBytes()
}

// Return gives back what TryGet, Allow or Wait permitted for n blocks: the charge, and the
// misses to AllocRate.
func (g *Gate) Return(class uint8, n int) {
	defer g.returnMisses(n) // also if UnchargeBytes cannot wake somebody
	g.UnchargeBytes(n * g.sizes[class])
}

// takeMisses counts n misses if AllocRate allows all of them now, and reports whether it
// does. While a waiter stands in line, the misses that are left are reserved for waiters.
func (g *Gate) takeMisses(n int) bool {
	return g.limiter.unlimited() || g.queue.waiting.Load() == 0 && g.limiter.allow(n)
}

// returnMisses gives back misses that takeMisses or a grant allowed, first to waiters.
func (g *Gate) returnMisses(n int) {
	if g.limiter.unlimited() || n == 0 {
		return
	}
	g.limiter.restore(bubble.Of(atomics.Now()), n)
	g.queue.mu.Lock()
	defer g.queue.unlock()
	if g.queue.armed > 1 {
		g.queue.armed = 0 // a batch may need to wait for fewer now
	}
	g.allowLocked()
}

// chargeFromDepots charges a block of the class, and reports whether the Budget has room for it. To
// make room it frees idle blocks that it finds in depots. For Get it frees them even if they
// are not enough, so that Get exceeds the Budget by less.
func (g *Gate) chargeFromDepots(class uint8, get bool) bool {
	return g.account == nil || g.chargeBytesFromDepots(g.sizes[class], get)
}

// chargeBytesFromDepots is chargeFromDepots for any size. The Gate must have a Budget.
func (g *Gate) chargeBytesFromDepots(n int, get bool) bool {
	return g.account.charge(n) || (get || g.account.budget.inReach(n)) && g.account.makeRoomInDepots(n)
}

// Budget returns the Budget, or nil.
func (g *Gate) Budget() *Budget {
	if g.account == nil {
		return nil
	}
	return g.account.budget
}

// Overdrawn reports whether the charges exceed the limit of the Budget. Only Get does that.
func (g *Gate) Overdrawn() bool { return g.account != nil && g.account.budget.Over() > 0 }

// many is more than any number of blocks.
const many = math.MaxInt

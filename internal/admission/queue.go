package admission

import (
	"container/list"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// directFor is how long a pool stays in direct mode after its last refusal: long compared with
// the grace period that entering it again would cost.
const directFor = 100 * time.Millisecond

// A queue holds the waiters for blocks of one pool. While it has any, the engine is in direct mode,
// so that every Put goes through the Gate.
type queue struct {
	waiting atomics.Int64     // number of waiters of all classes; changed under mu
	refusal atomics.Heuristic // a stamp of the last refusal
	puts    atomics.Heuristic // how often leaveDirect was called

	*locked // the queue's own, or the Budget's: then all pools of the Budget have one queue
	own     locked

	class []list.List // of *waiter, by class, in order of arrival; nil before the first
	line  list.List   // of *waiter that AllocRate has not yet allowed their misses

	armed   int    // a timer will call hasMisses once AllocRate allows so many; 0: there is none
	armedIn uint64 // the timer's bubble; the timer dies with it
	timer   uint64 // number of the current timer; older timers do nothing
}

// A locked is the lock of one queue, or of the queues of all pools of a Budget, with the
// state that they share.
type locked struct {
	// mu is held during EnterDirect and LeaveDirect, which take tens of microseconds, and
	// with a Budget also while idle blocks are freed. Otherwise it is held for a few list
	// operations. No hit takes it.
	mu       atomics.Mutex
	sleepers bubble.Sleepers // all waiters
	late     late.List       // reports and panics since mu was locked
}

func (q *queue) init(b *Budget) {
	q.locked = &q.own
	if b != nil {
		q.locked = &b.locked
	}
}

// unlock unlocks mu, and then calls the reports collected under it, which may panic.
func (k *locked) unlock() {
	l := k.late
	k.late = late.List{}
	k.mu.Unlock()
	l.End()
}

// enlist puts a waiter into its lists. It returns false if the pool is closed.
func (w *waiter) enlist() (open bool) {
	g := w.gate
	q := &g.queue
	q.mu.Lock()
	defer g.queue.unlock()
	if !g.engine.EnterDirect() {
		return false
	}
	if !q.sleepers.Admit(w.bubble) && !(g.buryLocked() && q.sleepers.Admit(w.bubble)) {
		panic(q.sleepers.Apart(g.name))
	}
	w.turn = g.account.turnLocked()
	w.listed = true
	if w.large > 0 {
		g.account.budget.claimLocked(w)
		return true
	}
	if q.class == nil {
		q.class = make([]list.List, len(g.sizes))
	}
	w.place = q.class[w.class].PushBack(w)
	w.line = q.line.PushBack(w)
	q.waiting.Add(1)
	g.engine.Wait(w.class, 1)
	w.bringLocked()
	g.offerBlocksLocked(w.class) // what was put back before anybody could see this waiter
	g.allowLocked()
	return true
}

// bringLocked gives the blocks that the waiter brings with it to waiters that came before, for
// such a block or for bytes. The waiter keeps those that are left. What serves an older waiter may
// serve this one too: its misses are due and their timer is late, or bytes were uncharged and
// grantBytes waits for the lock. The blocks that it has then are its own.
func (w *waiter) bringLocked() {
	g := w.gate
	for len(w.blocks) > 0 && !w.granted() && (g.queue.firstOf(w.class) != w || g.account.olderLocked(w)) {
		g.counters.At(w.class).puts.Add(1)
		g.giveLocked(w.class, w.takeBlock())
	}
}

// hand gives a block that the engine does not have to the oldest waiter for its class, and
// returns false if there is none. If an older waiter waits for bytes of the Budget, hand frees
// the block for that one. If it cannot wake the waiter, hand frees the block and panics.
func (g *Gate) hand(class uint8, block magazine.Block) bool {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	reach := g.queue.firstOf(class) == nil || g.queue.sleepers.InReach() || g.buryLocked()
	if g.queue.firstOf(class) == nil {
		return false
	}
	g.counters.At(class).puts.Add(1)
	if !reach {
		g.dropFullLocked(class, block)
		panic(g.queue.sleepers.Apart(g.name))
	}
	g.giveLocked(class, block)
	return true
}

// giveLocked is hand for a class that has a waiter, which the caller can wake.
func (g *Gate) giveLocked(class uint8, block magazine.Block) {
	w := g.queue.firstOf(class)
	if g.account.olderLocked(w) {
		g.dropFullLocked(class, block)
		g.account.budget.mustGrantBytesLocked()
		return
	}
	g.counters.At(class).handed.Add(1)
	w.handLocked(block)
	w.proceedLocked()
}

// dropFullLocked frees a block that was put back, for a waiter for bytes.
func (g *Gate) dropFullLocked(class uint8, block magazine.Block) {
	g.counters.At(class).full.Add(1)
	g.engine.Gone(class, 1)
	g.Drop(class, block, &g.queue.late)
	g.owner.Loosened()
}

// offerBlocks gives idle blocks of the class to waiters that came after a Push of a block looked
// for them. It panics if it cannot wake them.
func (g *Gate) offerBlocks(class uint8) {
	if g.engine.Waiting(class) {
		g.queue.mu.Lock()
		defer g.queue.unlock()
		if g.queue.firstOf(class) != nil && !g.queue.sleepers.InReach() && !g.buryLocked() {
			g.shedLocked(class, many) // as hand does: no waiter sleeps while a block is idle
			panic(g.queue.sleepers.Apart(g.name))
		}
		g.offerBlocksLocked(class)
	}
}

// offerBlocksLocked gives idle blocks of the class to its waiters.
func (g *Gate) offerBlocksLocked(class uint8) {
	for {
		w := g.queue.firstOf(class)
		if w == nil || g.account.olderLocked(w) {
			return
		}
		block, _ := g.engine.PopExact(class)
		if block == nil {
			w.proceedLocked()
			return
		}
		w.handLocked(block)
	}
}

// armLocked arms a timer for the next misses that AllocRate allows a waiter. The caller is in
// the waiters' bubble, or in none as they are. A timer from another bubble does not count: it
// may be dead. Nor does one for more misses than the first in line needs now: it is late.
func (g *Gate) armLocked() {
	q := &g.queue
	first := q.firstInLine()
	if first == nil {
		return
	}
	n := first.lacks()
	if q.armed > 0 && q.armed <= n && q.armedIn == q.sleepers.Bubble() {
		return
	}
	q.armed, q.armedIn = n, q.sleepers.Bubble()
	q.timer++
	number := q.timer
	atomics.AfterFunc(g.limiter.delay(n), func() { g.hasMisses(number) })
}

// hasMisses lets waiters allocate, in order of arrival, as many as AllocRate and the Budget,
// if there is one, allow now. A timer calls it with its number.
func (g *Gate) hasMisses(number uint64) {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	if number != g.queue.timer {
		return
	}
	g.queue.armed = 0
	g.allowLocked()
}

// allowLocked is hasMisses without its timer. If the caller's clock is not the waiters', it
// does nothing: their timer serves them.
func (g *Gate) allowLocked() {
	q := &g.queue
	if q.line.Len() == 0 || !q.sleepers.Sharing() {
		return
	}
	defer g.armLocked()
	for w := q.firstInLine(); w != nil && g.limiter.allow(w.lacks()); w = q.firstInLine() {
		q.line.Remove(w.line)
		w.line, w.misses = nil, w.lacks()
		if g.account != nil {
			g.account.budget.claimLocked(w)
			continue
		}
		w.allowLocked()
	}
}

// firstOf returns the oldest waiter for a class, or nil.
func (q *queue) firstOf(class uint8) *waiter {
	if q.class == nil {
		return nil
	}
	if place := q.class[class].Front(); place != nil {
		return place.Value.(*waiter)
	}
	return nil
}

// firstInLine returns the oldest waiter that AllocRate has not yet allowed its misses, or nil.
func (q *queue) firstInLine() *waiter {
	if place := q.line.Front(); place != nil {
		return place.Value.(*waiter)
	}
	return nil
}

// refusedNow records the time of a refusal.
func (q *queue) refusedNow() { q.refusal.Store(bubble.StampOf(atomics.Now())) }

// leaveDirect lets the pool use its shards again, once there are no waiters and the last refusal
// is directFor ago, unless the pool is in direct mode permanently. It reads the clock at every
// 64th call. It blocks only for the grace period that this may cost.
func (g *Gate) leaveDirect() {
	q := &g.queue
	if g.direct {
		return
	}
	if q.puts.Add(1)%64 != 0 || bubble.Since(q.refusal.Load(), atomics.Now()) < directFor || !q.mu.TryLock() {
		return
	}
	defer q.mu.Unlock()
	if q.waiting.Load() == 0 && g.account.mayLeaveDirect() {
		g.engine.LeaveDirect()
	}
}

// MustReach panics if the caller cannot end a wait for the pool.
func (g *Gate) MustReach() {
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	g.mustReachLocked()
}

func (g *Gate) mustReachLocked() {
	if !g.queue.sleepers.InReach() && (g.queue.waiting.Load() > 0 || g.account.claimsLocked(g)) && !g.buryLocked() {
		panic(g.queue.sleepers.Apart(g.name))
	}
}

// End takes the pool out of its Budget, and ends every wait for it with ErrClosed. It comes
// after Close, so no other wait can begin.
func (g *Gate) End() {
	g.account.leave()
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	g.mustReachLocked()
	for class := range g.queue.class {
		for w := g.queue.firstOf(uint8(class)); w != nil; w = g.queue.firstOf(uint8(class)) {
			w.closeLocked()
		}
	}
	if g.account != nil {
		g.account.budget.endClaimsLocked(g)
		g.account.budget.mustGrantBytesLocked()
	}
}

package admission

import (
	"container/list"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// scatterAfter is how long a pool stays gathered after its last refusal: long
// beside the grace period that gathering again would cost.
const scatterAfter = 100 * time.Millisecond

// A queue has those who wait for blocks of one pool. While anybody does, the engine is
// gathered, so that every Put comes past the Gate.
type queue struct {
	waiting atomics.Int64 // length over all classes; changed under mu
	refusal atomics.Hint  // a stamp of the last one
	puts    atomics.Hint  // how often scatter was called

	*locked // own, or the Budget's: then all pools of the Budget have one queue
	own     locked

	class []list.List // of *waiter, by class, in the order in which they came
	line  list.List   // of those to whom AllocLimit has not allowed a miss yet

	armed   bool   // a timer will call hasMisses
	armedIn uint64 // the timer's bubble, with which it dies
	timer   uint64 // number of the timer that counts
}

// A locked is the lock of a queue, or of those of all pools of a Budget, with what else
// they share.
type locked struct {
	// mu is held over Gather and Scatter, tens of microseconds, where there is a Budget
	// also while idle blocks are let go, and otherwise for a few list operations. No hit
	// takes it.
	mu       atomics.Mutex
	sleepers bubble.Sleepers // all who wait
	late     late.List       // what has come up since mu was locked
}

func (q *queue) init(classes int, b *Budget) {
	q.class = make([]list.List, classes)
	q.locked = &q.own
	if b != nil {
		q.locked = &b.locked
	}
}

// unlock unlocks mu, and then reports what has come up under it, which may panic.
func (k *locked) unlock() {
	l := k.late
	k.late = late.List{}
	k.mu.Unlock()
	l.End()
}

// enlist puts a waiter into its lists, unless the pool is closed.
func (w *waiter) enlist() (open bool) {
	g := w.gate
	q := &g.queue
	q.mu.Lock()
	defer g.queue.unlock()
	if !g.engine.Gather() {
		return false
	}
	if !q.sleepers.Admit(w.bubble) {
		panic(q.sleepers.Apart(g.name))
	}
	w.turn = g.account.turnLocked()
	w.listed = true
	if w.large > 0 {
		g.account.budget.claimLocked(w)
		return true
	}
	w.place = q.class[w.class].PushBack(w)
	w.line = q.line.PushBack(w)
	q.waiting.Add(1)
	g.engine.Wait(w.class, 1)
	g.serveLocked(w.class) // what was put back before anybody could see this waiter
	g.allowLocked()
	g.armLocked()
	return true
}

// hand gives a block that the engine does not have to the first who waits for its class,
// if anybody does. Where somebody has waited longer for bytes of the Budget it lets the
// block go for that one. It does so too, and panics, where it cannot wake the first.
func (g *Gate) hand(class uint8, block magazine.Block) bool {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	w, c := g.queue.firstOf(class), &g.counts[class]
	if w == nil {
		return false
	}
	inReach := g.queue.sleepers.InReach()
	c.puts.Add(1)
	if inReach && !g.account.olderLocked(w) {
		c.handed.Add(1)
		w.handLocked(block)
		return true
	}
	c.full.Add(1)
	g.Drop(class, block, &g.queue.late)
	g.owner.Loosened()
	if !inReach {
		panic(g.queue.sleepers.Apart(g.name))
	}
	g.account.budget.mustServeLocked()
	return true
}

// serve gives idle blocks of the class to those who have begun to wait for it
// since a Push of one looked. It panics where it cannot wake them.
func (g *Gate) serve(class uint8) {
	if g.engine.Waiting(class) {
		g.queue.mu.Lock()
		defer g.queue.unlock()
		if g.queue.firstOf(class) != nil && !g.queue.sleepers.InReach() {
			g.shedLocked(class, many) // as hand does: nobody sleeps beside an idle block
			panic(g.queue.sleepers.Apart(g.name))
		}
		g.serveLocked(class)
	}
}

// serveLocked gives idle blocks of the class to those who wait for it.
func (g *Gate) serveLocked(class uint8) {
	for {
		w := g.queue.firstOf(class)
		if w == nil || g.account.olderLocked(w) {
			return
		}
		block, _ := g.engine.PopExact(class)
		if block == nil {
			return
		}
		w.handLocked(block)
	}
}

// armLocked sees to it that those who wait get what AllocLimit allows. Its caller is
// where they are, in a bubble or in none. A timer from elsewhere, which may be dead, does
// not count.
func (g *Gate) armLocked() {
	q := &g.queue
	if q.line.Len() == 0 || q.armed && q.armedIn == q.sleepers.Bubble() {
		return
	}
	q.armed, q.armedIn = true, q.sleepers.Bubble()
	q.timer++
	number := q.timer
	atomics.AfterFunc(g.limiter.delay(), func() { g.hasMisses(number) })
}

// hasMisses lets those who came first allocate, as many as AllocLimit allows now, and
// the Budget if there is one. It is what a timer calls.
func (g *Gate) hasMisses(number uint64) {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	if number != g.queue.timer {
		return
	}
	g.queue.armed = false
	g.allowLocked()
	g.armLocked()
}

// allowLocked is hasMisses without its timer. By another clock than theirs nobody is
// allowed anything: their timer does that.
func (g *Gate) allowLocked() {
	q := &g.queue
	if q.line.Len() == 0 || !q.sleepers.Sharing() {
		return
	}
	for place := q.line.Front(); place != nil && g.limiter.allow(); place = q.line.Front() {
		w := q.line.Remove(place).(*waiter)
		w.line = nil
		if g.account != nil {
			g.account.budget.claimLocked(w)
			continue
		}
		w.allowLocked()
	}
}

// firstOf returns who has waited longest for a class, or nil.
func (q *queue) firstOf(class uint8) *waiter {
	if place := q.class[class].Front(); place != nil {
		return place.Value.(*waiter)
	}
	return nil
}

// refusedNow notes a refusal.
func (q *queue) refusedNow() { q.refusal.Store(bubble.StampOf(atomics.Now())) }

// scatter lets the pool use its shards again, once nobody waits and nobody has
// been refused for a while, unless the pool is gathered for good. It looks at the clock at
// every 64th call, and waits for nothing but the grace period that it may cost.
func (g *Gate) scatter() {
	q := &g.queue
	if g.gathered {
		return
	}
	if q.puts.Add(1)%64 != 0 || bubble.Since(q.refusal.Load(), atomics.Now()) < scatterAfter || !q.mu.TryLock() {
		return
	}
	defer q.mu.Unlock()
	if q.waiting.Load() == 0 && g.account.mayScatter() {
		g.engine.Scatter()
	}
}

// MustReach panics where its caller cannot end a wait for the pool.
func (g *Gate) MustReach() {
	g.queue.mu.Lock()
	defer g.queue.mu.Unlock()
	g.mustReachLocked()
}

func (g *Gate) mustReachLocked() {
	if !g.queue.sleepers.InReach() && (g.queue.waiting.Load() > 0 || g.account.claimsLocked(g)) {
		panic(g.queue.sleepers.Apart(g.name))
	}
}

// End takes the pool out of its Budget, and ends every wait for it with ErrClosed. It comes
// after Close: nobody can begin another wait.
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
		g.account.budget.mustServeLocked()
	}
}

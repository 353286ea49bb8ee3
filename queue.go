package dewpond

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// scatterAfter is how long a pool stays gathered after its last refusal: long
// beside the grace period that gathering again would cost.
const scatterAfter = 100 * time.Millisecond

// A queue is who waits in GetContext. While anybody does, the engine is
// gathered, so that every Put comes past it, in pushed.
type queue struct {
	waiting atomic.Int64 // length over all classes; changed under mu
	refusal atomic.Int64 // a stamp of the last one
	puts    atomic.Uint64

	// mu is held over Gather and Scatter, tens of microseconds, and otherwise
	// for a few list operations. No hit takes it. It is own, or the Budget's.
	mu  *sync.Mutex
	own sync.Mutex

	late     late.List        // what has come up since mu was locked, where it is own
	sleepers *bubble.Sleepers // all of these, or the Budget's
	class    []list.List      // of *waiter, by class, in the order in which they came
	line     list.List        // of those to whom AllocLimit has not allowed a miss yet

	armed   bool   // a timer will call p.hasMisses
	armedIn uint64 // the timer's bubble, with which it dies
	timer   uint64 // number of the timer that counts
}

// unlock ends what began with p.queue.mu.Lock. Then it reports what has come up under the
// lock, which may panic.
func (p *BytePool) unlock() {
	if p.account != nil {
		p.account.budget.unlock()
		return
	}
	l := p.queue.late
	p.queue.late = late.List{}
	p.queue.mu.Unlock()
	l.End()
}

// lateLocked is for what comes up under the lock, until unlock.
func (p *BytePool) lateLocked() *late.List {
	if p.account != nil {
		return &p.account.budget.late
	}
	return &p.queue.late
}

func (q *queue) init(classes int, b *Budget) {
	q.class = make([]list.List, classes)
	q.mu, q.sleepers = &q.own, new(bubble.Sleepers)
	if b != nil {
		q.mu, q.sleepers = &b.mu, &b.sleepers
	}
}

// A waiter is one call of GetContext. Whoever takes it out of its lists, under mu,
// sends it exactly one grant; the channel has room for it.
type waiter struct {
	pool   *BytePool
	class  uint8
	large  int           // the size, where no class holds it: such a waiter waits for bytes alone
	bubble uint64        // of testing/synctest; 0: none
	listed bool          // it has been put into its lists
	turn   uint64        // by which the waiters of a Budget came
	place  *list.Element // nil where large
	line   *list.Element // nil once AllocLimit has allowed a miss
	claim  *list.Element // in Budget.claims, where bytes are all that is wanting
	grant  chan grant
}

// size is what the block that the waiter wants is charged with.
func (w *waiter) size() int {
	if w.large > 0 {
		return w.large
	}
	return w.pool.classes.Size(w.class)
}

// A grant ends a wait: with an idle block, with leave to allocate one, which the Budget has
// been charged with, or an error.
type grant struct {
	block []byte
	err   error
}

// wait is GetContext where TryGet is refused. It returns a whole block, or a slice of
// the size large where that is not 0.
func (p *BytePool) wait(ctx context.Context, class uint8, large int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waiter{pool: p, class: class, large: large, bubble: bubble.Of(time.Now()), grant: make(chan grant, 1)}
	panics := true
	defer func() {
		if panics { // a report of what enlist has found, or a Source's Free
			w.desert()
		}
	}()
	open := p.enlist(w)
	panics = false
	if !open {
		return nil, ErrClosed
	}
	select {
	case g := <-w.grant:
		return w.redeem(g)
	case <-ctx.Done():
	}
	if !w.giveUp() {
		return w.redeem(<-w.grant)
	}
	p.queue.refusedNow()
	return nil, ctx.Err()
}

// enlist makes a waiter of who has been refused, unless the pool is closed.
func (p *BytePool) enlist(w *waiter) (open bool) {
	q := &p.queue
	q.mu.Lock()
	defer p.unlock()
	if !p.engine.Gather() {
		return false
	}
	if !q.sleepers.Admit(w.bubble) {
		panic(q.sleepers.Apart(p.name))
	}
	w.turn = p.account.turnLocked()
	w.listed = true
	if w.large > 0 {
		p.account.budget.claimLocked(w)
		return true
	}
	w.place = q.class[w.class].PushBack(w)
	w.line = q.line.PushBack(w)
	q.waiting.Add(1)
	p.engine.Wait(w.class, 1)
	p.serveLocked(w.class) // what was put back before anybody could see us
	p.allowLocked()
	p.armLocked()
	return true
}

// giveUp reports whether the waiter waits no longer, without a grant.
func (w *waiter) giveUp() bool {
	q := &w.pool.queue
	q.mu.Lock()
	defer w.pool.unlock()
	if len(w.grant) > 0 { // just before we got the lock
		return false
	}
	w.withdrawLocked()
	return true
}

// desert is for a waiter whose caller is gone: it gives back what was granted, if it was.
func (w *waiter) desert() {
	if !w.listed || w.giveUp() {
		return
	}
	if b, err := w.redeem(<-w.grant); err == nil {
		w.pool.Put(b)
	}
}

// redeem turns a grant into a block.
func (w *waiter) redeem(g grant) ([]byte, error) {
	switch {
	case g.err != nil:
	case w.large > 0:
		return w.pool.chargedOversize(w.large), nil
	case g.block == nil:
		return w.pool.allocateAllowed(w.class)
	default:
		w.pool.issue(g.block)
	}
	return g.block, g.err
}

// removeLocked takes a waiter out of its lists. Its caller sends the grant, or is
// the waiter.
func (w *waiter) removeLocked() {
	q := &w.pool.queue
	if w.place != nil {
		q.class[w.class].Remove(w.place)
		q.waiting.Add(-1)
		w.pool.engine.Wait(w.class, -1)
	}
	if w.line != nil {
		q.line.Remove(w.line)
	}
	if w.claim != nil {
		b := w.pool.account.budget
		b.claims.Remove(w.claim)
		b.waiting.Add(-1)
	}
	q.sleepers.Leave()
}

// withdrawLocked is removeLocked for who does not allocate: the miss that AllocLimit
// may have allowed him is another's, and so is his place before others.
func (w *waiter) withdrawLocked() {
	w.removeLocked()
	if w.claim != nil {
		if w.large == 0 {
			w.pool.limiter.restore(w.bubble)
			w.pool.allowLocked()
		}
		w.pool.account.budget.serveLocked()
	}
}

// pushed is what Put does beyond the plain case, in which the engine keeps the
// block and nobody can be waiting.
func (p *BytePool) pushed(class uint8, b []byte, r magazine.Result) {
	switch r {
	case magazine.Wanted:
		if !p.hand(class, b) {
			p.pushSlow(class, b)
		}
		return
	case magazine.Full:
		if p.engine.Waiting(class) && p.hand(class, b) { // since Push looked
			return
		}
	}
	if r != magazine.KeptDirect {
		p.count.class[class].puts.Add(1)
	}
	p.settled(class, b, r)
}

// settled is what comes after the engine has kept a block or not, which nobody waits for.
func (p *BytePool) settled(class uint8, b []byte, r magazine.Result) {
	switch r {
	case magazine.Kept:
		p.decay.Kept()
	case magazine.KeptDirect:
		p.decay.Kept()
		p.serve(class)
		p.returned(class)
		p.scatter()
	case magazine.Full:
		if p.engine.Closed() { // the Budget is overdrawn, and nobody has asked the engine
			p.settled(class, b, magazine.Closed)
			return
		}
		p.count.class[class].full.Add(1)
		p.release(b)
		p.decay.Loosened()
	case magazine.Closed:
		p.count.class[class].closed.Add(1)
		p.release(b)
	}
}

// release lets go of a block that the engine did not keep.
func (p *BytePool) release(b []byte) {
	var l late.List
	defer l.End()
	p.releaseLocked(b, &l)
	p.account.serve()
}

// releaseLocked is release for whoever may hold the queue's lock, and serves later. What
// comes up by it is for l, so that it does not panic.
func (p *BytePool) releaseLocked(b []byte, l *late.List) {
	p.unwatch(b, l)
	if p.source != nil {
		p.freeBlock(b, l)
	}
	class, _ := p.classes.Exact(len(b))
	p.account.letGo(class, b)
}

func (p *BytePool) freeBlock(b []byte, l *late.List) {
	defer l.Catch()
	p.source.Free(b)
}

// hand gives a block to the first who waits for its class, if anybody does. Where
// somebody has waited longer for bytes of the Budget it lets the block go for that one. It
// does so too, and panics, where it cannot wake the first.
func (p *BytePool) hand(class uint8, b []byte) bool {
	p.queue.mu.Lock()
	defer p.unlock()
	w := p.queue.firstOf(class)
	switch {
	case w == nil:
		return false
	case !p.queue.sleepers.InReach():
		p.count.class[class].puts.Add(1)
		p.count.class[class].full.Add(1)
		p.releaseLocked(b, p.lateLocked())
		p.decay.Loosened()
		panic(p.queue.sleepers.Apart(p.name))
	case p.account.olderLocked(w):
		p.count.class[class].puts.Add(1)
		p.count.class[class].full.Add(1)
		p.releaseLocked(b, p.lateLocked())
		p.decay.Loosened()
		p.account.budget.mustServeLocked()
		return true
	}
	p.count.class[class].puts.Add(1)
	p.count.class[class].handed.Add(1)
	w.withdrawLocked()
	w.grant <- grant{block: b}
	return true
}

// serve gives idle blocks of the class to those who have begun to wait for it
// since a Push of one looked. It panics where it cannot wake them.
func (p *BytePool) serve(class uint8) {
	if p.engine.Waiting(class) {
		p.queue.mu.Lock()
		defer p.unlock()
		if p.queue.firstOf(class) != nil && !p.queue.sleepers.InReach() {
			p.shedLocked(class, math.MaxInt) // as hand does: nobody sleeps beside an idle block
			panic(p.queue.sleepers.Apart(p.name))
		}
		p.serveLocked(class)
	}
}

// serveLocked gives idle blocks of the class to those who wait for it.
func (p *BytePool) serveLocked(class uint8) {
	for {
		w := p.queue.firstOf(class)
		if w == nil || p.account.olderLocked(w) {
			return
		}
		b, _ := p.idleExact(class)
		if b == nil {
			return
		}
		w.withdrawLocked()
		w.grant <- grant{block: b}
	}
}

// armLocked sees to it that those who wait get what AllocLimit allows. Its caller is
// where they are, in a bubble or in none: a timer from elsewhere, which may be dead, does
// not count.
func (p *BytePool) armLocked() {
	q := &p.queue
	if q.line.Len() == 0 || q.armed && q.armedIn == q.sleepers.Bubble() {
		return
	}
	q.armed, q.armedIn = true, q.sleepers.Bubble()
	q.timer++
	number := q.timer
	time.AfterFunc(p.limiter.delay(), func() { p.hasMisses(number) })
}

// hasMisses lets those who came first allocate, as many as AllocLimit allows now, and
// the Budget if there is one. It is what a timer calls.
func (p *BytePool) hasMisses(number uint64) {
	p.queue.mu.Lock()
	defer p.unlock()
	if number != p.queue.timer {
		return
	}
	p.queue.armed = false
	p.allowLocked()
	p.armLocked()
}

// allowLocked is hasMisses without its timer. By another clock than theirs nobody is
// allowed anything: their timer does that.
func (p *BytePool) allowLocked() {
	if p.queue.line.Len() == 0 || !p.queue.sleepers.Sharing() {
		return
	}
	for place := p.queue.line.Front(); place != nil && p.limiter.allow(); place = p.queue.line.Front() {
		w := p.queue.line.Remove(place).(*waiter)
		w.line = nil
		if p.account != nil {
			p.account.budget.claimLocked(w)
			continue
		}
		w.removeLocked()
		w.grant <- grant{}
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
func (q *queue) refusedNow() { q.refusal.Store(bubble.StampOf(time.Now())) }

// scatter lets the pool use its shards again, once nobody waits and nobody has
// been refused for a while, unless every block is watched. It looks at the clock at every 64th Put, and waits for
// nobody but the grace period that it may cost.
func (p *BytePool) scatter() {
	q := &p.queue
	if p.checks.everything() {
		return
	}
	if q.puts.Add(1)%64 != 0 || bubble.Since(q.refusal.Load(), time.Now()) < scatterAfter || !q.mu.TryLock() {
		return
	}
	defer q.mu.Unlock()
	if q.waiting.Load() == 0 && p.account.mayScatter() {
		p.engine.Scatter()
	}
}

// endWaits ends every wait with ErrClosed. The engine is closed, so nobody can
// begin another.
func (p *BytePool) endWaits() {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.mustReachLocked()
	for class := range p.queue.class {
		for w := p.queue.firstOf(uint8(class)); w != nil; w = p.queue.firstOf(uint8(class)) {
			w.removeLocked()
			w.grant <- grant{err: ErrClosed}
		}
	}
	if p.account != nil {
		p.account.budget.endClaimsLocked(p)
		p.account.budget.mustServeLocked()
	}
}

// mustReach panics where its caller cannot end a wait for the pool.
func (p *BytePool) mustReach() {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.mustReachLocked()
}

func (p *BytePool) mustReachLocked() {
	if !p.queue.sleepers.InReach() && (p.queue.waiting.Load() > 0 || p.account.claimsLocked(p)) {
		panic(p.queue.sleepers.Apart(p.name))
	}
}

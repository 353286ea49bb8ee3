package dewpond

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/magazine"
)

// scatterAfter is how long a pool stays gathered after its last refusal: long
// beside the grace period that gathering again would cost.
const scatterAfter = 100 * time.Millisecond

// A queue is who waits in GetContext. While anybody does, the engine is
// gathered, so that every Put comes past it, in pushed.
type queue struct {
	waiting atomic.Int64 // length over all classes; changed under mu
	refusal atomic.Int64 // when the last one was, in nanoseconds since start
	puts    atomic.Uint64
	start   time.Time

	// mu is held over Gather and Scatter, tens of microseconds, and otherwise
	// for a few list operations. No hit takes it. It is own, or the Budget's.
	mu  *sync.Mutex
	own sync.Mutex

	class []list.List // of *waiter, by class, in the order in which they came
	line  list.List   // of those to whom AllocLimit has not allowed a miss yet
	armed bool        // a timer will call p.hasMisses
}

func (q *queue) init(classes int, b *Budget) {
	q.class = make([]list.List, classes)
	q.start = time.Now()
	q.mu = &q.own
	if b != nil {
		q.mu = &b.mu
	}
}

// A waiter is one call of GetContext. Whoever takes it out of its lists, under mu,
// sends it exactly one grant; the channel has room for it.
type waiter struct {
	pool   *BytePool
	class  uint8
	bubble bool   // of testing/synctest
	turn   uint64 // by which the waiters of a Budget came
	place  *list.Element
	line   *list.Element // nil once AllocLimit has allowed a miss
	claim  *list.Element // in Budget.claims, where bytes are all that is wanting
	grant  chan grant
}

// size is what the block that the waiter wants is charged with.
func (w *waiter) size() int { return w.pool.classes.Size(w.class) }

// A grant ends a wait: with an idle block, with leave to allocate one, which the Budget has
// been charged with, or an error.
type grant struct {
	block []byte
	err   error
}

// wait is GetContext where TryGet is refused. It returns a whole block.
func (p *BytePool) wait(ctx context.Context, class uint8) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waiter{pool: p, class: class, bubble: inBubble(time.Now()), grant: make(chan grant, 1)}
	if !p.enlist(w) {
		return nil, ErrClosed
	}
	select {
	case g := <-w.grant:
		return p.redeem(class, g)
	case <-ctx.Done():
	}
	if !w.giveUp() {
		return p.redeem(class, <-w.grant)
	}
	p.queue.refusedNow()
	return nil, ctx.Err()
}

// enlist makes a waiter of who has been refused, unless the pool is closed.
func (p *BytePool) enlist(w *waiter) (open bool) {
	q := &p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !p.engine.Gather() {
		return false
	}
	w.turn = p.account.turnLocked()
	w.place = q.class[w.class].PushBack(w)
	w.line = q.line.PushBack(w)
	q.waiting.Add(1)
	p.engine.Wait(w.class, 1)
	defer func() {
		if !open && len(w.grant) == 0 { // the Source has panicked, so nobody will wait
			w.withdrawLocked()
		}
	}()
	p.serveLocked(w.class) // what was put back before anybody could see us
	p.allowLocked()
	p.armLocked()
	return true
}

// giveUp reports whether the waiter waits no longer, without a grant.
func (w *waiter) giveUp() bool {
	q := &w.pool.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(w.grant) > 0 { // just before we got the lock
		return false
	}
	w.withdrawLocked()
	return true
}

// redeem turns a grant into a block.
func (p *BytePool) redeem(class uint8, g grant) ([]byte, error) {
	if g.block == nil && g.err == nil {
		return p.allocateAllowed(class)
	}
	if g.block != nil {
		p.issue(g.block)
	}
	return g.block, g.err
}

// removeLocked takes a waiter out of its lists. Its caller sends the grant, or is
// the waiter.
func (w *waiter) removeLocked() {
	q := &w.pool.queue
	q.class[w.class].Remove(w.place)
	if w.line != nil {
		q.line.Remove(w.line)
	}
	if w.claim != nil {
		b := w.pool.account.budget
		b.claims.Remove(w.claim)
		b.waiting.Add(-1)
	}
	q.waiting.Add(-1)
	w.pool.engine.Wait(w.class, -1)
}

// withdrawLocked is removeLocked for who does not allocate: the miss that AllocLimit
// may have allowed him is another's, and so is his place before others.
func (w *waiter) withdrawLocked() {
	w.removeLocked()
	if w.claim != nil {
		w.pool.limiter.restore()
		w.pool.allowLocked()
		w.pool.account.budget.serveLocked()
	}
}

// pushed is what Put does beyond the plain case, in which the engine keeps the
// block and nobody can be waiting.
func (p *BytePool) pushed(class uint8, b []byte, r magazine.Result) {
	switch r {
	case magazine.KeptDirect:
		p.decay.kept()
		p.serve(class)
		p.returned(class)
		p.scatter()
	case magazine.Wanted:
		if !p.hand(class, b) {
			p.pushSlow(class, b)
		}
	case magazine.Full:
		if p.engine.Waiting(class) && p.hand(class, b) { // since Push looked
			return
		}
		p.count.class[class].full.Add(1)
		p.release(b)
		p.decay.freed()
	case magazine.Closed:
		p.count.class[class].closed.Add(1)
		p.release(b)
	}
}

// release lets go of a block that the engine did not keep.
func (p *BytePool) release(b []byte) {
	p.releaseLocked(b)
	p.account.serve()
}

// releaseLocked is release for whoever holds the queue's lock, and serves later.
func (p *BytePool) releaseLocked(b []byte) {
	p.unwatch(b)
	if p.source != nil {
		p.source.Free(b)
	}
	p.account.uncharge(int64(len(b)))
}

// hand gives a block to the first who waits for its class, if anybody does. Where
// somebody has waited longer for bytes of the Budget it lets the block go for him.
func (p *BytePool) hand(class uint8, b []byte) bool {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	w := p.queue.firstOf(class)
	switch {
	case w == nil:
		return false
	case p.account.olderLocked(w):
		p.count.class[class].full.Add(1)
		p.releaseLocked(b)
		p.decay.freed()
		p.account.budget.serveLocked()
		return true
	}
	p.count.class[class].handed.Add(1)
	w.withdrawLocked()
	w.grant <- grant{block: b}
	return true
}

// serve gives idle blocks of the class to those who have begun to wait for it
// since a Push of one looked.
func (p *BytePool) serve(class uint8) {
	if p.engine.Waiting(class) {
		p.queue.mu.Lock()
		defer p.queue.mu.Unlock()
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

// armLocked sees to it that those who wait get what AllocLimit allows.
func (p *BytePool) armLocked() {
	if p.queue.armed || p.queue.line.Len() == 0 {
		return
	}
	p.queue.armed = true
	time.AfterFunc(p.limiter.delay(), p.hasMisses)
}

// hasMisses lets those who came first allocate, as many as AllocLimit allows now, and
// the Budget if there is one.
func (p *BytePool) hasMisses() {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.queue.armed = false
	p.allowLocked()
	p.armLocked()
}

// allowLocked is hasMisses without its timer.
func (p *BytePool) allowLocked() {
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
func (q *queue) refusedNow() { q.refusal.Store(int64(time.Since(q.start))) }

// scatter lets the pool use its shards again, once nobody waits and nobody has
// been refused for a while. It looks at the clock at every 64th Put, and waits for
// nobody but the grace period that it may cost.
func (p *BytePool) scatter() {
	q := &p.queue
	if q.puts.Add(1)%64 != 0 || time.Since(q.start)-time.Duration(q.refusal.Load()) < scatterAfter || !q.mu.TryLock() {
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
	for class := range p.queue.class {
		for w := p.queue.firstOf(uint8(class)); w != nil; w = p.queue.firstOf(uint8(class)) {
			w.removeLocked()
			w.grant <- grant{err: ErrClosed}
		}
	}
	if p.account != nil {
		p.account.budget.serveLocked()
	}
}

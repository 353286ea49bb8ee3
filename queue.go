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
	// for a few list operations. No hit takes it.
	mu    sync.Mutex
	class []list.List // of *waiter, by class, in the order in which they came
	turn  uint64      // of the last that came
	armed bool        // a timer will call p.hasMisses
}

// A waiter is one call of GetContext. Whoever takes it out of its list, under mu,
// sends it exactly one grant; the channel has room for it.
type waiter struct {
	class uint8
	turn  uint64
	grant chan grant
}

// A grant ends a wait: with a block, with leave to allocate one, or an error.
type grant struct {
	block []byte
	err   error
}

func newQueue(classes int) queue {
	return queue{class: make([]list.List, classes), start: time.Now()}
}

// wait is GetContext where TryGet is refused. It returns a whole block.
func (p *BytePool) wait(ctx context.Context, class uint8) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q := &p.queue
	w := &waiter{class: class, grant: make(chan grant, 1)}

	q.mu.Lock()
	if !p.engine.Gather() {
		q.mu.Unlock()
		return nil, ErrClosed
	}
	q.turn++
	w.turn = q.turn
	place := q.class[class].PushBack(w)
	q.waiting.Add(1)
	p.engine.Wait(class, 1)
	p.serveLocked(class) // what was put back before anybody could see us
	p.armLocked()
	q.mu.Unlock()

	select {
	case g := <-w.grant:
		return p.redeem(class, g)
	case <-ctx.Done():
	}
	q.mu.Lock()
	select {
	case g := <-w.grant: // just before we got the lock
		q.mu.Unlock()
		return p.redeem(class, g)
	default:
	}
	p.removeLocked(place)
	q.mu.Unlock()
	q.refusedNow()
	return nil, ctx.Err()
}

// redeem turns a grant into a block.
func (p *BytePool) redeem(class uint8, g grant) ([]byte, error) {
	if g.block == nil && g.err == nil {
		return p.allocateAllowed(class)
	}
	return g.block, g.err
}

// removeLocked takes a waiter out of its list. Its caller sends the grant, or is
// the waiter.
func (p *BytePool) removeLocked(place *list.Element) *waiter {
	w := place.Value.(*waiter)
	p.queue.class[w.class].Remove(place)
	p.queue.waiting.Add(-1)
	p.engine.Wait(w.class, -1)
	return w
}

// pushed is what Put does beyond the plain case, in which the engine keeps the
// block and nobody can be waiting.
func (p *BytePool) pushed(class uint8, b []byte, r magazine.Result) {
	switch r {
	case magazine.KeptDirect:
		p.decay.kept()
		p.serve(class)
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
	if p.source != nil {
		p.source.Free(b)
	}
}

// hand gives a block to the first who waits for its class, if anybody does.
func (p *BytePool) hand(class uint8, b []byte) bool {
	if p.zero == ZeroOnGet {
		clear(b)
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	place := p.queue.class[class].Front()
	if place == nil {
		return false
	}
	p.note(b)
	p.count.class[class].handed.Add(1)
	p.removeLocked(place).grant <- grant{block: b}
	return true
}

// serve gives idle blocks of the class to those who have begun to wait for it
// since a Push of one looked.
func (p *BytePool) serve(class uint8) {
	if p.engine.Waiting(class) {
		p.queue.mu.Lock()
		p.serveLocked(class)
		p.queue.mu.Unlock()
	}
}

// serveLocked gives idle blocks of the class to those who wait for it.
func (p *BytePool) serveLocked(class uint8) {
	for {
		place := p.queue.class[class].Front()
		if place == nil {
			return
		}
		b, _ := p.reuseExact(class)
		if b == nil {
			return
		}
		p.removeLocked(place).grant <- grant{block: b}
	}
}

// armLocked sees to it that those who wait get what AllocLimit allows.
func (p *BytePool) armLocked() {
	if p.queue.armed || p.queue.waiting.Load() == 0 {
		return
	}
	p.queue.armed = true
	time.AfterFunc(p.limiter.delay(), p.hasMisses)
}

// hasMisses lets those who came first allocate, as many as AllocLimit allows now.
func (p *BytePool) hasMisses() {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.queue.armed = false
	p.allowLocked()
	p.armLocked()
}

// allowLocked is hasMisses without its timer.
func (p *BytePool) allowLocked() {
	for place := p.queue.first(); place != nil && p.limiter.allow(); place = p.queue.first() {
		p.removeLocked(place).grant <- grant{}
	}
}

// first returns who has waited longest, over all classes, or nil.
func (q *queue) first() (first *list.Element) {
	for i := range q.class {
		place := q.class[i].Front()
		if place != nil && (first == nil || place.Value.(*waiter).turn < first.Value.(*waiter).turn) {
			first = place
		}
	}
	return first
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
	if q.waiting.Load() == 0 {
		p.engine.Scatter()
	}
}

// endWaits ends every wait with ErrClosed. The engine is closed, so nobody can
// begin another.
func (p *BytePool) endWaits() {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	for place := p.queue.first(); place != nil; place = p.queue.first() {
		p.removeLocked(place).grant <- grant{err: ErrClosed}
	}
}

package admission

import (
	"container/list"
	"context"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A waiter is one call of Wait or WaitBytes. The goroutine that takes it out of its lists,
// under the lock, sends it exactly one grant. If the waiter takes itself out, it gets none.
type waiter struct {
	gate   *Gate
	class  uint8
	large  int           // the size, if no class holds it: such a waiter waits for bytes alone
	bubble uint64        // of testing/synctest; 0: none
	listed bool          // it has been put into its lists
	turn   uint64        // its place among the waiters of its Budget; lower turns are served first
	place  *list.Element // in queue.class; nil if large is not 0
	line   *list.Element // in queue.line; nil once AllocLimit has allowed a miss
	claim  *list.Element // in Budget.claims; nil unless only bytes are missing
	grant  chan grant    // has room for one
}

// A grant ends a wait with an idle block, or with an error, or with neither: then the waiter
// may allocate what the Budget has been charged.
type grant struct {
	block magazine.Block
	err   error
}

func (g *Gate) newWaiter(class uint8, large int) *waiter {
	return &waiter{gate: g, class: class, large: large, bubble: bubble.Of(atomics.Now()), grant: make(chan grant, 1)}
}

// size returns the bytes that are charged for the waiter's block.
func (w *waiter) size() int {
	if w.large > 0 {
		return w.large
	}
	return w.gate.sizes[w.class]
}

// Wait returns a block, or an error, or neither, as TryGet does: then the caller may allocate
// a block, which has been charged. Where TryGet returns ErrExhausted, Wait waits until it is
// served, ctx is done, or the pool is closed. If ctx is done it returns the error of ctx. The
// class must not be larger than the limit of the Budget.
func (g *Gate) Wait(ctx context.Context, class uint8) (magazine.Block, error) {
	return g.newWaiter(class, 0).wait(ctx)
}

// WaitBytes is Wait for a slice that no class holds, in a pool that has a Budget.
func (g *Gate) WaitBytes(ctx context.Context, n int) error {
	_, err := g.newWaiter(0, n).wait(ctx)
	return err
}

func (w *waiter) wait(ctx context.Context) (magazine.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	select {
	case granted := <-w.grant:
		return granted.block, granted.err
	case <-ctx.Done():
		return w.cancel(ctx.Err())
	}
}

// begin puts the waiter into its lists. It returns an error if the pool is closed.
func (w *waiter) begin() error {
	panics := true
	defer func() {
		if panics { // a report of what enlist found, or a Source's Free
			w.desert()
		}
	}()
	open := w.enlist()
	panics = false
	if !open {
		return ErrClosed
	}
	return nil
}

// cancel ends the wait with the error cause, unless a grant has come first.
func (w *waiter) cancel(cause error) (magazine.Block, error) {
	if w.withdraw() {
		w.gate.queue.refusedNow()
		return nil, cause
	}
	granted := <-w.grant
	return granted.block, granted.err
}

// withdraw takes the waiter out of its lists. It returns false if a grant has done so first.
func (w *waiter) withdraw() bool {
	w.gate.queue.mu.Lock()
	defer w.gate.queue.unlock()
	if len(w.grant) > 0 { // sent just before the lock was ours
		return false
	}
	w.passOnLocked()
	return true
}

// desert ends the wait of a caller that has panicked, and gives back what it was granted.
func (w *waiter) desert() {
	if !w.listed || w.withdraw() {
		return
	}
	switch granted := <-w.grant; {
	case granted.err != nil:
	case granted.block != nil:
		w.gate.Put(w.class, granted.block)
	case w.large > 0:
		w.gate.UnchargeBytes(w.large)
	default:
		w.gate.Return(w.class)
	}
}

// allowLocked lets the waiter allocate; handLocked gives it a block.
func (w *waiter) allowLocked() {
	w.removeLocked()
	w.send(grant{})
}

func (w *waiter) handLocked(block magazine.Block) {
	w.passOnLocked()
	w.send(grant{block: block})
}

// closeLocked ends the wait with ErrClosed.
func (w *waiter) closeLocked() {
	w.removeLocked()
	w.send(grant{err: ErrClosed})
}

func (w *waiter) send(granted grant) {
	select {
	case w.grant <- granted:
	default:
		panic("dewpond: a waiter was granted twice")
	}
}

// passOnLocked takes a waiter that will not allocate out of its lists. Its AllocLimit miss, if
// any, goes back, and the next claim may proceed.
func (w *waiter) passOnLocked() {
	w.removeLocked()
	if w.claim == nil {
		return
	}
	if w.large == 0 {
		w.gate.limiter.restore(w.bubble)
		w.gate.allowLocked()
	}
	w.gate.account.budget.serveLocked()
}

func (w *waiter) removeLocked() {
	q := &w.gate.queue
	if w.place != nil {
		q.class[w.class].Remove(w.place)
		q.waiting.Add(-1)
		w.gate.engine.Wait(w.class, -1)
	}
	if w.line != nil {
		q.line.Remove(w.line)
	}
	if w.claim != nil {
		b := w.gate.account.budget
		b.claims.Remove(w.claim)
		b.waiting.Add(-1)
	}
	q.sleepers.Leave()
}

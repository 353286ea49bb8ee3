package admission

import (
	"cmp"
	"container/list"
	"context"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A waiter is one call of Wait or WaitBytes. The goroutine that takes it out of its lists,
// under the lock, sends it exactly one grant. If the waiter takes itself out, it gets none.
type waiter struct {
	gate   *Gate
	class  uint8
	n      int           // how many blocks it wants; a batch wants several
	large  int           // bytes above the largest class: such a waiter waits for bytes alone
	bubble uint64        // of testing/synctest; 0: none
	listed bool          // it has been put into its lists
	turn   uint64        // its place among the waiters of its Budget; lower turns are served first
	place  *list.Element // in queue.class; nil if large is not 0
	line   *list.Element // in queue.line; nil once AllocRate has allowed misses
	misses int           // how many it has allowed
	claim  *list.Element // in Budget.claims; nil unless only bytes are missing
	grant  chan error    // has room for one; nil grants what is in blocks, and the rest to be allocated

	// blocks are those that it has been given so far. Before it is in its lists they are
	// those that it brings with it.
	blocks []magazine.Block
}

func (g *Gate) newWaiter(class uint8, n, large int) *waiter {
	return &waiter{gate: g, class: class, n: n, large: large, bubble: bubble.Of(atomics.Now()), grant: make(chan error, 1)}
}

// lacks returns how many blocks the waiter still wants.
func (w *waiter) lacks() int { return w.n - len(w.blocks) }

// size returns the bytes that are charged for what the waiter still wants.
func (w *waiter) size() int {
	if w.large > 0 {
		return w.large
	}
	return w.gate.sizes[w.class] * w.lacks()
}

// Wait returns up to n blocks, or an error. The caller may allocate the others, which have
// been charged. Where TryGet or Allow refuses, Wait waits until it is served, ctx is done, or
// the pool is closed. If ctx is done it returns the error of ctx. It does not wait if AllocRate
// never allows n misses at once, but returns ErrExhausted. The n blocks must not be larger
// than the limit of the Budget.
//
// A batch, which wants several blocks, brings with it those that the caller has found idle:
// fewer than n, and no caller's yet. Wait does not return them with an error.
func (g *Gate) Wait(ctx context.Context, class uint8, n int, found []magazine.Block) ([]magazine.Block, error) {
	w := g.newWaiter(class, n, 0)
	w.blocks = append(w.blocks, found...)
	err := w.wait(ctx)
	return w.blocks, err
}

// WaitBytes is Wait for slices that no class holds, in a pool that has a Budget.
func (g *Gate) WaitBytes(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil { // TryBytes has made all the room that there is
		return err
	}
	return g.newWaiter(0, 0, n).wait(ctx)
}

// Waits returns how many calls of Wait and WaitBytes slept, and for how long together.
func (g *Gate) Waits() (n uint64, slept time.Duration) { return g.slept.Load() }

func (w *waiter) wait(ctx context.Context) error {
	done := ctx.Done() // if ctx is nil it panics here, before anything is enlisted
	if err := w.begin(); err != nil {
		return err
	}
	select {
	case err := <-w.grant:
		return err
	case <-done:
	default:
		if err, granted := w.sleep(done); granted {
			return err
		}
	}
	if !w.giveUp() {
		return <-w.grant
	}
	return cmp.Or(ctx.Err(), context.Canceled) // a careless Context is done without an error
}

// begin puts the waiter into its lists. It returns an error if the pool is closed, or if the
// waiter is not served at once and might never be.
func (w *waiter) begin() error {
	panics := true
	defer func() {
		if panics { // a report of what enlist found, or an Allocator's Free
			w.desert()
		}
	}()
	open := w.enlist()
	panics = false
	switch {
	case !open:
		w.putBack()
		return ErrClosed
	case !w.gate.limiter.ever(w.n) && w.giveUp():
		return ErrExhausted
	}
	return nil
}

// giveUp ends the wait, and puts back what the waiter has. It returns false if a grant has come
// first, which it leaves.
func (w *waiter) giveUp() bool {
	if !w.withdraw() {
		return false
	}
	w.gate.queue.refusedNow()
	w.putBack()
	return true
}

// withdraw takes the waiter out of its lists. It returns false if a grant has done so first.
func (w *waiter) withdraw() bool {
	w.gate.queue.mu.Lock()
	defer w.gate.queue.unlock()
	if w.granted() { // just before the lock was ours
		return false
	}
	w.passOnLocked()
	return true
}

// desert ends the wait of a caller that has panicked, and gives back what it was granted.
func (w *waiter) desert() {
	defer w.putBack()
	if !w.listed || w.withdraw() || <-w.grant != nil {
		return
	}
	if w.large > 0 {
		w.gate.UnchargeBytes(w.large)
	} else {
		w.gate.Return(w.class, w.lacks())
	}
}

// granted reports whether a grant has been sent. The caller holds the lock, and the waiter has not
// taken the grant.
func (w *waiter) granted() bool { return len(w.grant) > 0 }

// takeBlock removes the last of the waiter's blocks and returns it, or returns nil if there is
// none.
func (w *waiter) takeBlock() (block magazine.Block) {
	if last := len(w.blocks) - 1; last >= 0 {
		block, w.blocks[last], w.blocks = w.blocks[last], nil, w.blocks[:last]
	}
	return block
}

// putBack puts the blocks of a waiter that is in no list back, for a caller that gets none, also
// if a report panics.
func (w *waiter) putBack() {
	late.Finish(func() (more bool) {
		block := w.takeBlock()
		if block == nil {
			return false
		}
		w.gate.Put(w.class, block)
		return true
	})
}

// allowLocked lets the waiter allocate what it has not been given.
func (w *waiter) allowLocked() {
	w.removeLocked()
	w.send(nil)
	w.restoreLocked(w.misses - w.lacks())
}

// handLocked gives the waiter a block. Unless that is the last that it lacks, proceedLocked must
// come after.
func (w *waiter) handLocked(block magazine.Block) {
	w.blocks = append(w.blocks, block)
	if w.lacks() == 0 {
		w.passOnLocked()
		w.send(nil)
	}
}

// proceedLocked lets a waiter that has got some of its blocks allocate the others, if it may.
func (w *waiter) proceedLocked() {
	switch {
	case len(w.blocks) == 0 || w.lacks() == 0:
	case w.claim != nil:
		w.gate.account.budget.grantBytesLocked() // it wants fewer bytes than before
	case w.line != nil:
		w.gate.allowLocked() // it wants fewer misses than before
	}
}

// backInLineLocked makes a waiter for bytes wait for AllocRate again, before all others in
// line, if its blocks were taken back and it has fewer misses than it lacks blocks.
func (w *waiter) backInLineLocked() {
	if w.claim == nil || w.misses >= w.lacks() || w.gate.limiter.unlimited() {
		return
	}
	w.unclaimLocked()
	w.claim = nil
	w.line = w.gate.queue.line.PushFront(w)
	n := w.misses
	w.misses = 0
	w.restoreLocked(n)
}

// closeLocked ends the wait with ErrClosed.
func (w *waiter) closeLocked() {
	w.gate.closeBlocksLocked(w, &w.gate.queue.late)
	w.removeLocked()
	w.send(ErrClosed)
}

// bury forgets the waiters that share the pool's lock if their testing/synctest bubble has ended,
// and reports whether it has. What they were given goes.
func (g *Gate) bury() bool {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	return g.buryLocked()
}

func (g *Gate) buryLocked() bool {
	if !g.queue.sleepers.Gone() {
		return false
	}
	gates := []*Gate{g}
	if g.account != nil {
		gates = g.account.budget.members.all()
		for claims := &g.account.budget.claims; claims.Len() > 0; {
			claims.Front().Value.(*waiter).buryLocked()
		}
	}
	for _, g := range gates {
		for class := range g.queue.class {
			for w := g.queue.firstOf(uint8(class)); w != nil; w = g.queue.firstOf(uint8(class)) {
				w.buryLocked()
			}
		}
	}
	return true
}

func (w *waiter) buryLocked() {
	w.removeLocked()
	for block := w.takeBlock(); block != nil; block = w.takeBlock() {
		w.gate.counters.At(w.class).puts.Add(1)
		w.gate.dropFullLocked(w.class, block)
	}
}

func (w *waiter) send(granted error) {
	select {
	case w.grant <- granted:
	default:
		panic("dewpond: a waiter was granted twice")
	}
}

// passOnLocked takes a waiter that will not allocate out of its lists. The misses that
// AllocRate has allowed it, if any, go back, and the next in line and the next claim may
// proceed.
func (w *waiter) passOnLocked() {
	w.removeLocked()
	switch {
	case w.large > 0:
	case w.claim != nil:
		w.restoreLocked(w.misses)
	case w.n > 1:
		w.gate.allowLocked() // the next in line may want fewer misses
	}
	if w.claim != nil {
		w.gate.account.budget.grantBytesLocked()
	}
}

// restoreLocked gives back misses that AllocRate has allowed the waiter.
func (w *waiter) restoreLocked(n int) {
	if n > 0 {
		w.gate.limiter.restore(w.bubble, n)
		w.gate.allowLocked()
	}
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
		w.unclaimLocked()
	}
	q.sleepers.Leave()
}

// unclaimLocked takes the waiter out of the claims.
func (w *waiter) unclaimLocked() {
	b := w.gate.account.budget
	b.claims.Remove(w.claim)
	b.waiting.Add(-1)
}

package admission

import (
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// Put takes back a block that is ready for its next owner: the engine keeps it, or a waiter
// gets it, or it is dropped.
func (g *Gate) Put(class uint8, block magazine.Block) {
	if g.Overdrawn() {
		g.Full(class, block)
		return
	}
	g.handOrFinish(class, block, g.engine.Push(class, block))
}

// PutSlow is Put for a block for which the shard has no room. The Budget is not overdrawn.
func (g *Gate) PutSlow(class uint8, block magazine.Block) {
	g.handOrFinish(class, block, g.engine.PushSlow(class, block))
}

// Full is Put for a block that nobody may have, because the Budget is overdrawn: what Get took
// past the limit is the first to go.
func (g *Gate) Full(class uint8, block magazine.Block) {
	g.counters.At(class).puts.Add(1)
	g.finish(class, block, magazine.NoRoom)
}

// handOrFinish continues a Put after the engine was offered the block, with result r: if a
// waiter wants it, it is handed over, and else the Put ends. The engine counts the Puts of the
// blocks that it keeps.
func (g *Gate) handOrFinish(class uint8, block magazine.Block, r magazine.Result) {
	if r == magazine.NoRoom && g.limiter.unlimited() { // otherwise what gave way might not be allocated again
		if other, moved := g.engine.GiveWay(class); moved {
			g.offerBlocks(other) // to a waiter that came while they were moved
			r = g.engine.PushSlow(class, block)
		}
	}
	for r == magazine.Wanted {
		if g.hand(class, block) {
			return
		}
		r = g.engine.PushSlow(class, block) // the waiter has gone
	}
	switch r {
	case magazine.NoRoom:
		if g.engine.Waiting(class) && g.hand(class, block) { // a waiter came after Push looked
			return
		}
		fallthrough
	case magazine.AfterClose:
		g.counters.At(class).puts.Add(1)
	}
	g.finish(class, block, r)
}

// Requeue gives the engine a block whose Put has been counted.
func (g *Gate) Requeue(class uint8, block magazine.Block) {
	if g.Overdrawn() {
		g.finish(class, block, magazine.NoRoom)
		return
	}
	g.finish(class, block, g.engine.Add(class, block))
}

// finish ends a Put whose block no waiter gets, whether the engine has kept the block or
// not.
func (g *Gate) finish(class uint8, block magazine.Block, r magazine.Result) {
	switch r {
	case magazine.Kept:
		g.kept(class)
	case magazine.KeptDirect:
		g.kept(class)
		g.leaveDirect()
	case magazine.NoRoom:
		if g.engine.Closed() { // the Budget is overdrawn, so the engine was not offered the block
			g.finish(class, block, magazine.AfterClose)
			return
		}
		g.counters.At(class).full.Add(1)
		g.engine.Gone(class, 1)
		if g.engine.Spill(class, block) {
			g.offerBlocks(class) // to a waiter that came after Push looked
			return
		}
		g.dropAndGrant(class, block)
		g.owner.Loosened()
	case magazine.AfterClose:
		g.counters.At(class).closed.Add(1)
		g.dropAndGrant(class, block)
	}
}

// kept runs after the engine has kept a block on a slow path. A waiter may have come
// after the engine looked. The claims for bytes come first: while there is one, offerBlocks keeps
// the block from a younger waiter, and once it is met nobody would look again.
func (g *Gate) kept(class uint8) {
	g.owner.Kept()
	g.returned()
	g.offerBlocks(class)
}

// Add gives the engine a block that is charged and was never handed out. If the engine does
// not keep it, Add frees it.
func (g *Gate) Add(class uint8, block magazine.Block) magazine.Result {
	r := g.engine.Add(class, block)
	switch r {
	case magazine.Kept, magazine.KeptDirect:
		g.engine.Came(class, 1)
		g.kept(class)
	case magazine.NoRoom, magazine.AfterClose:
		g.dropAndGrant(class, block)
	}
	return r
}

// Shed frees up to n blocks of a class from the depot, for decay. It is for timers: a waiter
// that it cannot wake waits for a call from its own bubble.
func (g *Gate) Shed(class uint8, n int) {
	defer g.account.grantBytesInReach()
	g.shedInDepot(class, n)
}

// Trim is [magazine.Engine.Trim]. Reports and panics are added to l.
func (g *Gate) Trim(l *late.List, beside ...*magazine.Engine) (released int64) {
	defer g.account.grantBytes()
	return g.engine.Trim(g.free(l), beside...)
}

// GrantBytesInReach comes after Drop in a timer. It wakes the waiters that Shed would wake.
func (g *Gate) GrantBytesInReach() { g.account.grantBytesInReach() }

// Close closes the engine and those beside it, which keep nothing from then on, and frees what
// waiters have been given. The caller must call End after.
func (g *Gate) Close(l *late.List, beside ...*magazine.Engine) {
	defer g.closeWaiters(l)
	g.engine.Close(g.free(l), beside...)
}

// closeWaiters frees what the waiters of a closed pool have been given.
func (g *Gate) closeWaiters(l *late.List) {
	g.queue.mu.Lock()
	defer g.queue.unlock()
	for class := range g.queue.class {
		if w := g.queue.firstOf(uint8(class)); w != nil {
			g.closeBlocksLocked(w, l)
		}
	}
}

// closeBlocksLocked frees what a waiter of a closed pool has been given.
func (g *Gate) closeBlocksLocked(w *waiter, l *late.List) {
	late.Finish(func() (more bool) {
		block := w.takeBlock()
		if block == nil {
			return false
		}
		g.counters.At(w.class).puts.Add(1)
		g.counters.At(w.class).closed.Add(1)
		g.Drop(w.class, block, l)
		return true
	})
}

// Drop frees a block that the engine does not have, and wakes no waiter: the caller must call
// Trim, End or GrantBytesInReach afterwards. Reports and panics are added to l.
func (g *Gate) Drop(class uint8, block magazine.Block, l *late.List) {
	defer g.account.unchargeBlock(class, block, g.sizes[class]) // also if Free ends the goroutine
	g.owner.Free(class, block, l)
}

// dropAndGrant is Drop that also wakes waiters for bytes.
func (g *Gate) dropAndGrant(class uint8, block magazine.Block) {
	var l late.List
	defer l.End()
	defer g.account.grantBytes()
	g.Drop(class, block, &l)
}

// free returns a function that frees a block of the engine. After its last call the caller
// must call grantBytes or grantBytesInReach, and then l.End.
func (g *Gate) free(l *late.List) func(class uint8, block magazine.Block) {
	return func(class uint8, block magazine.Block) { g.Drop(class, block, l) }
}

// shedInDepot frees up to n blocks of a class from the depot, and returns how many it freed. The
// caller must call grantBytes or grantBytesInReach afterwards.
func (g *Gate) shedInDepot(class uint8, n int) int {
	var l late.List
	defer l.End()
	return g.engine.Shed(class, n, g.free(&l))
}

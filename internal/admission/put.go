package admission

import (
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// Put takes a block back that is ready for its next owner: the engine keeps it, or a
// waiter gets it, or it is dropped.
func (g *Gate) Put(class uint8, block magazine.Block) {
	if g.Overdrawn() {
		g.Full(class, block)
		return
	}
	g.put(class, block, g.engine.Push(class, block))
}

// PutSlow is Put of a block for which the shard has no room, and no Budget is overdrawn.
func (g *Gate) PutSlow(class uint8, block magazine.Block) {
	g.put(class, block, g.engine.PushSlow(class, block))
}

// Full is Put of a block that the engine is not to keep, because the Budget is overdrawn.
func (g *Gate) Full(class uint8, block magazine.Block) { g.put(class, block, magazine.Full) }

// put goes on after the engine was given a block, with result r. The engine counts the Put
// of a block that it keeps.
func (g *Gate) put(class uint8, block magazine.Block, r magazine.Result) {
	for r == magazine.Wanted {
		if g.hand(class, block) {
			return
		}
		r = g.engine.PushSlow(class, block) // the waiter has gone
	}
	switch r {
	case magazine.Full:
		if g.engine.Waiting(class) && g.hand(class, block) { // somebody waits since Push looked
			return
		}
		fallthrough
	case magazine.Closed:
		g.counts[class].puts.Add(1)
	}
	g.settle(class, block, r)
}

// Requeue gives the engine a block whose Put has been counted.
func (g *Gate) Requeue(class uint8, block magazine.Block) {
	if g.Overdrawn() {
		g.settle(class, block, magazine.Full)
		return
	}
	g.settle(class, block, g.engine.Add(class, block))
}

// settle does what is left to do when the engine has kept a block or not, and no waiter
// gets it.
func (g *Gate) settle(class uint8, block magazine.Block, r magazine.Result) {
	switch r {
	case magazine.Kept:
		g.owner.Kept()
	case magazine.KeptDirect:
		g.keptDirect(class)
		g.scatter()
	case magazine.Full:
		if g.engine.Closed() { // the Budget is overdrawn, and nobody has asked the engine
			g.settle(class, block, magazine.Closed)
			return
		}
		g.counts[class].full.Add(1)
		g.drop(class, block)
		g.owner.Loosened()
	case magazine.Closed:
		g.counts[class].closed.Add(1)
		g.drop(class, block)
	}
}

// keptDirect comes after a gathered engine has kept a block: somebody may have begun to
// wait for it since the engine looked.
func (g *Gate) keptDirect(class uint8) {
	g.owner.Kept()
	g.serve(class)
	g.returned(class)
}

// Add gives the engine a block that was charged and never handed out. Where the engine does
// not keep it, it is let go.
func (g *Gate) Add(class uint8, block magazine.Block) magazine.Result {
	r := g.engine.Add(class, block)
	switch r {
	case magazine.Kept:
		g.owner.Kept()
	case magazine.KeptDirect:
		g.keptDirect(class)
	case magazine.Full, magazine.Closed:
		g.drop(class, block)
	}
	return r
}

// Shed lets go of up to n blocks of a class that lie in the depot, as decay does. It is for
// timers: where it cannot wake somebody, that one waits for a call from its own bubble.
func (g *Gate) Shed(class uint8, n int) {
	defer g.account.serveInReach()
	g.shed(class, n)
}

// Trim is [magazine.Engine.Trim]. What comes up is for l.
func (g *Gate) Trim(l *late.List) (released int64) {
	released = g.engine.Trim(g.free(l))
	g.account.serve()
	return released
}

// ServeInReach comes after Drop where a timer is at work, as in Shed.
func (g *Gate) ServeInReach() { g.account.serveInReach() }

// Close closes the engine, which keeps nothing from then on. End is to be called after it.
func (g *Gate) Close(l *late.List) { g.engine.Close(g.free(l)) }

// Drop lets go of a block that the engine does not have, without waking anybody: Trim, End
// or ServeInReach is to be called after it. What comes up is for l.
func (g *Gate) Drop(class uint8, block magazine.Block, l *late.List) {
	g.owner.Free(class, block, l)
	g.account.letGo(class, block, g.sizes[class])
}

// drop is Drop that wakes those who wait for bytes.
func (g *Gate) drop(class uint8, block magazine.Block) {
	var l late.List
	defer l.End()
	g.Drop(class, block, &l)
	g.account.serve()
}

// free returns what lets go of a block that the engine had. Whoever has it called calls
// serve or serveInReach afterwards, and then l.End.
func (g *Gate) free(l *late.List) func(class uint8, block magazine.Block) {
	return func(class uint8, block magazine.Block) { g.Drop(class, block, l) }
}

// shed lets go of up to n blocks of a class that lie in the depot, and returns how many
// those were. The caller serves those who wait for bytes afterwards.
func (g *Gate) shed(class uint8, n int) int {
	var l late.List
	defer l.End()
	return g.engine.Shed(class, n, g.free(&l))
}

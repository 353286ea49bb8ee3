package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

// Blocks in the shard of another P cannot be touched: its owner uses no atomics.
// They are reached by read-copy-update instead, at no cost to the fast path.
// replace publishes an array of fresh shards, waits until nobody can be in a
// section of the old array any more (grace), and from then on owns the old
// shards alone.
//
// An array never has less shards than the one before, and procs is raised only
// when nobody can have the old one any more. So every section has an array of at
// least as many shards as the procs it reads, in whatever order it reads them.
//
// replace leaves every block of the old shards in the depots. The caller holds
// e.mu.
func (e *Engine) replace(m mode) *array {
	old := e.array()
	next := newArray(m, max(percpu.Procs(), int(old.procs)), e.sharded)
	e.current.Store(&next.slots[0])
	e.grace(old)
	e.procs.Store(uint32(next.procs))
	e.drain(old)
	next.settled.Store(true)
	return next
}

// array returns the array in use.
func (e *Engine) array() *array { return e.current.Load().array }

// drain empties the shards of an array that nobody else can reach.
func (e *Engine) drain(a *array) {
	e.fold(a)
	for id := range a.procs {
		for class := range e.sharded {
			e.evict(e.slotOf(a, id, class), &e.depots[class])
		}
	}
}

// Trim removes every idle block and hands each to release, which is called
// without locks or sections. It returns how many bytes of blocks that were.
// Blocks that are pushed meanwhile may stay.
func (e *Engine) Trim(release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	e.mu.Lock()
	if a := e.array(); a.mode != closed {
		e.replace(a.mode)
	}
	e.mu.Unlock()
	return e.empty(release)
}

// Close is Trim, after which the engine keeps nothing. A Push that races it ends
// before the shards are drained, or finds the engine closed.
func (e *Engine) Close(release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	e.mu.Lock()
	if a := e.array(); a.mode != closed {
		e.replace(closed)
	}
	e.mu.Unlock()
	return e.empty(release)
}

// empty lets go of all blocks and spare magazines in the depots.
func (e *Engine) empty(release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	for class := range e.depots {
		d := &e.depots[class]
		for m := d.full.pop(&e.table); m != nil; m = d.full.pop(&e.table) {
			touch(m)
			n := m.n
			e.release(d, m.room)
			for i, block := range m.items[:n] {
				m.items[i] = nil
				release(uint8(class), block)
			}
			m.n, m.room = 0, 0
			e.table.remove(m)
			d.released.Add(uint64(n))
			bytes += int64(n) * int64(d.size)
		}
		for m := d.empty.pop(&e.table); m != nil; m = d.empty.pop(&e.table) {
			e.table.remove(m)
		}
	}
	return bytes
}

// Gather makes the depots hold every idle block, until Scatter: Pop then finds
// a block wherever it was put. It costs a grace period unless the engine is
// gathered already. It returns false when the engine is closed.
func (e *Engine) Gather() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.array()
	if a.mode == sharded {
		a = e.replace(direct)
	}
	return a.mode == direct
}

// Scatter ends what Gather began.
func (e *Engine) Scatter() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.array(); a.mode == direct {
		e.replace(sharded)
	}
}

// Gathered reports whether the engine is between Gather and Scatter.
func (e *Engine) Gathered() bool { return e.array().mode == direct }

// Closed reports whether the engine is closed.
func (e *Engine) Closed() bool { return e.array().mode == closed }

// PopExact is Pop for those who must not miss a block. Where it returns nil and
// exact is true, there was a moment during the call at which no block of the
// class was idle. exact is false when the engine is not gathered.
func (e *Engine) PopExact(class uint8) (block unsafe.Pointer, exact bool) {
	d := &e.depots[class]
	for {
		a := e.array()
		if block := e.PopSlow(class); block != nil {
			return block, true
		}
		if a.mode != direct {
			return nil, false
		}
		// If all moments in hand that have started by the end had ended at the
		// beginning, nobody had blocks in hand in between, when the depot was
		// empty. The array was the same throughout, and had been settled, so none
		// were in shards.
		settled, ended := a.settled.Load(), d.ended.Load()
		empty := d.full.empty()
		if settled && empty && d.started.Load() == ended && e.array() == a {
			return nil, true
		}
		yield() // to whoever has some in hand, or is about to settle
	}
}

// Wait says that somebody waits for a block of the class (n = 1) or no longer
// does (n = -1). While somebody waits and the engine is gathered, Push returns
// Wanted, so that no other Get overtakes him.
//
// A Push that looked before Wait may still keep its block. So whoever waits must
// call PopExact after Wait, and whoever is told KeptDirect must look at Waiting:
// both count first and look second, in one order that all see, so one of them
// finds the other.
func (e *Engine) Wait(class uint8, n int) { e.depots[class].waiting.Add(int64(n)) }

// Waiting reports whether somebody waits for a block of the class.
func (e *Engine) Waiting(class uint8) bool { return e.depots[class].waiting.Load() > 0 }

// enterGrown is Enter, on an array that has a shard for this P: GOMAXPROCS may
// have grown. Where somebody else is replacing the array already it does not
// wait for him: the section then has no slots and uses the depot, this once.
func (e *Engine) enterGrown() section {
	x := e.Enter()
	if e.outgrown(x) && x.array().mode != closed {
		x.Exit()
		e.grow()
		x = e.Enter()
	}
	return x
}

func (e *Engine) grow() {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	if a := e.array(); uint(percpu.Procs()) > a.procs && a.mode != closed {
		e.replace(a.mode)
	}
}

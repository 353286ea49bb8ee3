package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/percpu"
)

// A change is an engine whose array replaceAll replaces.
type change struct {
	*Engine
	to        mode
	old, next *array
}

// replace is replaceAll for one engine. It returns the new array.
func (e *Engine) replace(m mode) *array {
	changes := []change{{Engine: e, to: m}}
	replaceAll(changes)
	return changes[0].next
}

// replaceAll makes a new array current in each engine, and leaves every block of the old
// shards in the depots. One grace period serves all. The caller holds their mu.
//
// The shard of another P cannot be touched: its owner uses no atomics. Its blocks are
// reached by read-copy-update instead, at no cost to the fast path. replaceAll publishes
// an array of fresh shards, waits until no goroutine can be in a section of the old
// array any more (grace), and from then on owns the old shards alone.
//
// An array never has fewer shards than the one before, and procs is raised only when no
// goroutine can have the old one any more. So every section has an array of at least as
// many shards as the procs it reads, whichever of the two it reads first.
func replaceAll(changes []change) {
	for i := range changes {
		c := &changes[i]
		c.old = c.array()
		procs := int(c.old.procs)
		if c.to == sharded {
			procs = max(procs, percpu.Procs()) // other modes do not use the shards
		}
		c.next = c.newArray(c.to, procs)
		c.current.Store(&c.next.slots[0])
	}
	if len(changes) == 0 {
		return
	}
	delay(seamReplace)
	grace(changes)
	for _, c := range changes {
		if !c.armed.Load() {
			c.procs.Store(uintptr(c.next.procs))
		}
		c.drain(c.old)
		c.next.settled.Store(true)
	}
}

// array returns the array in use.
func (e *Engine) array() *array { return e.current.Load().array }

// drain empties the shards and transfer caches of an array that no other goroutine can
// reach.
func (e *Engine) drain(a *array) {
	e.fold(a)
	for id := range a.procs {
		for class := range e.sharded {
			e.evict(e.slotOf(a, id, class), e.depots.At(uint8(class)))
		}
	}
	for class := range a.transfers {
		for i := range a.transfers[class].cells {
			if mark := a.transfers[class].cells[i].mark.Load(); mark != nil {
				e.unpark(a, class, mark)
			}
		}
	}
}

// Trim removes every block that was idle when Trim was called and still is, and hands
// each to release, which is called without locks or sections. It returns how many bytes
// of blocks those were. A block that is pushed meanwhile may stay, and a Pop meanwhile
// may find nothing.
//
// Draining the shards is not enough: a goroutine that has a magazine in hand to take or
// add one block (popOne, pushOnto), or takes one to a fresh shard (refill), hides old
// blocks. All three happen in sections. So Trim first replaces the array by one in
// which none of them is done, and in which every block that is pushed gets a magazine
// of its own. After that grace period every block that is still idle is in a depot's
// full stack, and Trim takes the stack with one swap.
//
// Without sharded classes no magazine ever has more than one block and none is in a
// shard, so the stacks hold every idle block at any moment.
//
// Trim empties the engines beside in the same two grace periods, and forgets what it finds
// there. An engine in which nothing is idle costs none.
func (e *Engine) Trim(release func(class uint8, block unsafe.Pointer), beside ...*Engine) (bytes int64) {
	engines := lockAll(e, beside)
	all := make([][]detached, len(engines))
	var there, back []change
	for _, e := range engines {
		if before := e.array().mode; before != closed && e.sharded > 0 && e.mayHaveIdle() {
			there, back = append(there, change{Engine: e, to: trimming}), append(back, change{Engine: e, to: before})
		}
	}
	replaceAll(there)
	for i, e := range engines {
		all[i] = e.detach(e.sharded == 0 || e.array().mode == trimming)
	}
	replaceAll(back)
	for i, e := range engines {
		e.count(all[i])
	}
	unlockAll(engines)
	return emptyAll(engines, all, release)
}

// Close is [Engine.Trim], after which the engines keep nothing. A Push that races it
// ends before the shards are drained, or finds the engine closed. Close costs one grace
// period, and none where nothing is idle, nor has a place where it may become idle.
func (e *Engine) Close(release func(class uint8, block unsafe.Pointer), beside ...*Engine) (bytes int64) {
	engines := lockAll(e, beside)
	all := make([][]detached, len(engines))
	var changes []change
	for _, e := range engines {
		if e.array().mode != closed && !e.closeEmpty() {
			changes = append(changes, change{Engine: e, to: closed})
		}
	}
	replaceAll(changes)
	e.tier.detach() // none can follow: Spill asks whether the engine is closed
	for i, e := range engines {
		all[i] = e.detach(true)
		e.count(all[i])
	}
	unlockAll(engines)
	return emptyAll(engines, all, release)
}

// closeEmpty closes an engine that has no places, and reports whether it had none. It takes
// away all room, so that no section that has the old array can make a place. The caller
// holds e.mu.
func (e *Engine) closeEmpty() bool {
	if !e.bounds.shut() {
		return false
	}
	old := e.array()
	e.fold(old) // who has counted had a place
	next := e.newArray(closed, int(old.procs))
	next.settled.Store(true)
	e.current.Store(&next.slots[0])
	return true
}

// lockAll locks the mu of the engines, which are of one pool: first, and those beside it.
func lockAll(first *Engine, beside []*Engine) (engines []*Engine) {
	engines = append(append(engines, first), beside...)
	for _, e := range engines {
		e.mu.Lock()
	}
	return engines
}

func unlockAll(engines []*Engine) {
	for _, e := range engines {
		e.mu.Unlock()
	}
}

// A detached is what was in one depot's stacks, each field the top of a list.
type detached struct {
	full  [2]*magazine
	spare *magazine
}

// detach takes the magazines out of the depots, those with blocks or only the empty ones. The
// caller owns them.
func (e *Engine) detach(blocks bool) []detached {
	all := make([]detached, len(e.depots.Made()))
	for class := range all {
		d := e.depots.At(uint8(class))
		if blocks {
			all[class].full = [2]*magazine{d.full.popAll(&e.table), d.aged.popAll(&e.table)}
		}
		all[class].spare = d.empty.popAll(&e.table)
		for m := all[class].spare; m != nil; m = e.table.below(m) {
			lower(&d.spareLow, d.spares.Add(-1))
		}
	}
	return all
}

// count records that the detached blocks are not idle any more, and gives up their
// places. The caller holds e.mu, so that Counts sees all of it or nothing.
func (e *Engine) count(all []detached) {
	for class := range all {
		d := e.depots.At(uint8(class))
		for _, top := range all[class].full {
			for m := top; m != nil; m = e.table.below(m) {
				atomics.Touch(m)
				d.went(m.n)
				e.release(d, uint32(m.room))
				d.released.Add(uint64(m.n))
				e.released(int64(m.n) * int64(d.size))
			}
		}
	}
}

// emptyAll lets go of all magazines, and releases the blocks of the first engine.
func emptyAll(engines []*Engine, all [][]detached, release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	for i, e := range engines[1:] {
		e.empty(all[i+1], func(uint8, unsafe.Pointer) {})
	}
	return engines[0].empty(all[0], release)
}

// empty releases the blocks and lets go of the magazines, also if release panics.
func (e *Engine) empty(all []detached, release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	for _, d := range all {
		for m := d.spare; m != nil; {
			m = e.discard(m)
		}
	}
	late.Finish(func() (more bool) {
		for class := range all {
			for i := range all[class].full {
				for top := &all[class].full[i]; *top != nil; *top = e.discard(*top) {
					m := *top
					for m.n > 0 {
						block := m.remove()
						bytes += int64(e.sizes[class])
						release(uint8(class), block)
					}
				}
			}
		}
		return false
	})
	return bytes
}

// discard removes a detached magazine from the table and returns the next one.
func (e *Engine) discard(m *magazine) (next *magazine) {
	next = e.table.below(m)
	e.table.remove(m)
	return next
}

// EnterDirect moves every idle block to the depots and keeps them there until
// [Engine.LeaveDirect]: Pop then finds a block wherever it was put. It costs a grace period
// unless the engine is already in direct mode, and waits for a Trim that is in progress. It
// returns false when the engine is closed.
func (e *Engine) EnterDirect() bool { return EnterDirect([]*Engine{e}) }

// EnterDirect is [Engine.EnterDirect] for several engines, in one grace period. It returns
// false when one of them is closed. No two goroutines may call it for several engines of
// which they have two in common.
func EnterDirect(engines []*Engine) (open bool) {
	open = true
	var changes []change
	for _, e := range engines {
		e.mu.Lock()
		switch e.array().mode {
		case sharded:
			changes = append(changes, change{Engine: e, to: direct})
			continue
		case closed:
			open = false
		}
		e.mu.Unlock()
	}
	replaceAll(changes)
	for _, c := range changes {
		c.mu.Unlock()
	}
	return open
}

// LeaveDirect ends what [Engine.EnterDirect] began. It does nothing while another goroutine
// replaces the array or counts, so that a caller that calls it now and then never
// waits.
func (e *Engine) LeaveDirect() {
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	if a := e.array(); a.mode == direct {
		e.replace(sharded)
	}
}

// IsDirect reports whether the engine is between [Engine.EnterDirect] and
// [Engine.LeaveDirect], and no Trim is in progress.
func (e *Engine) IsDirect() bool { return e.array().mode == direct }

// Closed reports whether the engine is closed, or is being closed and has no room any more.
func (e *Engine) Closed() bool {
	return e.array().mode == closed || e.bounds.reserved.Load() == noRoom
}

// PopExact is [Engine.Pop] for callers that must not miss a block. If it returns nil
// and exact is true, there was a moment during the call at which no block of the class
// was idle. exact is false when the engine is not in direct mode. PopExact waits for a Trim
// that is in progress: a block that is pushed meanwhile may stay idle, and a caller
// that missed it and then slept would not be woken.
func (e *Engine) PopExact(class uint8) (block unsafe.Pointer, exact bool) {
	d := e.depots.At(class)
	for {
		a := e.array()
		if block := e.PopSlow(class); block != nil {
			return block, true
		}
		switch a.mode {
		case trimming:
			atomics.Yield()
			continue
		case sharded, closed:
			return nil, false
		}
		if e.bareAt(a, d) {
			return nil, true
		}
		atomics.Yield() // to the goroutine that has blocks in hand, or is about to set settled
	}
}

// bareAt reports whether there was a moment during the call at which no block of a
// depot's class was idle in an engine that is in direct mode, in the array a.
//
// If all moments in hand that have started by the end had ended at the beginning, no
// goroutine had blocks in hand in between, when the depot was empty. The array was the
// same throughout, and had been settled, so no block was in a shard.
func (e *Engine) bareAt(a *array, d *depot) bool {
	settled, ended := a.settled.Load(), d.ended.Load()
	bare := d.bare()
	return settled && bare && d.started.Load() == ended && e.array() == a
}

// Wait says that a caller waits for a block of the class (n = 1) or no longer does (n =
// -1). While one waits and the engine is in direct mode, Push returns Wanted, so that no
// other Get overtakes the waiter.
//
// A Push that looked before Wait may still keep its block. So a waiter must call
// [Engine.PopExact] after Wait, and a caller of Push that is told KeptDirect must look
// at Waiting. Both count first and look second, in one order that all goroutines see,
// so one of them finds the other.
func (e *Engine) Wait(class uint8, n int) { e.depots.At(class).waiting.Add(int64(n)) }

// Waiting reports whether a caller waits for a block of the class.
func (e *Engine) Waiting(class uint8) bool {
	return !e.unused() && e.depots.At(class).waiting.Load() > 0
}

// enterGrown is Enter, on an array that has a shard for this P: the engine may be new, or
// GOMAXPROCS may have grown. If another goroutine is already replacing the array, it does
// not wait for that: the section then has no slots and uses the depot, this once.
func (e *Engine) enterGrown() section {
	e.depots.At(0) // which makes all: a section cannot
	x := e.Enter()
	if !e.hasShard(x) && x.array().mode == sharded && e.sharded > 0 {
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
	if a := e.array(); uint(percpu.Procs()) > a.procs && a.mode == sharded {
		delay(seamGrow)
		e.replace(sharded)
	}
}

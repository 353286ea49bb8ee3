package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/percpu"
)

// replace makes a new array current and leaves every block of the old shards in the
// depots. The caller holds e.mu.
//
// The shard of another P cannot be touched: its owner uses no atomics. Its blocks are
// reached by read-copy-update instead, at no cost to the fast path. replace publishes
// an array of fresh shards, waits until no goroutine can be in a section of the old
// array any more (grace), and from then on owns the old shards alone.
//
// An array never has fewer shards than the one before, and procs is raised only when no
// goroutine can have the old one any more. So every section has an array of at least as
// many shards as the procs it reads, whichever of the two it reads first.
func (e *Engine) replace(m mode) *array {
	old := e.array()
	next := e.newArray(m, max(percpu.Procs(), int(old.procs)))
	e.current.Store(&next.slots[0])
	delay(seamReplace)
	e.grace(old)
	e.procs.Store(uintptr(next.procs))
	e.drain(old)
	next.settled.Store(true)
	return next
}

// array returns the array in use.
func (e *Engine) array() *array { return e.current.Load().array }

// drain empties the shards and transfer caches of an array that no other goroutine can
// reach.
func (e *Engine) drain(a *array) {
	e.fold(a)
	for id := range a.procs {
		for class := range e.sharded {
			e.evict(e.slotOf(a, id, class), &e.depots[class])
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
func (e *Engine) Trim(release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	e.mu.Lock()
	before := e.array().mode
	if before == closed {
		e.mu.Unlock()
		return 0
	}
	if e.sharded > 0 {
		e.replace(trimming)
	}
	all := e.detach()
	if e.sharded > 0 {
		e.replace(before)
	}
	e.count(all)
	e.mu.Unlock()
	return e.empty(all, release)
}

// TrimReserved is [Engine.Trim] if any block may be idle. Otherwise a Trim would stop
// the world for nothing, and TrimReserved only lets go of the empty magazines.
func (e *Engine) TrimReserved(release func(class uint8, block unsafe.Pointer)) {
	if e.Reserved() > 0 {
		e.Trim(release)
		return
	}
	e.DropSpares()
}

// Close is [Engine.Trim], after which the engine keeps nothing. A Push that races it
// ends before the shards are drained, or finds the engine closed.
func (e *Engine) Close(release func(class uint8, block unsafe.Pointer)) (bytes int64) {
	e.mu.Lock()
	if e.array().mode != closed {
		e.replace(closed)
	}
	all := e.detach()
	e.count(all)
	e.mu.Unlock()
	return e.empty(all, release)
}

// A detached is what was in one depot's stacks, each field the top of a list.
type detached struct {
	full  [2]*magazine
	spare *magazine
}

// detach takes all magazines out of the depots. The caller owns them.
func (e *Engine) detach() []detached {
	all := make([]detached, len(e.depots))
	for class := range all {
		d := &e.depots[class]
		all[class] = detached{[2]*magazine{d.full.popAll(&e.table), d.aged.popAll(&e.table)}, d.empty.popAll(&e.table)}
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
		d := &e.depots[class]
		for _, top := range all[class].full {
			for m := top; m != nil; m = e.table.below(m) {
				atomics.Touch(m)
				d.went(m.n)
				e.release(d, uint32(m.room))
				d.released.Add(uint64(m.n))
			}
		}
	}
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
						bytes += int64(e.depots[class].size)
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
func (e *Engine) EnterDirect() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.array()
	if a.mode == sharded {
		a = e.replace(direct)
	}
	return a.mode == direct
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

// Closed reports whether the engine is closed.
func (e *Engine) Closed() bool { return e.array().mode == closed }

// PopExact is [Engine.Pop] for callers that must not miss a block. If it returns nil
// and exact is true, there was a moment during the call at which no block of the class
// was idle. exact is false when the engine is not in direct mode. PopExact waits for a Trim
// that is in progress: a block that is pushed meanwhile may stay idle, and a caller
// that missed it and then slept would not be woken.
func (e *Engine) PopExact(class uint8) (block unsafe.Pointer, exact bool) {
	d := &e.depots[class]
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
func (e *Engine) Wait(class uint8, n int) { e.depots[class].waiting.Add(int64(n)) }

// Waiting reports whether a caller waits for a block of the class.
func (e *Engine) Waiting(class uint8) bool { return e.depots[class].waiting.Load() > 0 }

// enterGrown is Enter, on an array that has a shard for this P: GOMAXPROCS may have
// grown. If another goroutine is already replacing the array, it does not wait for
// that: the section then has no slots and uses the depot, this once.
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
		delay(seamGrow)
		e.replace(a.mode)
	}
}

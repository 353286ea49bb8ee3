package magazine

import (
	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/percpu"
)

// ClearStale clears the slots of engines that point to a block they have given out and
// have not been used since the call before. It is meant to be called after each garbage
// collection. It also lets [Engine.Reclaim] act once more.
//
// A slot that has given out its hot block keeps pointing to it until the slot's next
// operation. If none follows, and the block's owner loses the block, the collector
// could never free it.
//
// ClearStale looks at all engines first, while they serve as usual. Then it gets exclusive
// access to the slots that it has found, as replace does, but keeps the array: while procs is
// 0 every section finds that it has no shard, and after one grace period the sections that
// began before have ended. Meanwhile, for as long as it takes to clear these slots, a Get
// looks into the depots only. One grace period serves all engines. An engine that is being
// replaced at that moment is skipped: its new slots point to nothing.
func ClearStale(engines []*Engine, scratch *Stale) { clearStale(engines, scratch) }

// A Stale has the slices of [ClearStale], to be used again: with them it allocates nothing.
type Stale struct {
	found []staleSlots
	slots []staleSlot
}

// clearStale is ClearStale. It returns how many slots it has looked at, and how many it has
// visited while an engine was held.
func clearStale(engines []*Engine, scratch *Stale) (looks, visits int) {
	found, slots := scratch.found[:0], scratch.slots[:0]
	defer func() {
		clear(found)
		scratch.found, scratch.slots = found, slots
	}()
	for _, e := range engines {
		if !e.mu.TryLock() {
			continue
		}
		e.reclaimable.Store(true)
		from := len(slots)
		var a *array
		var n int
		a, slots, n = e.findStale(slots)
		if looks += n; len(slots) > from {
			found = append(found, staleSlots{held{Engine: e, array: a}, from, len(slots)})
		}
		e.mu.Unlock()
	}
	held := found[:0]
	for _, s := range found {
		if !s.mu.TryLock() {
			continue
		}
		if s.Engine.array() != s.array {
			s.mu.Unlock()
			continue
		}
		s.begin()
		held = append(held, s)
	}
	if len(held) > 0 && percpu.Pinned {
		gracePeriod()
	}
	for _, s := range held {
		visits += s.clear(slots[s.from:s.to])
		s.end()
	}
	return looks, visits
}

// A held is an engine whose slots no section uses, from a grace period after begin until end.
type held struct {
	*Engine
	array    *array // the one in use
	wasArmed bool
}

// begin has every section find that it has no shard. The caller holds mu.
func (h *held) begin() {
	h.wasArmed = h.armed.Swap(false)
	h.procs.Store(0)
}

// end lets sections use their shards again, and unlocks mu.
func (h *held) end() {
	if h.wasArmed {
		h.armed.Store(true)
	} else {
		h.procs.Store(uintptr(h.array.procs))
	}
	h.mu.Unlock()
}

// A staleSlots are the slots of an engine to clear, in one array.
type staleSlots struct {
	held
	from, to int // in a slice of those of all engines
}

// A staleSlot is where a slot is in an array.
type staleSlot struct {
	id    uint // of the shard
	class int
}

// findStale appends to slots those of e's array to clear, records what it sees of all, and returns how many it
// has looked at. The caller holds e.mu.
func (e *Engine) findStale(slots []staleSlot) (a *array, all []staleSlot, looks int) {
	a = e.array()
	if e.Reserved() == 0 {
		return a, slots, 0
	}
	for id := range a.procs {
		a.lock(id)
		for class := range e.sharded {
			if e.depots.At(uint8(class)).reserved.Load() == 0 {
				continue // no slot has a place
			}
			c, used := &a.counted[id][class], e.used(a, id, class)
			if used != c.cleared && used == c.seen {
				slots = append(slots, staleSlot{id, class})
			}
			c.seen = used
			looks++
		}
		a.unlock(id)
	}
	return a, slots, looks
}

// clear clears what findStale has found, and returns how many slots that are. No section uses
// a slot.
func (s staleSlots) clear(slots []staleSlot) (visits int) {
	for _, at := range slots {
		s.array.lock(at.id)
		c := &s.array.counted[at.id][at.class]
		s.slotOf(s.array, at.id, at.class).clearStale()
		c.cleared = c.seen
		s.array.unlock(at.id)
		visits++
	}
	return visits
}

func (s *slot) clearStale() {
	atomics.Touch(s)
	if s.state != full {
		s.hot = nil
	}
}

// used returns how many operations a slot has served.
func (e *Engine) used(a *array, id uint, class int) uint64 {
	s, c := e.slotOf(a, id, class), &a.counted[id][class]
	return s.hits.load(c.hits) + s.puts.load(c.puts)
}

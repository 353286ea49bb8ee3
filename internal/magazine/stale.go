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
// ClearStale gets exclusive access to the slots as replace does, but keeps the array:
// while procs is 0 every section finds that it has no shard, and after one grace period
// the sections that began before have ended. Meanwhile, for some tens of microseconds,
// a Get looks into the depots only. One grace period serves all engines. An engine that
// is being replaced at that moment is skipped: its new slots point to nothing.
func ClearStale(engines []*Engine) {
	var stale []*Engine
	for _, e := range engines {
		if !e.mu.TryLock() {
			continue
		}
		e.reclaimable.Store(true)
		if !e.findStale() {
			e.mu.Unlock()
			continue
		}
		stale = append(stale, e)
		e.procs.Store(0)
	}
	if stale != nil && percpu.Pinned {
		gracePeriod()
	}
	for _, e := range stale {
		e.clearStale()
		e.procs.Store(uintptr(e.array().procs))
		e.mu.Unlock()
	}
}

// findStale reports whether there are slots to clear, and records what it sees of all.
// The caller holds e.mu.
func (e *Engine) findStale() (any bool) {
	if e.Reserved() == 0 {
		return false
	}
	a := e.array()
	for id := range a.procs {
		a.lock(id)
		for class := range e.sharded {
			if e.depots[class].reserved.Load() == 0 {
				continue // no slot has a place
			}
			c, used := &a.counted[id][class], e.used(a, id, class)
			c.stale = used != c.cleared && used == c.seen
			c.seen = used
			any = any || c.stale
		}
		a.unlock(id)
	}
	return any
}

// clearStale clears what findStale has found. No section uses a slot.
func (e *Engine) clearStale() {
	a := e.array()
	for id := range a.procs {
		a.lock(id)
		for class := range e.sharded {
			if c := &a.counted[id][class]; c.stale {
				e.slotOf(a, id, class).clearStale()
				c.stale, c.cleared = false, c.seen
			}
		}
		a.unlock(id)
	}
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

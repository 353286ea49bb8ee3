package magazine

import (
	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/percpu"
)

// Spread reports whether blocks lie in shards or transfer caches, or have places there.
func (e *Engine) Spread() bool {
	deposited := int64(0)
	for class := range e.depots.Made() {
		d := e.depots.At(uint8(class))
		deposited += max(0, d.blocks.Load()) * int64(d.size)
	}
	return e.Reserved() > deposited
}

// Gather moves the blocks that lie in the shards and transfer caches of engines to the depots, where [Engine.Low]
// sees them, and gives up the places that they leave. Get and Put do not say which of a shard's blocks they
// need. After Gather they show it: they take those from the depot again, a few at a time, and the others
// stay there.
//
// Gather has exclusive access to the slots as ClearStale has, after one grace period for all engines. Until a
// Gather is through with an engine, its Gets look into the depots only, and may find nothing. It leaves out an engine
// that is being replaced.
func Gather(engines []*Engine) {
	var all []held
	for _, e := range engines {
		if !e.Spread() || !e.mu.TryLock() {
			continue
		}
		h := held{Engine: e, array: e.array()}
		if h.array.mode != sharded || h.array.procs == 0 {
			e.mu.Unlock()
			continue
		}
		e.leaveTransfers(h.array)
		h.begin()
		all = append(all, h)
	}
	if len(all) > 0 && percpu.Pinned {
		gracePeriod()
	}
	for i := range all {
		for class := range all[i].sharded {
			if all[i].depots.At(uint8(class)).reserved.Load() != 0 { // else no slot has a place
				all[i].gather(all[i].array, class)
			}
		}
		all[i].end()
	}
}

// gather is Gather for one class. No section uses a slot.
func (e *Engine) gather(a *array, class int) {
	d := e.depots.At(uint8(class))
	var all []*magazine
	for id := range a.procs {
		a.lock(id)
		s, sh := e.slotOf(a, id, class), &a.shards[id]
		atomics.Touch(s)
		s.loadHot()
		sh.bytes -= (int(s.room) + int(s.previousRoom)) * d.size
		all = e.withdraw(all, d, s.previous, s.previousN, s.previousRoom)
		all = e.withdraw(all, d, s.loaded, s.n, s.room)
		s.loaded, s.n, s.room = nil, 0, 0
		s.previous, s.previousN, s.previousRoom = nil, 0, 0
		a.unlock(id)
	}
	e.storeInParts(d, all, int(a.procs))
}

// withdraw adds a magazine of a slot, which the caller owns, to those that have blocks, and gives up its empty
// places. It may be nil.
func (e *Engine) withdraw(all []*magazine, d *depot, m *magazine, n, room uint8) []*magazine {
	if n == 0 {
		e.store(d, m, 0, room)
		return all
	}
	atomics.Touch(m)
	m.n, m.room = uint16(n), uint16(n)
	e.release(d, uint32(room-n))
	return append(all, m)
}

// storeInParts puts magazines that the caller owns into the depot, in parts: on top one block for each of so many
// shards at least, below them two at a time, then four. A shard that needs one block would otherwise
// take a whole magazine from there, and the others would seem to be needed too.
func (e *Engine) storeInParts(d *depot, all []*magazine, shards int) {
	var parts []*magazine
	singles := max(2, (shards+len(all)-1)/max(1, len(all)))
	for round, size := 1, 1; ; round++ {
		before := len(parts)
		for _, m := range all {
			if int(m.n) <= size {
				continue
			}
			part := e.takeSpare(d)
			if part == nil {
				part = e.table.add(d.places)
			}
			if part == nil { // the table is full
				break
			}
			atomics.Touch(part)
			part.n, part.room = 0, 0
			for range size {
				part.add(m.remove())
			}
			parts = append(parts, part)
		}
		if len(parts) == before {
			break
		}
		if round >= singles {
			size *= 2
		}
	}
	for _, m := range all {
		e.store(d, m, uint8(m.n), uint8(m.n))
	}
	for i := len(parts) - 1; i >= 0; i-- { // the first parts have the youngest blocks
		e.store(d, parts[i], uint8(parts[i].n), uint8(parts[i].n))
	}
}

// leaveTransfers moves the magazines in transfer caches to the depots. Sections may use these meanwhile.
func (e *Engine) leaveTransfers(a *array) {
	for class := range a.transfers {
		for i := range a.transfers[class].cells {
			at := &a.transfers[class].cells[i].mark
			if mark := at.Load(); mark != nil && at.CompareAndSwap(mark, nil) {
				e.unpark(a, class, mark)
			}
		}
	}
}

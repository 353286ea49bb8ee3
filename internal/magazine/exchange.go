package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/percpu"
)

// PopSlow is [Engine.Pop] when the loaded magazine was empty, or the class has none.
func (e *Engine) PopSlow(class uint8) unsafe.Pointer {
	x := e.enterGrown()
	block := e.popIn(x, class)
	x.Exit()
	if block == nil && !percpu.Pinned {
		block = e.popElsewhere(class, uint(x.id))
	}
	if block == nil {
		block = e.recover(class)
	}
	return block
}

// mostSearched is how many shards popElsewhere looks into, so that a miss on a large
// machine does not cost more than what it saves.
const mostSearched = 64

// popElsewhere looks for a block in the other shards of the portable engine, from one on.
// There a shard is chosen by where the caller's frame lies, and if those of a Get and of
// a Put always lie apart, the one never finds what the other has filled. It passes over
// shards that are in use.
func (e *Engine) popElsewhere(class uint8, from uint) unsafe.Pointer {
	first := e.current.Load()
	if first == nil || int(class) >= e.sharded {
		return nil
	}
	a := first.array
	for i := range min(a.procs, mostSearched) {
		id := (from + 1 + i) % a.procs
		if !a.shards[id].guard.TryLock() {
			continue
		}
		x := section{int(id), first}
		var block unsafe.Pointer
		if e.current.Load() == first && e.hasShard(x) {
			block = e.OwnSlot(x, slotAt(class)).Pop()
		}
		x.Exit()
		if block != nil {
			return block
		}
	}
	return nil
}

func (e *Engine) popIn(x section, class uint8) unsafe.Pointer {
	d := e.depots.At(class)
	if s := e.usable(x, class); s != nil {
		if block := s.Pop(); block != nil { // another goroutine put one on this P since Pop looked
			return block
		}
		if d.bare() && !s.transfer.hasFull() {
			return nil
		}
		if e.makeWay(x, class, int(s.rounds)-int(s.previousRoom)) {
			m := e.fetch(x.array(), class)
			if m == nil {
				if m = d.full.pop(&e.table); m != nil {
					d.went(m.n)
				}
			}
			switch {
			case m == nil: // what is aged leaves one by one, so that Low sees what is not needed
			case m.room <= uint16(s.rounds):
				return e.refill(x, s, d, m)
			default: // from before GOMAXPROCS grew, and too large for one shard
				d.came(m.n)
				d.full.push(m)
			}
		}
	}
	if m := x.array().mode; m == trimming || m == closed {
		return nil
	}
	block := e.popDirect(d)
	if block != nil {
		d.hits.Add(1)
	}
	return block
}

// refill exchanges the previous magazine of a slot, which like the loaded one is empty,
// for one that the caller owns. Ownership of m passes to the slot, and that of the
// empty one to the depot.
func (e *Engine) refill(x section, s *slot, d *depot, m *magazine) unsafe.Pointer {
	sh := x.shard()
	sh.bytes += (int(m.room) - int(s.previousRoom)) * d.size
	e.store(d, s.previous, 0, s.previousRoom)
	s.previous, s.previousN, s.previousRoom = m, uint8(m.n), uint8(m.room)
	return s.Pop()
}

// PushSlow is [Engine.Push] when the loaded magazine was full, or the class has none.
func (e *Engine) PushSlow(class uint8, block unsafe.Pointer) Result {
	return e.pushOrAdd(class, block, false)
}

// Add puts a block that no Pop returned into the depot, so that it does not count as a
// Put.
func (e *Engine) Add(class uint8, block unsafe.Pointer) Result {
	return e.pushOrAdd(class, block, true)
}

// pushOrAdd tries in a section, and tries again if that needs an empty magazine, which
// cannot be allocated in a section.
func (e *Engine) pushOrAdd(class uint8, block unsafe.Pointer, added bool) Result {
	var spare *magazine
	for {
		x := e.enterGrown()
		result, wantsSpare := e.pushIn(x, class, block, added, &spare)
		x.Exit()
		if wantsSpare {
			if spare = e.table.add(e.depots.At(class).places); spare != nil {
				continue
			}
		}
		if spare != nil {
			e.depots.At(class).putSpare(spare)
		}
		return result
	}
}

func (e *Engine) pushIn(x section, class uint8, block unsafe.Pointer, added bool, spare **magazine) (result Result, wantsSpare bool) {
	d := e.depots.At(class)
	rounds := x.array().rounds[class]
	if s := e.usable(x, class); s != nil && !added {
		if s.Give(block) || s.GiveMore(block) { // another goroutine got one on this P since Push looked
			return Kept, false
		}
		more := int(s.rounds) - int(s.previousRoom)
		if s.widens() {
			more = int(s.rounds) - int(s.room)
		}
		if e.makeWay(x, class, more) {
			return e.unload(x, s, class, block, spare)
		}
	}
	switch {
	case x.array().mode == closed:
		return AfterClose, false
	case x.array().mode != sharded && !added && d.waiting.Load() > 0:
		return Wanted, false
	case x.array().mode == trimming:
		rounds = 1 // each in a magazine of its own
	}
	count := &d.puts
	if added {
		count = &d.added
	}
	kept, wantsSpare := e.pushDirect(d, rounds, block, spare, count)
	if !kept {
		return NoRoom, wantsSpare
	}
	if x.array().mode != sharded {
		return KeptDirect, false
	}
	return Kept, false
}

// unload makes room in a slot whose magazines are both full. If the loaded one has
// fewer places than it could, it widens that one. Otherwise it passes the previous one
// on, to the transfer cache or the depot, and takes an empty one.
func (e *Engine) unload(x section, s *slot, class uint8, block unsafe.Pointer, spare **magazine) (result Result, wantsSpare bool) {
	d, sh := e.depots.At(class), x.shard()
	if s.widens() {
		more := e.reserve(d, uint32(s.rounds-s.room))
		if more == 0 {
			return NoRoom, false
		}
		s.room += uint8(more)
		sh.bytes += int(more) * d.size
		s.GiveMore(block)
		return Kept, false
	}
	m := e.emptyMagazine(d, spare)
	if m == nil {
		return NoRoom, true
	}
	room := uint8(e.reserve(d, uint32(s.rounds)))
	if room == 0 {
		d.putSpare(m)
		return NoRoom, false
	}
	sh.bytes += (int(room) - int(s.previousRoom)) * d.size
	if s.previousRoom != s.rounds || !e.park(x.array(), class, s.previous) {
		e.store(d, s.previous, s.previousN, s.previousRoom)
	}
	s.previous, s.previousN, s.previousRoom = m, 0, room
	s.loadHot()
	s.swap()
	s.state = open
	s.Give(block)
	return Kept, false
}

// usable returns the class's slot if its magazines can be used: the engine is sharded,
// the class has magazines, and the P has a shard. Otherwise it returns nil.
func (e *Engine) usable(x section, class uint8) *slot {
	if x.array().mode != sharded || !e.hasShard(x) || x.array().rounds[class] < 2 {
		return nil
	}
	return e.OwnSlot(x, slotAt(class))
}

// makeWay makes sure that the section's shard, which exists, may hold so many more
// places of the class. It sends the magazines of other classes to their depots, in
// turn, until the places fit. After all of them it gives up, and reports false: then
// this one operation goes to the depot.
func (e *Engine) makeWay(x section, class uint8, places int) bool {
	if places <= 0 {
		return true
	}
	sh, most := x.shard(), x.array().shardBytes
	need := places * e.sizes[class]
	for range e.sharded {
		if sh.bytes+need <= most {
			break
		}
		sh.hand++
		if int(sh.hand) >= e.sharded {
			sh.hand = 0
		}
		if sh.hand != class {
			sh.bytes -= e.evict(e.OwnSlot(x, slotAt(sh.hand)), e.depots.At(sh.hand))
		}
	}
	return sh.bytes+need <= most
}

// evict moves the magazines of a slot to the depot and returns how many bytes of places
// they had. The caller owns the slot.
func (e *Engine) evict(s *slot, d *depot) (bytes int) {
	atomics.Touch(s)
	s.loadHot()
	bytes = (int(s.room) + int(s.previousRoom)) * d.size
	e.store(d, s.loaded, s.n, s.room)
	e.store(d, s.previous, s.previousN, s.previousRoom)
	s.loaded, s.n, s.room = nil, 0, 0
	s.previous, s.previousN, s.previousRoom = nil, 0, 0
	return bytes
}

package magazine

import "unsafe"

// PopSlow is Pop where the loaded magazine was empty, or the class has none.
func (e *Engine) PopSlow(class uint8) unsafe.Pointer {
	x := e.enterGrown()
	block := e.popIn(x, class)
	x.Exit()
	return block
}

func (e *Engine) popIn(x section, class uint8) unsafe.Pointer {
	d := &e.depots[class]
	if s := e.usable(x, class); s != nil {
		if block := s.Take(); block != nil { // a Put on this P since Pop looked
			return block
		}
		switch {
		case s.previous != nil && s.previous.n != 0:
			s.swap()
			return s.Take()
		case d.bare():
			return nil
		}
		rounds := x.array().rounds[class]
		if e.makeWay(x, class, int(rounds)-s.previousRoom()) {
			switch m := e.pop(d); {
			case m == nil:
				return nil
			case m.room <= rounds:
				return e.refill(x, s, d, m)
			default: // from before GOMAXPROCS grew, and too much for one shard
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

// refill exchanges the previous magazine of a slot, which like the loaded one is
// empty, for one from the depot.
func (e *Engine) refill(x section, s *slot, d *depot, m *magazine) unsafe.Pointer {
	delay(seamRefill)
	sh := x.shard()
	if s.previous != nil {
		sh.bytes -= int(s.previous.room) * d.size
		e.store(d, s.previous)
	}
	sh.bytes += int(m.room) * d.size
	d.went(m.n)
	s.previous = m
	s.swap()
	return s.Take()
}

// PushSlow is Push where the loaded magazine was full, or the class has none.
func (e *Engine) PushSlow(class uint8, block unsafe.Pointer) Result {
	return e.push(class, block, false)
}

// Add puts a block into the depot that no Pop returned, so that it does not
// count as a Put.
func (e *Engine) Add(class uint8, block unsafe.Pointer) Result {
	return e.push(class, block, true)
}

// push tries in a section, and again when that wants an empty magazine, which
// cannot be allocated in one.
func (e *Engine) push(class uint8, block unsafe.Pointer, added bool) Result {
	var spare *magazine
	for {
		x := e.enterGrown()
		result, wantsSpare := e.pushIn(x, class, block, added, &spare)
		x.Exit()
		if wantsSpare {
			if spare = e.table.add(); spare != nil {
				continue
			}
		}
		if spare != nil {
			e.depots[class].empty.push(spare)
		}
		return result
	}
}

func (e *Engine) pushIn(x section, class uint8, block unsafe.Pointer, added bool, spare **magazine) (result Result, wantsSpare bool) {
	d := &e.depots[class]
	rounds := x.array().rounds[class]
	if s := e.usable(x, class); s != nil && !added {
		if s.Give(block) { // a Get on this P since Push looked
			return Kept, false
		}
		s.settle()
		if s.previous != nil && s.previous.n < s.previous.room {
			s.swap()
			s.Give(block)
			return Kept, false
		}
		more := int(rounds) - s.previousRoom()
		if s.widens(rounds) {
			more = int(rounds - s.room)
		}
		if e.makeWay(x, class, more) {
			return e.unload(x, s, d, rounds, block, spare)
		}
	}
	switch {
	case x.array().mode == closed:
		return Closed, false
	case x.array().mode != sharded && !added && d.waiting.Load() > 0:
		return Wanted, false
	case x.array().mode == trimming:
		rounds = 1 // each in a magazine of its own
	}
	kept, wantsSpare := e.pushDirect(d, rounds, block, spare)
	if !kept {
		return Full, wantsSpare
	}
	if added {
		d.added.Add(1)
	} else {
		d.puts.Add(1)
	}
	if x.array().mode != sharded {
		return KeptDirect, false
	}
	return Kept, false
}

// unload makes room in a slot whose magazines are both full: it widens the
// loaded one where that has less places than it could, else lets the previous
// one go to the depot and takes an empty one.
func (e *Engine) unload(x section, s *slot, d *depot, rounds uint32, block unsafe.Pointer, spare **magazine) (result Result, wantsSpare bool) {
	sh := x.shard()
	if s.widens(rounds) {
		more := e.reserve(d, rounds-s.room)
		if more == 0 {
			return Full, false
		}
		s.room += more
		s.reopen()
		sh.bytes += int(more) * d.size
		s.Give(block)
		return Kept, false
	}
	delay(seamUnload)
	m := e.emptyMagazine(d, spare)
	if m == nil {
		return Full, true
	}
	if m.room = e.reserve(d, rounds); m.room == 0 {
		d.empty.push(m)
		return Full, false
	}
	if s.previous != nil {
		sh.bytes -= int(s.previous.room) * d.size
		e.store(d, s.previous)
	}
	sh.bytes += int(m.room) * d.size
	s.previous = m
	s.swap()
	s.Give(block)
	return Kept, false
}

// usable returns the class's slot where its magazines can be used: the engine is
// sharded, the class has magazines, and the P has a shard.
func (e *Engine) usable(x section, class uint8) *slot {
	if x.array().mode != sharded || e.outgrown(x) || x.array().rounds[class] < 2 {
		return nil
	}
	return e.Slot(x, class+1)
}

// makeWay makes sure that the shard may hold so many more places of the class, by
// sending the magazines of other classes to their depots, in turn, until they fit.
// It gives up after all of them: then this one operation goes to the depot.
func (e *Engine) makeWay(x section, class uint8, places int) bool {
	sh, most := x.shard(), x.array().shardBytes
	need := places * e.depots[class].size
	for range e.sharded {
		if sh.bytes+need <= most {
			break
		}
		sh.hand++
		if int(sh.hand) >= e.sharded {
			sh.hand = 0
		}
		if sh.hand != class {
			sh.bytes -= e.evict(e.Slot(x, sh.hand+1), &e.depots[sh.hand])
		}
	}
	return sh.bytes+need <= most
}

// evict moves the magazines of a slot to the depot and returns how many bytes of
// places they had. The caller owns the slot.
func (e *Engine) evict(s *slot, d *depot) (bytes int) {
	s.settle()
	for range 2 {
		if s.loaded != nil {
			m := s.loaded
			m.n, m.room = s.n, s.room
			bytes += int(m.room) * d.size
			e.store(d, m)
		}
		s.loaded, s.n, s.room = nil, 0, 0
		s.reopen()
		if s.previous != nil {
			s.swap()
		}
	}
	return bytes
}

package magazine

// Counts are what one class has counted and holds.
type Counts struct {
	Hits      uint64 // blocks that were popped, but for those that were recovered
	Puts      uint64 // blocks that were pushed and kept
	Released  uint64 // blocks that Trim, Shed and Close released
	Recovered uint64 // blocks that were popped from the second tier
	Idle      int    // blocks in the engine
}

// counted is how much of a slot's counters has been folded into the totals, and what
// ClearStale last saw of them.
type counted struct {
	hits, puts    uint64
	seen, cleared uint64 // hits + puts at ClearStale's last call, and at the last one that cleared the slot
}

// fold adds what a's slots have counted since the last fold to the totals. The caller
// holds e.mu. The owners of the counters may be counting, so on a live array the totals
// lag behind operations in progress; after a grace period they are exact.
func (e *Engine) fold(a *array) {
	if a.procs == 0 {
		return
	}
	for class := range e.sharded {
		e.foldClass(a, class)
	}
}

func (e *Engine) foldClass(a *array, class int) {
	total := &e.depots.At(uint8(class)).total
	for id := range a.procs {
		a.lock(id)
		s, c := e.slotOf(a, id, class), &a.counted[id][class]
		hits, puts := s.hits.load(c.hits), s.puts.load(c.puts)
		total.Hits += hits - c.hits
		total.Puts += puts - c.puts
		c.hits, c.puts = hits, puts
		a.unlock(id)
	}
}

// Counts returns the counts of each class. They are exact while no other goroutine uses
// the engine. Otherwise each count that only grows is the true value at some moment
// during the call. The parts of Idle are read one after the other, so it may be off by
// the blocks that came and went meanwhile, but it never exceeds what was reserved at
// some moment.
func (e *Engine) Counts() []Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fold(e.array())
	counts := make([]Counts, len(e.sizes))
	for i := range e.depots.Made() {
		counts[i] = e.classCounts(i)
	}
	return counts
}

// mayHaveIdle reports whether a block may be idle. If it returns false, there was for each
// class a moment during the call at which none was. The caller holds e.mu.
//
// It reads what has left before what came. A block is counted as come before another
// goroutine can take it, and as gone after it was taken: so of what has left it has seen
// all come, and what it sees idle is not less than what was when it had read what left.
func (e *Engine) mayHaveIdle() bool {
	hits := func(s *slot, c *counted) uint64 { return s.hits.load(c.hits) - c.hits }
	puts := func(s *slot, c *counted) uint64 { return s.puts.load(c.puts) - c.puts }
	for class := range e.depots.Made() {
		d := e.depots.At(uint8(class))
		if d.reserved.Load() == 0 {
			continue
		}
		left := d.total.Hits + d.hits.Load() + d.released.Load() + e.unfolded(class, hits)
		came := d.total.Puts + d.puts.Load() + d.added.Load() + e.unfolded(class, puts)
		if came != left {
			return true
		}
	}
	return false
}

// unfolded returns the sum of what all slots of a class have counted since the last fold.
func (e *Engine) unfolded(class int, count func(*slot, *counted) uint64) (sum uint64) {
	if class >= e.sharded {
		return 0
	}
	a := e.array()
	for id := range a.procs {
		a.lock(id)
		sum += count(e.slotOf(a, id, class), &a.counted[id][class])
		a.unlock(id)
	}
	return sum
}

// classCounts returns the counts of one class. The caller holds e.mu and has folded.
func (e *Engine) classCounts(class int) Counts {
	d := e.depots.At(uint8(class))
	c := d.total
	// Read what left before what came, so that a block that passes through meanwhile is
	// not counted as gone before it came.
	released, hits := d.released.Load(), d.hits.Load()
	added, puts := d.added.Load(), d.puts.Load()
	c.Hits += hits
	c.Puts += puts
	c.Released = released
	c.Recovered = d.recovered.Load()
	c.Idle = max(0, min(int(c.Puts+added-c.Hits-released), int(d.reserved.Load())))
	return c
}

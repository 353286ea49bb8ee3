package magazine

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/percpu"
)

// Counts are what one class has seen and holds.
type Counts struct {
	Hits     uint64 // blocks that were popped
	Puts     uint64 // blocks that were pushed and kept
	Released uint64 // blocks that Trim and Close let go
	Idle     int    // blocks in the engine
}

// counted is how much of a slot's counters has been folded into the totals, and
// what Strand saw of them.
type counted struct {
	hits, puts uintptr
	used       uintptr // hits + puts at Strand's last call
	still      uint8   // calls since they changed
}

// fold adds what a's slots have counted since the last fold to the totals. The
// caller holds e.mu. The owners of the counters may be counting, so on a live
// array the totals lag by what is under way; after a grace period they are exact.
// The differences are taken modulo the word, so 32-bit counters may wrap once
// between two folds.
func (e *Engine) fold(a *array) {
	for id := range a.procs {
		if !percpu.Pinned {
			a.shards[id].guard.Lock()
		}
		for class := range e.sharded {
			s := e.slotOf(a, id, class)
			hits, puts := atomic.LoadUintptr(&s.hits), atomic.LoadUintptr(&s.puts)
			c := &a.counted[id][class]
			e.total[class].Hits += uint64(hits - c.hits)
			e.total[class].Puts += uint64(puts - c.puts)
			c.hits, c.puts = hits, puts
		}
		if !percpu.Pinned {
			a.shards[id].guard.Unlock()
		}
	}
}

// Counts returns the counts of each class. They are exact while nobody uses the
// engine; else each that only grows is true for some moment during the call, and Idle,
// whose parts are read one after the other, may be off by what came and went meanwhile,
// though not above what was reserved at some moment.
func (e *Engine) Counts() []Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fold(e.array())
	counts := make([]Counts, len(e.depots))
	for i := range counts {
		d, c := &e.depots[i], e.total[i]
		// What left is read before what came, so that a block that passes
		// through meanwhile is not counted as gone before it came.
		released, hits := d.released.Load(), d.hits.Load()
		added, puts := d.added.Load(), d.puts.Load()
		c.Hits += hits
		c.Puts += puts
		c.Released = released
		c.Idle = max(0, min(int(c.Puts+added-c.Hits-released), int(d.reserved.Load())))
		counts[i] = c
	}
	return counts
}

package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// A depot holds the idle blocks of a class that are not in the shards.
//
// A magazine in one of its stacks has as many places reserved as it has blocks.
type depot struct {
	full  stack // magazines with blocks, most of them full
	aged  stack // the same, with the oldest on top: see Shed
	empty stack // magazines without blocks and without reservation

	size   int // bytes of a block
	places int // capacity of a new magazine

	// several says that a magazine of this class may hold more than one block. It stays
	// true even if GOMAXPROCS has grown so far that new magazines hold one: old ones
	// may be left.
	several bool

	reserved atomics.Int64 // blocks that are idle or may become so: see bounds.go

	// blocks is how many blocks are in the full and aged stacks, and low the least that
	// it has been since the last call of Low.
	blocks, low atomics.Heuristic

	// spares is how many magazines are in empty, and spareLow the least that it has
	// been since the last call of DropSpares.
	spares, spareLow atomics.Heuristic

	// A goroutine that takes one block from a magazine of several holds the others in
	// hand for a moment, in which no other goroutine finds them. started and ended
	// count such moments, so that a goroutine that finds the depot empty can tell
	// whether it was: see PopExact.
	started, ended atomics.Uint64

	// waiting counts the callers that want to be handed the next block: see Wait.
	waiting atomics.Int64

	// Counts of the operations that bypassed the shards.
	hits, puts, added, released atomics.Statistic

	spilled, recovered atomics.Statistic // blocks that went to the second tier, and that came from there
	credit             atomics.Heuristic // how many more Spill takes

	total Counts // what has been folded in from the shards' counters; guarded by Engine.mu

	_ [64]byte
}

// bare reports whether both stacks have no magazine, at two moments one after the
// other: a magazine that age moves in between is in its hand at one of them.
func (d *depot) bare() bool { return d.full.empty() && d.aged.empty() }

// came and went count blocks into and out of the stacks.
func (d *depot) came(n uint16) { d.blocks.Add(int64(n)) }

func (d *depot) went(n uint16) {
	lower(&d.low, d.blocks.Add(-int64(n)))
}

// lower records in low that a count is now v, if that is less than it has been.
func lower(low *atomics.Heuristic, v int64) {
	for least := low.Load(); v < least; least = low.Load() {
		if low.CompareAndSwap(least, v) {
			return
		}
	}
}

// popDirect takes one block out of the depot.
func (e *Engine) popDirect(d *depot) unsafe.Pointer {
	if d.bare() {
		return nil // and no moment in hand begins, or two PopExacts could delay each other forever
	}
	if d.several {
		d.started.Add(1)
	}
	block := e.popOne(d)
	if d.several {
		d.ended.Add(1)
	}
	return block
}

// popOne prefers a young block, which is more likely to be in a cache. It may miss one that age has in
// hand.
func (e *Engine) popOne(d *depot) unsafe.Pointer {
	from := &d.full
	m := from.pop(&e.table)
	if m == nil {
		from = &d.aged
		if m = from.pop(&e.table); m == nil {
			return nil
		}
	}
	delay(seamPopDirect)
	d.went(1)
	block := m.remove()
	if m.n > 0 {
		from.push(m)
	} else {
		d.putSpare(m)
	}
	e.release(d, 1)
	return block
}

// pushDirect puts one block into the depot: on top of the uppermost magazine if that
// has fewer than rounds, otherwise into the spare magazine or an empty one. It reports
// whether the block is kept, and if not, whether it needs a spare. A block that is kept is
// counted before another goroutine can take it: see mayHaveIdle.
func (e *Engine) pushDirect(d *depot, rounds uint32, block unsafe.Pointer, spare **magazine, count *atomics.Statistic) (kept, wantsSpare bool) {
	if e.reserve(d, 1) == 0 {
		return false, false
	}
	delay(seamPushDirect)
	if rounds > 1 {
		d.started.Add(1)
		kept = e.pushOnto(d, rounds, block, count)
		d.ended.Add(1)
		if kept {
			return true, false
		}
	}
	m := e.emptyMagazine(d, spare)
	if m == nil {
		e.release(d, 1)
		return false, true
	}
	m.n, m.room = 0, 0
	m.add(block)
	d.came(1)
	count.Add(1)
	d.full.push(m)
	return true, false
}

// pushOnto puts a block for which a place is reserved into the uppermost magazine.
func (e *Engine) pushOnto(d *depot, rounds uint32, block unsafe.Pointer, count *atomics.Statistic) (kept bool) {
	m := d.full.pop(&e.table)
	if m == nil {
		return false
	}
	atomics.Touch(m)
	if kept = uint32(m.n) < min(rounds, uint32(m.capacity)); kept {
		d.came(1)
		count.Add(1)
		m.add(block)
	}
	d.full.push(m)
	return kept
}

// emptyMagazine returns the spare magazine, or one from the depot, or nil. The caller
// owns it.
func (e *Engine) emptyMagazine(d *depot, spare **magazine) *magazine {
	if m := *spare; m != nil {
		*spare = nil
		return m
	}
	return e.takeSpare(d)
}

// takeSpare takes a magazine from the stack of empty ones, or returns nil.
func (e *Engine) takeSpare(d *depot) *magazine {
	m := d.empty.pop(&e.table)
	if m != nil {
		lower(&d.spareLow, d.spares.Add(-1))
	}
	return m
}

// putSpare puts an empty magazine that the caller owns onto the stack of empty ones.
func (d *depot) putSpare(m *magazine) {
	d.spares.Add(1)
	d.empty.push(m)
}

// store puts a magazine that the caller owns into the depot. The magazine was in a
// shard or in a transfer cache with n blocks and room places. It may be nil, with
// neither blocks nor room.
func (e *Engine) store(d *depot, m *magazine, n, room uint8) {
	if m == nil {
		return
	}
	atomics.Touch(m)
	m.n, m.room = uint16(n), uint16(n)
	e.release(d, uint32(room-n))
	if n > 0 {
		d.came(m.n)
		d.full.push(m)
	} else {
		d.putSpare(m)
	}
}

package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/late"
)

// Low returns the least number of blocks of a class that the depot held at any moment
// since the last call. It does not see the shards' blocks: see [Gather].
func (e *Engine) Low(class uint8) int {
	if e.unused() {
		return 0
	}
	d := e.depots.At(class)
	blocks := d.blocks.Load()
	low := max(0, min(blocks, d.low.Swap(blocks)))
	if e.demand.follows() {
		e.demand.low.Add(low * int64(d.size))
	}
	return int(low)
}

// Least returns what [Engine.Low] would, and leaves it to be returned again.
func (e *Engine) Least(class uint8) int {
	if e.unused() {
		return 0
	}
	d := e.depots.At(class)
	return int(max(0, min(d.blocks.Load(), d.low.Load())))
}

// Shed removes up to n blocks of a class from the depot, the oldest first, and hands
// each to release, which is called without locks or sections. It returns how many those
// were.
//
// A stack gives back the youngest first. So Shed takes blocks from a second one, aged,
// onto which age turns the whole of the first. There the oldest are on top, and stay on
// top, because blocks that are pushed later go to the first.
//
// An engine without sharded classes sheds the youngest instead: while age has a block
// in hand a Pop misses it, which Config.Direct promises does not happen.
func (e *Engine) Shed(class uint8, n int, release func(class uint8, block unsafe.Pointer)) (shed int) {
	if e.unused() {
		return 0
	}
	d := e.depots.At(class)
	var blocks [MaxRounds]unsafe.Pointer
	if e.sharded > 0 && d.aged.empty() && n > 0 {
		e.age(d)
	}
	for shed < n {
		got := e.shedSome(d, blocks[:min(n-shed, MaxRounds)])
		if got == 0 {
			break
		}
		shed += got
		next := 0
		late.Finish(func() (more bool) { // all that were taken out, also if release panics
			for next < got {
				block := blocks[next]
				blocks[next] = nil
				next++
				release(class, block)
			}
			return false
		})
	}
	return shed
}

// ShedExact is [Engine.Shed] for callers that must not miss a block. If it sheds fewer
// than n and exact is true, there was a moment during the call at which none was idle;
// see PopExact.
func (e *Engine) ShedExact(class uint8, n int, release func(class uint8, block unsafe.Pointer)) (shed int, exact bool) {
	for {
		a := e.array()
		if shed += e.Shed(class, n-shed, release); shed >= n {
			return shed, true
		}
		switch a.mode {
		case sharded, closed:
			return shed, false
		case direct:
			if e.bareAt(a, e.depots.At(class)) {
				return shed, true
			}
		}
		atomics.Yield()
	}
}

// Deposited returns about how many blocks of a class Shed would find.
func (e *Engine) Deposited(class uint8) int {
	if e.unused() {
		return 0
	}
	return int(max(0, e.depots.At(class).blocks.Load()))
}

// unused reports whether no goroutine has looked for a block, nor brought or waited for one. A
// call that has happened before has, so nothing is idle.
func (e *Engine) unused() bool { return e.depots.Made() == nil }

// shedSome takes some of the oldest blocks out of one magazine.
func (e *Engine) shedSome(d *depot, blocks []unsafe.Pointer) (n int) {
	x := e.enterGrown()
	defer x.Exit()
	if m := x.array().mode; m == trimming || m == closed {
		return 0 // Trim and Close have the depots
	}
	if d.bare() {
		return 0 // and no moment in hand begins, or two ShedExacts could delay each other forever
	}
	d.started.Add(1)
	defer d.ended.Add(1)
	from := &d.aged
	m := from.pop(&e.table)
	if m == nil {
		from = &d.full
		if m = from.pop(&e.table); m == nil {
			return 0
		}
	}
	for n < len(blocks) && m.n > 0 {
		blocks[n] = m.remove()
		n++
	}
	d.went(uint16(n))
	e.release(d, uint32(n))
	d.released.Add(uint64(n))
	e.released(int64(n) * int64(d.size))
	if m.n > 0 {
		from.push(m)
	} else {
		d.putSpare(m)
	}
	return n
}

// age moves the magazines of the full stack to the aged one, each in a section of its
// own. Magazines that are pushed meanwhile may come along.
func (e *Engine) age(d *depot) {
	for left := d.blocks.Load(); left > 0; {
		x := e.enterGrown()
		moved := e.ageOne(x, d)
		x.Exit()
		if moved == 0 {
			return
		}
		left -= int64(moved)
	}
}

func (e *Engine) ageOne(x section, d *depot) (blocks uint32) {
	if m := x.array().mode; m == trimming || m == closed {
		return 0
	}
	d.started.Add(1)
	if m := d.full.pop(&e.table); m != nil {
		atomics.Touch(m)
		blocks = uint32(m.n)
		d.aged.push(m)
	}
	d.ended.Add(1)
	return blocks
}

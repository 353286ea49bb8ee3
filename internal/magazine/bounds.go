package magazine

import (
	"math"

	"github.com/dewpond/dewpond/internal/atomics"
)

// bounds limit what an engine keeps idle. A demand may allow more: see demand.go.
//
// A block is idle only in a place that was reserved before: reserved counts the sum of
// all magazines' room. A counter never exceeds its limit, not even for a moment: a
// goroutine that saw it there would drop a block for which there is room.
type bounds struct {
	maxBytes    int64
	maxPerClass int64             // 0: no limit
	cut         atomics.Heuristic // bytes that blocks keep alive in addition to their own: see CutFrom
	least       atomics.Heuristic // of what limit returns, however much was cut

	_        [64]byte
	reserved atomics.Int64 // bytes, over all classes
	_        [64]byte
}

// shardBytes returns what one of procs shards may hold, so that all together hold at
// most a quarter of MaxIdleBytes.
func (b *bounds) shardBytes(procs int) int {
	return int(min(ShardBytes, b.maxBytes/int64(4*procs)))
}

// rounds returns how many blocks a magazine of a class holds when there are procs
// shards: MagazineBytes of memory, of which each byte of size has unit, but more of large blocks, because a shard that takes and gives
// at random exchanges magazines once in rounds squared operations.
//
// A small bound makes small magazines: the two of every shard must not add up to more
// than a third of what MaxIdlePerClass allows. Together with what the transfer caches
// may have, empty places elsewhere then never keep a pool below half of its bounds. If
// that leaves fewer than two blocks, magazines are of no use: 1 says that the class's
// blocks lie singly in the depot.
func (b *bounds) rounds(size, unit, procs int) uint32 {
	shard := b.shardBytes(procs)
	n := max(MagazineBytes/(size*unit), min(16, shard/8/size), 2)
	n = min(n, MaxRounds, shard/2/size)
	if b.maxPerClass > 0 {
		n = min(n, int(b.maxPerClass)/(6*procs))
	}
	return uint32(max(n, 1))
}

// transferBytes returns how many bytes of places all transfer caches together may have:
// a quarter of MaxIdleBytes, the same as the shards.
func (b *bounds) transferBytes() int64 { return b.maxBytes / 4 }

// transferCells returns in how many cells a class's transfer cache may have magazines
// of the given rounds: their blocks add up to at most a sixth of MaxIdlePerClass.
func (b *bounds) transferCells(rounds uint32) int {
	if b.maxPerClass > 0 {
		return min(transferCells, int(b.maxPerClass)/6/int(rounds))
	}
	return transferCells
}

// reserve grants places for up to want blocks, and returns for how many. With both
// bounds set, places of the class are held for a moment even if the bound on bytes then
// refuses them.
func (e *Engine) reserve(d *depot, want uint32) uint32 {
	allowed := int64(want)
	if limit := e.bounds.maxPerClass; limit > 0 {
		allowed = grant(&d.reserved, allowed, 1, limit)
	} else {
		d.reserved.Add(allowed)
	}
	granted := grant(&e.bounds.reserved, allowed, int64(d.size), e.bounds.limit())
	if granted < allowed && e.demand.follows() {
		granted += e.reserveBeyond(allowed-granted, int64(d.size))
	}
	if granted < allowed {
		d.reserved.Add(granted - allowed)
	}
	if granted > 0 {
		e.report.send()
	}
	return uint32(granted)
}

// A report is where an engine says that it may have idle blocks.
type report struct {
	word *atomics.Uint64 // nil: nowhere
	bit  uint64
}

// Report has the engine set a bit of word whenever it makes a place for a block, before the
// block is in it. Who clears the bit finds out by [Engine.Reserved], after that, whether
// there are places. No other goroutine may have the engine yet.
func (e *Engine) Report(word *atomics.Uint64, bit uint64) {
	e.report = report{word, bit}
	if e.Reserved() > 0 {
		e.report.send()
	}
}

func (r *report) send() {
	if r.word != nil && r.word.Load()&r.bit == 0 {
		r.word.Or(r.bit)
	}
}

// grant adds up to want times step to a counter, as many steps as fit below the limit,
// and returns how many.
func grant(counter *atomics.Int64, want, step, limit int64) int64 {
	for {
		v := counter.Load()
		n := min(want, max(0, limit-v)/step)
		if n <= 0 || counter.CompareAndSwap(v, v+n*step) {
			return n
		}
	}
}

// release gives up the places of n blocks.
func (e *Engine) release(d *depot, n uint32) {
	if n > 0 {
		bytes := int64(n) * int64(d.size)
		left := e.bounds.reserved.Add(-bytes)
		if b := &e.demand; b.follows() && left+bytes > b.base {
			b.share.give((b.beyond(left+bytes) - b.beyond(left)) * b.unit)
		}
		d.reserved.Add(-int64(n))
	}
}

// Reserved returns the bytes of blocks that are idle or may become so without another
// reservation: at most MaxIdleBytes, and what demand allows beyond.
func (e *Engine) Reserved() int64 {
	if n := e.bounds.reserved.Load(); n != noRoom {
		return n
	}
	return 0
}

// CutFrom says that there is a block of a class that was cut from whole bytes, which it keeps alive. The
// engine does not know later which blocks those are. So that idle blocks stay within MaxIdleBytes also with
// what was cut off, it subtracts all of that from the bound, but no more than if every idle block
// had lost the largest share. When idle blocks leave, as large a part of what was cut goes with them.
func (e *Engine) CutFrom(class uint8, whole int) {
	b := &e.bounds
	b.cut.Add(int64(whole - e.sizes[class]))
	lower(&b.least, int64(float64(b.maxBytes)*float64(e.sizes[class])/float64(whole)))
}

// limit returns the most that may be reserved.
func (b *bounds) limit() int64 { return max(b.least.Load(), b.maxBytes-max(0, b.cut.Load())) }

// uncut says that so many of all bytes of blocks have gone.
func (b *bounds) uncut(bytes, of int64) {
	if cut := b.cut.Load(); cut > 0 {
		b.cut.Add(-int64(math.Ceil(float64(cut) * min(1, float64(bytes)/float64(max(1, of))))))
	}
}

// noRoom is what reserved is once shut has taken away all room: it is above every limit.
const noRoom = math.MaxInt64

// shut takes away all room forever, unless a place is reserved, and reports whether it did.
func (b *bounds) shut() bool { return b.reserved.CompareAndSwap(0, noRoom) }

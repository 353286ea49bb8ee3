package dewpond

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/learn"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A BytePool hands out blocks of bytes and takes them back for reuse.
// It keeps idle blocks across garbage collections, within its bounds, until
// [BytePool.Trim], [BytePool.Close] or decay releases them. Make a pool with
// [NewBytePool].
//
// The zero BytePool is also ready to use: from its first use it has the default
// options. Its Get and Put take twice as long as those of a pool made by
// NewBytePool, and 1.7 times as long as a zero [sync.Pool]'s (BenchmarkZeroValue).
//
// A BytePool must not be copied. All its methods may be called by any number of
// goroutines at once. A Put of a block synchronizes before the Get that returns it.
//
// The caller of Get owns the block until Put. After Put no caller may use it: a pool
// cannot see that a slice is still in use, or that it is put back twice while
// its block is out again. The ownership document of the repository lists which misuse
// is refused and which is not:
// https://github.com/dewpond/dewpond/blob/main/docs/ownership.md.
type BytePool struct {
	// The fields that Get and Put read come first, in one cache line.
	blocks     memory.Blocks // the ledger's
	zero       ZeroPolicy
	onPut      mode
	onGet      mode
	made       bool   // by NewBytePool; false in the zero BytePool
	sampleMask uint32 // watchSome: hit number k is sampled when k&sampleMask == 0
	engine     magazine.Engine
	classes    sizeclass.Table

	source   Source            // nil: the Go heap
	ledger   memory.Ledger     // source, if it is a Ledger; else nil
	fallback *memory.Fallbacks // blocks of the Go heap that replace the source's when it fails
	elements *elements         // what the blocks consist of, if the pool is a SlicePool's; else nil

	name  string
	entry *registry.Entry // in livePools

	handles magazine.Engine // idle handles of leases, one class of size 1
	leased  atomic.Bool     // set once the pool has made a handle

	first learn.First // size of a Buffer's first block

	decay  decay.Decayer
	gate   admission.Gate
	checks *checks
	count  counts

	hints   hints
	standIn standIn[BytePool]
}

// Get and Put read the pool's first cache line, which includes the engine's first three
// words. This does not compile if a field pushes those words out of the line.
const _ = 64 - (unsafe.Offsetof(BytePool{}.engine) + 3*unsafe.Sizeof(uintptr(0)))

// A mode says what Put does to a block before the engine gets it, or what Get does to a
// block from the engine. It sums up the pool's options, so that the fast path needs one
// comparison.
type mode uint8

const (
	clearBlock mode = 1 << iota
	trackState      // Put: ask the Source whether it owns the block; Get: note that the block is out
	watchSome       // CheckSampled
	watchAll        // CheckAll
	askBudget       // Put: ask whether the block is charged, and whether the Budget has room
	resetBlock      // Put: call elements.reset

	keepAsIs mode = 0
	watch         = watchSome | watchAll
)

// Get returns a slice of n bytes. Its cap is the smallest class that holds n bytes, and
// it begins at an address that is a multiple of 16.
// The bytes are zero unless the pool's policy is [ZeroNever]. If n is larger than the
// largest class, Get allocates a slice that is not pooled. Get is never
// refused: past [BytePoolOptions.AllocLimit] it still allocates, and counts that in
// [Stats.OverLimit]. It panics if n is negative.
//
// Get(0) returns an empty slice that is not nil and has cap 0. It takes no block, and is
// not counted. For a slice to append to, use Get(n)[:0], or start with nil and
// [BytePool.Append].
//
//go:nosplit
func (p *BytePool) Get(n int) []byte {
	if uint(n) > sizeclass.MaxSmall {
		return p.getLarge(n)
	}
	small := p.classes.Small(uint(n))
	// engine.Pop, inlined by hand (cost 329 of 80): it saves one call of five. nosplit
	// saves the check for stack space; no function called from here needs much stack.
	x := p.engine.Enter()
	slot := p.engine.Slot(x, small.Number())
	block := slot.Take()
	if block == nil {
		x.Exit()
		return p.getSlow(n)
	}
	if p.onGet == keepAsIs {
		x.Exit()
		// A Small's size has 24 bits, so this checks n alone.
		return (*[1 << 24]byte)(block)[:n:small.Size()]
	}
	number := slot.Hits()
	x.Exit()
	switch p.onGet {
	case watchSome:
		if uint32(number)&p.sampleMask == 0 {
			p.prepare(block, small, number)
		}
	case trackState: // p.note, inlined by hand (cost 212 of 80)
		if state := p.blocks.Find(uintptr(block), small.Size()); state != nil {
			issue(state, memory.WhenOut(uintptr(block), small.Size()))
			runtime.KeepAlive(p)
			break
		}
		fallthrough
	default:
		p.prepare(block, small, number)
	}
	return (*[1 << 24]byte)(block)[:n:small.Size()]
}

// getLarge is Get for sizes above MaxSmall.
func (p *BytePool) getLarge(n int) []byte {
	if uint(n) <= sizeclass.MaxLarge {
		small := p.classes.Large(uint(n))
		x := p.engine.Enter() // engine.Pop, inlined by hand (cost 329 of 80)
		slot := p.engine.Slot(x, small.Number())
		block := slot.Take()
		number := slot.Hits()
		x.Exit()
		if block != nil {
			if p.onGet != keepAsIs {
				p.prepare(block, small, number)
			}
			return (*[1 << 24]byte)(block)[:n:small.Size()]
		}
	}
	return p.getSlow(n)
}

// blockAlignment is the alignment of every block, in bytes.
const blockAlignment = 16

// prepare makes an idle block ready for the caller of Get. number is the shard's number
// of this hit.
func (p *BytePool) prepare(block unsafe.Pointer, small sizeclass.Small, number uintptr) {
	b := unsafe.Slice((*byte)(block), small.Size())
	if p.onGet&watch != 0 && uint32(number)&p.sampleMask == 0 {
		p.watchThis(b)
	}
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// getSlow is Get for a large size, or when the shard has no idle block.
func (p *BytePool) getSlow(n int) []byte {
	switch {
	case n == 0:
		return noBytes[:]
	case !p.made:
		return p.actual().Get(n)
	}
	class, ok := p.classFor("Get", n)
	if !ok {
		return p.oversize(n)
	}
	block := p.engine.PopSlow(class)
	if block == nil && p.engine.Reclaim(class) {
		block = p.engine.PopSlow(class)
	}
	if b := p.reused(class, block); b != nil {
		return b[:n]
	}
	overLimit, overBudget := p.gate.Overrun(class)
	if overLimit {
		p.count.overLimit.Add(1)
	}
	if overBudget {
		p.count.overBudget.Add(1)
	}
	b, err := p.allocate(class, p.gate.Uncharge)
	if err != nil {
		// The Source failed, and Get must return memory. This block is not the Source's,
		// so its Put will be refused and the collector frees it.
		p.count.class[class].misses.Add(1)
		p.count.class[class].fallbacks.Add(1)
		b = make([]byte, p.classes.Size(class))
		p.fallback.Add(dataOf(b), addressOf(b))
	}
	return b[:n]
}

// Put gives a block back, whatever the slice's length. The caller must no longer use
// it. Put ignores a slice of cap 0, such as nil. It refuses, and counts in [Stats], what
// cannot be a block of this pool:
//
//   - a slice whose cap is not the size of a class, or that does not begin at a multiple
//     of 16 (DroppedForeign);
//   - a slice whose cap is more than the largest class (DroppedOversize);
//   - off the heap, a slice that is not exactly one of the pool's blocks
//     (DroppedForeign), and a block that is not out (DroppedDouble);
//   - in a pool with a [Budget], a slice that the pool has not handed out
//     (DroppedForeign).
//
// Put drops a block that the pool has no room for (DroppedFull), every block while the
// pool's Budget is overdrawn (DroppedFull), and every block after [BytePool.Close]
// (DroppedClosed).
//
//go:nosplit
func (p *BytePool) Put(b []byte) {
	n := uint(cap(b))
	if n > sizeclass.MaxSmall {
		p.putLarge(b)
		return
	}
	small := p.classes.Small(n)
	if small.Size()^n|uint(addressOf(b)%blockAlignment) != 0 {
		p.putSlow(b)
		return
	}
	// As a switch like Get's, this takes 4 % of a Get and Put more with ZeroNever, and 8 %
	// more with CheckSampled and ZeroOnPut (BenchmarkGetPut, BenchmarkSampled).
	if p.onPut != keepAsIs {
		if p.onPut&(watch|askBudget) != 0 {
			if p.onPut&(watchAll|askBudget) != 0 || check.Watched(addressOf(b)) {
				p.putSlow(b)
				return
			}
			if p.onPut == watchSome {
				goto give
			}
		}
		if p.onPut&trackState != 0 {
			// If several goroutines Put one block, one Put is accepted and from here on
			// owns the block. putSlow classifies the others.
			state := p.blocks.Find(addressOf(b), n)
			if state == nil || !state.Return(memory.WhenOut(addressOf(b), n)) {
				p.putSlow(b)
				return
			}
		}
		if p.onPut&clearBlock != 0 {
			clear(b[:n])
		}
	}
give:
	block := unsafe.Pointer(unsafe.SliceData(b))
	// engine.Push, inlined by hand (cost 406 of 80). Give passes ownership of the block
	// to the engine.
	x := p.engine.Enter()
	slot := p.engine.Slot(x, small.Number())
	if slot.Give(block) {
		x.Exit()
		return
	}
	kept := slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.pushSmall(small, block)
	}
}

// Return puts back the block *b, as [BytePool.Put] does, and makes *b nil, so that the
// caller cannot use the block any more through this variable, nor put it back twice.
func (p *BytePool) Return(b *[]byte) {
	block := *b
	*b = nil // first: a Put that panics, in a report, has taken the block too
	p.Put(block)
}

// putLarge is Put for caps above MaxSmall.
func (p *BytePool) putLarge(b []byte) {
	n := uint(cap(b))
	if n > sizeclass.MaxLarge {
		p.putSlow(b)
		return
	}
	small := p.classes.Large(n)
	if small.Size()^n|uint(addressOf(b)%blockAlignment) != 0 || !p.cleaned(b[:n]) {
		p.putSlow(b)
		return
	}
	block := unsafe.Pointer(unsafe.SliceData(b))
	x := p.engine.Enter() // engine.Push, inlined by hand (cost 406 of 80)
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.pushSmall(small, block)
	}
}

// cleaned makes a block ready for its next owner, as Put does. If it returns false the
// block needs putSlow, and cleaned has not touched it.
func (p *BytePool) cleaned(b []byte) bool {
	if p.onPut&(watchAll|askBudget) != 0 || p.onPut&watchSome != 0 && check.Watched(addressOf(b)) {
		return false
	}
	if p.onPut&trackState != 0 {
		state := p.blocks.Find(addressOf(b), uint(len(b)))
		if state == nil || !state.Return(memory.WhenOut(addressOf(b), uint(len(b)))) {
			return false
		}
	}
	if p.onPut&clearBlock != 0 {
		clear(b)
	}
	return true
}

// noBytes is what a Get of 0 bytes returns.
var noBytes [0]byte

// pushSmall is the end of Put when the shard has no room. If it were inlined, Put would
// be larger.
//
//go:noinline
func (p *BytePool) pushSmall(small sizeclass.Small, block unsafe.Pointer) {
	if small.Number() == 0 { // cap 0
		return
	}
	p.gate.PutSlow(small.Number()-1, block)
}

// putSlow is Put for large blocks, blocks of a pool with a Budget, blocks of a Source
// without a table of its blocks, and slices that are not blocks of this pool.
func (p *BytePool) putSlow(b []byte) {
	switch {
	case cap(b) == 0:
		return
	case !p.made:
		p.actual().Put(b)
		return
	}
	if p.onPut&^clearBlock == askBudget && uint(cap(b)) <= sizeclass.MaxSmall {
		if small := p.classes.Small(uint(cap(b))); small != 0 && small.Size() == uint(cap(b)) {
			p.putCharged(small, b[:cap(b)])
			return
		}
	}
	class, ok := p.classes.Exact(cap(b))
	switch {
	case cap(b) > p.classes.Largest():
		p.count.droppedOversize.Add(1)
		p.gate.LetGoLarge(dataOf(b), cap(b))
		return
	case !ok, p.misaligned(b): // Scope.Slice relies on this
		p.count.droppedForeign.Add(1)
		if p.onPut&watchAll != 0 {
			p.checks.stranger(addressOf(b), cap(b))
		}
		return
	}
	p.putBlock(class, b)
}

// putBlock is the end of Put for a slice that looks like a block of a class. It reports
// whether the pool accepts it as one.
func (p *BytePool) putBlock(class uint8, b []byte) (accepted bool) {
	watched := false
	if p.onPut&watch != 0 {
		if accepted, watched = p.putChecked(b); !accepted {
			return false
		}
	}
	if p.onPut&(trackState|askBudget) != 0 && !p.accepts(class, b) {
		return false
	}
	p.giveBack(class, b[:cap(b)], watched)
	return true
}

// giveBack gives a block that the pool has accepted to its next owner. The caller alone
// has the block.
func (p *BytePool) giveBack(class uint8, b []byte, watched bool) {
	if watched {
		p.putWatched(class, b)
		return
	}
	p.clean(b)
	p.gate.Put(class, blockOf(b))
}

// misaligned reports whether no block can begin where a slice begins. Before elements with
// pointers Go puts a word of its own.
func (p *BytePool) misaligned(b []byte) bool {
	return addressOf(b)%blockAlignment != 0 && !p.elements.havePointers()
}

// clean makes a block that Put has accepted ready for its next owner.
func (p *BytePool) clean(b []byte) {
	switch {
	case p.onPut&clearBlock != 0:
		clear(b)
	case p.onPut&resetBlock != 0:
		p.elements.reset(b)
	}
}

// putCharged is the fast part of putSlow: a small heap block of a pool with a Budget.
func (p *BytePool) putCharged(small sizeclass.Small, b []byte) {
	if !p.gate.Holds(small.Number()-1, addressOf(b)) {
		p.count.droppedForeign.Add(1)
		return
	}
	if p.onPut != askBudget {
		clear(b)
	}
	block := blockOf(b)
	if p.gate.Overdrawn() {
		p.gate.Full(small.Number()-1, block)
		return
	}
	x := p.engine.Enter() // engine.Push, inlined by hand (cost 406 of 80)
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.gate.PutSlow(small.Number()-1, block)
	}
}

package dewpond

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A BytePool hands out blocks of bytes and takes them back for their next owner.
// It keeps them across garbage collections, within its bounds, until Trim or
// Close. Make one with NewBytePool. The zero BytePool works too: from its first use on
// it has the default options, and its Get and Put take twice as long as those of one
// that was made, 1.7 times as long as a zero sync.Pool's (BenchmarkZeroValue). A
// BytePool must not be copied.
//
// All methods may be called by any number of goroutines at once. A Put of a block
// synchronizes before the Get that returns it.
//
// The caller of Get owns the block until Put, and nobody afterwards: a pool
// cannot see that a slice is still in use, nor that it is put back twice while
// its block is out again. docs/ownership.md has what is refused and what is not.
type BytePool struct {
	// What Get and Put read of the pool itself comes first, in one cache line.
	blocks  memory.Blocks // the ledger's
	zero    ZeroPolicy
	onPut   step
	onGet   step
	made    bool   // by NewBytePool; else this is the zero BytePool
	others  uint32 // with watchSome, a Get whose number has none of these bits is watched
	engine  magazine.Engine
	classes sizeclass.Table

	source   memory.Source     // nil: the Go heap
	ledger   memory.Ledger     // the same, where it is one
	fallback *memory.Fallbacks // blocks of the Go heap that stand in for the source's

	name  string
	entry *registry.Entry // in livePools

	handles magazine.Engine // idle handles of leases, one class of size 1
	leased  atomic.Bool     // whether there ever was a handle

	decay  decay.Decayer
	gate   admission.Gate
	checks *checks
	count  counts

	standIn standIn[BytePool]
}

// Get and Put read the first of these lines, and of the engine its first three words:
// this does not compile where a field has pushed them out of it.
const _ = 64 - (unsafe.Offsetof(BytePool{}.engine) + 3*unsafe.Sizeof(uintptr(0)))

// A step is what Put does to a block before the engine gets it, or Get to one that
// comes from there: the pool's options, boiled down to the one comparison that the
// fast path has time for.
type step uint8

const (
	clearBlock step = 1 << iota
	askSource       // in Put whether the block is its own, in Get to note it
	watchSome       // CheckSampled
	watchAll        // CheckAll
	askBudget       // in Put whether it has been charged, and has room

	keepAsIs step = 0
	watch         = watchSome | watchAll
)

// Get returns a slice of n bytes whose cap is the smallest class that holds them, and
// which begins at an address that is a multiple of 16.
// The bytes are zero unless the pool's policy is ZeroNever. A size above the
// largest class is allocated and not pooled. Get is never refused: what it
// allocates past AllocLimit is counted in OverLimit. It panics if n is negative.
//
//go:nosplit
func (p *BytePool) Get(n int) []byte {
	if uint(n) > sizeclass.MaxSmall {
		return p.getLarge(n)
	}
	small := p.classes.Small(uint(n))
	// This is engine.Pop, opened up: one call less, of five. nosplit saves
	// the check for stack space; nothing that is called from here needs much.
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
		if uint32(number)&p.others == 0 {
			p.prepare(block, small, number)
		}
	case askSource: // this is note, opened up
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

// getLarge is Get above MaxSmall.
func (p *BytePool) getLarge(n int) []byte {
	if uint(n) <= sizeclass.MaxLarge {
		small := p.classes.Large(uint(n))
		x := p.engine.Enter()
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

// blockAlignment is what each block starts at a multiple of, in bytes.
const blockAlignment = 16

// prepare makes a block that was idle ready for the caller of Get. number is that of the
// shard's hit.
func (p *BytePool) prepare(block unsafe.Pointer, small sizeclass.Small, number uintptr) {
	b := unsafe.Slice((*byte)(block), small.Size())
	if p.onGet&watch != 0 && uint32(number)&p.others == 0 {
		p.watchThis(b)
	}
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// getSlow is Get for a large size, or where no idle block was found.
func (p *BytePool) getSlow(n int) []byte {
	if !p.made {
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
		// Get always has memory. This block is not the Source's, so its Put will
		// be refused and the collector has it.
		p.count.class[class].misses.Add(1)
		p.count.class[class].strays.Add(1)
		b = make([]byte, p.classes.Size(class))
		p.fallback.Add(dataOf(b), addressOf(b))
	}
	return b[:n]
}

// Put gives a block back, whatever the slice's length. The caller must not use
// it any more. Put ignores nil; it refuses and counts what cannot be a block of
// this pool: a slice whose cap is no class, or that does not begin at a multiple of 16
// (DroppedForeign), or whose cap is more than the largest class (DroppedOversize). A
// pool off the heap refuses whatever is not exactly
// one of its blocks (DroppedForeign), and a block that is not out (DroppedDouble). A
// block that the pool has no room for is dropped (DroppedFull), as is any after Close
// (DroppedClosed). A pool with a Budget refuses whatever it has not handed out
// (DroppedForeign), and drops every block while the Budget is overdrawn (DroppedFull).
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
	if p.onPut != keepAsIs {
		if p.onPut&(watch|askBudget) != 0 {
			if p.onPut&(watchAll|askBudget) != 0 || check.Watched(addressOf(b)) {
				p.putSlow(b)
				return
			}
			if p.onPut == watchSome {
				goto give // for CheckSampled's sake, and without a test more for the others
			}
		}
		if p.onPut&askSource != 0 {
			// Of several Puts of one block one is accepted: from here on it has
			// the block alone. For the others putSlow finds out what they are.
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
	// This is engine.Push, opened up.
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

// putLarge is Put above MaxSmall.
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
	x := p.engine.Enter()
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.pushSmall(small, block)
	}
}

// cleaned makes a block ready for its next owner, as Put does, or reports that it wants
// putSlow: then it has not touched it.
func (p *BytePool) cleaned(b []byte) bool {
	if p.onPut&(watchAll|askBudget) != 0 || p.onPut&watchSome != 0 && check.Watched(addressOf(b)) {
		return false
	}
	if p.onPut&askSource != 0 {
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

// pushSmall is Put where the shard has no room.
func (p *BytePool) pushSmall(small sizeclass.Small, block unsafe.Pointer) {
	if small.Number() == 0 { // cap 0, in a pool that has no small class
		if block != nil {
			p.actual().count.droppedForeign.Add(1)
		}
		return
	}
	p.gate.PutSlow(small.Number()-1, block)
}

// putSlow is Put for large blocks, blocks of a pool with a Budget, blocks of a Source
// that has no table of them, and what is no block.
func (p *BytePool) putSlow(b []byte) {
	switch {
	case b == nil:
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
	goOn, watched := true, false
	switch {
	case cap(b) > p.classes.Largest():
		p.count.droppedOversize.Add(1)
		p.gate.LetGoLarge(dataOf(b), cap(b))
		return
	case !ok, addressOf(b)%sizeclass.Multiple != 0: // Scope.Slice relies on that
		p.count.droppedForeign.Add(1)
		if p.onPut&watchAll != 0 {
			p.checks.Stranger(addressOf(b), cap(b))
		}
		return
	case p.onPut&watch != 0:
		goOn, watched = p.putChecked(b)
	}
	if !goOn || p.onPut&(askSource|askBudget) != 0 && !p.accepts(class, b) {
		return
	}
	b = b[:cap(b)]
	if watched {
		p.putWatched(class, b)
		return
	}
	if p.zero == ZeroOnPut {
		clear(b)
	}
	p.gate.Put(class, blockOf(b))
}

// putCharged is putSlow for the case that counts: a small block of the heap.
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
	x := p.engine.Enter()
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.gate.PutSlow(small.Number()-1, block)
	}
}

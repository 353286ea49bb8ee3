package dewpond

// This file is long because it has all of BytePool that turns a block into a slice and
// back: unsafe has its address here, and nowhere else in the pool.

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
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

// reuse returns an idle block of the class, or nil where it finds none.
func (p *BytePool) reuse(class uint8) []byte {
	return p.reused(class, p.engine.Pop(class))
}

// reused makes a block that was idle the caller's, if there is one.
func (p *BytePool) reused(class uint8, block unsafe.Pointer) []byte {
	b := p.whole(class, block)
	if b != nil {
		p.issue(b)
	}
	return b
}

// whole turns a block of the engine into a slice, and nil into nil.
func (p *BytePool) whole(class uint8, block unsafe.Pointer) []byte {
	if block == nil {
		return nil
	}
	return unsafe.Slice((*byte)(block), p.classes.Size(class))
}

// free returns a function that lets go of a block that the engine no longer holds. Whoever
// makes it be called calls p.gate.ServeInReach afterwards, and then l.End.
func (p *BytePool) free(l *late.List) func(class uint8, block unsafe.Pointer) {
	return func(class uint8, block unsafe.Pointer) { p.gate.Drop(class, block, l) }
}

// getLeased is Get into a handle. Where both lie in this P's shards it finds them in
// one section.
func (p *BytePool) getLeased(n int) *handle {
	var h *handle
	if uint(n) <= sizeclass.MaxSmall {
		small := p.classes.Small(uint(n))
		x := p.engine.Enter()
		y := p.handles.EnterBeside(x)
		block := p.engine.Slot(x, small.Number()).Take()
		if block != nil {
			h = (*handle)(p.handles.Slot(y, 1).Take())
		}
		y.ExitBeside()
		x.Exit()
		if block != nil {
			if p.onGet != keepAsIs {
				p.issue(unsafe.Slice((*byte)(block), small.Size()))
			}
			if h == nil {
				h = p.handle()
			}
			if h.data.Load() != (*byte)(block) { // hold, opened up
				h.data.Store((*byte)(block))
			}
			return h
		}
	}
	p = p.actual()
	b := p.getSlow(n)
	h = p.handle()
	h.hold(unsafe.SliceData(b))
	return h
}

// putLeased is Put of what a handle holds, and of the handle.
func (p *BytePool) putLeased(h *handle, n uint32) {
	block := unsafe.Pointer(h.data.Load())
	small := sizeclass.Small(0)
	if n <= sizeclass.MaxSmall {
		small = p.classes.Small(uint(n))
	}
	if small == 0 || p.onPut&^clearBlock != 0 || h.word.Load() == 0 {
		h.forget()
		p.Put(p.sliceAt((*byte)(block), uint(n)))
		return
	}
	if small.Size() > staleBytes {
		h.data.Store(nil)
	}
	if p.onPut != keepAsIs {
		clear(unsafe.Slice((*byte)(block), small.Size()))
	}
	x := p.engine.Enter()
	y := p.handles.EnterBeside(x)
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	// The handle of a small block keeps pointing to it: hold will find it.
	handles := p.handles.Slot(y, 1)
	if kept && (handles.Give(unsafe.Pointer(h)) || handles.GiveMore(unsafe.Pointer(h))) {
		y.ExitBeside()
		x.Exit()
		return
	}
	y.ExitBeside()
	x.Exit()
	h.forget()
	if !kept {
		p.pushSmall(small, block)
	}
}

// handle returns a handle that nobody uses.
func (p *BytePool) handle() *handle {
	if h := (*handle)(p.handles.Pop(0)); h != nil {
		return h
	}
	h := &handle{pool: p}
	h.word.Store(ownerHolds)
	p.leased.Store(true)
	return h
}

// putHandle gives back a handle that nobody uses.
func (p *BytePool) putHandle(h *handle) {
	p.handles.Push(0, unsafe.Pointer(h))
	p.decay.Kept()
}

// overhead returns the bytes that the pool has beside its blocks.
func (p *BytePool) overhead() int64 {
	return p.engine.Overhead() + p.handles.Overhead() + int64(unsafe.Sizeof(*p))
}

// forgetHandle leaves an idle handle to the collector.
func forgetHandle(uint8, unsafe.Pointer) {}

// dataOf and sliceAt turn a block into the pointer that a handle has and back.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockOf is dataOf as the engine has it.
func blockOf(b []byte) magazine.Block { return unsafe.Pointer(unsafe.SliceData(b)) }

// addressOf is dataOf as a number, which keeps nothing alive.
func addressOf(b []byte) uintptr { return addressAt(unsafe.SliceData(b)) }

func addressAt(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

// issue is state.Issue, as one plain store where that is enough. memory.OrderedStores
// says when and why.
func issue(state *memory.State, whenOut uint32) {
	var _ [4]byte = [unsafe.Sizeof(*state)]byte{}
	if memory.OrderedStores {
		*(*uint32)(unsafe.Pointer(state)) = whenOut
		return
	}
	state.Issue(whenOut)
}

func (p *BytePool) sliceAt(data *byte, n uint) []byte {
	if n <= sizeclass.MaxSmall {
		if small := p.classes.Small(n); small != 0 {
			return (*[1 << 24]byte)(unsafe.Pointer(data))[:n:small.Size()]
		}
	}
	size := int(n)
	if class, ok := p.classes.Class(size); ok {
		size = p.classes.Size(class)
	}
	return unsafe.Slice(data, size)[:n]
}

package dewpond

import (
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A BytePool hands out blocks of bytes and takes them back for their next owner.
// It keeps them across garbage collections, within its bounds, until Trim or
// Close. Make one with NewBytePool; it must not be copied.
//
// All methods may be called by any number of goroutines at once. A Put of a block
// synchronizes before the Get that returns it.
//
// The caller of Get owns the block until Put, and nobody afterwards: a pool
// cannot see that a slice is still in use, nor that it is put back twice while
// its block is out again. docs/ownership.md has what is refused and what is not.
type BytePool struct {
	// What Get and Put read of the pool itself comes first, in one cache line.
	zero    ZeroPolicy
	onPut   step
	onGet   step
	engine  magazine.Engine
	classes sizeclass.Table

	source   memory.Source // nil: the Go heap
	ledger   memory.Ledger // the same, where it is one
	fallback *fallbacks    // blocks of the Go heap that stand in for the source's

	registration

	handles magazine.Engine // idle handles of leases, one class of size 1
	leased  atomic.Bool     // whether there ever was a handle

	decay   decayer
	limiter limiter
	queue   queue
	count   counts
}

// A step is what Put does to a block before the engine gets it, or Get to one that
// comes from there: the pool's options, boiled down to the one comparison that the
// fast path has time for.
type step uint8

const (
	keepAsIs step = iota
	clearBlock
	askSource // in Put whether the block is its own, in Get to note it; and then what Zero says
)

// NewBytePool makes a pool, or returns one error that names every option that
// cannot be meant.
func NewBytePool(o BytePoolOptions) (*BytePool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &BytePool{
		classes: sizeclass.New(o.Classes),
		zero:    o.Zero,
		source:  o.Memory,
		// A Source that fails is the only reason for a fallback.
		fallback: new(fallbacks),
		limiter:  newLimiter(o.AllocLimit),
		queue:    newQueue(len(o.Classes)),
		count:    newCounts(len(o.Classes)),
	}
	switch {
	case o.Memory != nil:
		p.onPut = askSource
	case o.Zero == ZeroOnPut:
		p.onPut = clearBlock
	}
	p.ledger, _ = o.Memory.(memory.Ledger)
	switch {
	case p.ledger != nil:
		p.onGet = askSource
	case o.Zero == ZeroOnGet:
		p.onGet = clearBlock
	}
	p.engine.Init(magazine.Config{
		Sizes:           o.Classes,
		MaxIdleBytes:    o.MaxIdleBytes,
		MaxIdlePerClass: o.MaxIdlePerClass,
	})
	p.handles.Init(magazine.Config{Sizes: []int{1}, MaxIdleBytes: idleHandles})
	p.decay.init(o.IdleTimeout, weakDecayer(p, func(p *BytePool) *decayer { return &p.decay }))
	p.decay.add(&p.engine, len(o.Classes), func(class uint8, n int) { p.engine.Shed(class, n, p.free) },
		func() { p.engine.Trim(p.free) })
	if p.ledger != nil {
		p.decay.settle = func() { _, _ = p.ledger.Decommit() } // as Trim does
	}
	p.decay.add(&p.handles, 1, func(class uint8, n int) { p.handles.Shed(class, n, forgetHandle) },
		func() { p.handles.Trim(forgetHandle) })
	register(p, &p.registration, o.Name)
	return p, nil
}

// MustBytePool is NewBytePool for variables and mains: it panics on an error.
func MustBytePool(o BytePoolOptions) *BytePool {
	p, err := NewBytePool(o)
	if err != nil {
		panic(err)
	}
	return p
}

// Get returns a slice of n bytes whose cap is the smallest class that holds them.
// The bytes are zero unless the pool's policy is ZeroNever. A size above the
// largest class is allocated and not pooled. Get is never refused: what it
// allocates past AllocLimit is counted in OverLimit. It panics if n is negative.
//
//go:nosplit
func (p *BytePool) Get(n int) []byte {
	if uint(n) <= sizeclass.MaxSmall {
		small := p.classes.Small(uint(n))
		// This is engine.Pop, opened up: one call less, of five. nosplit saves
		// the check for stack space; nothing that is called from here needs much.
		x := p.engine.Enter()
		if block := p.engine.Slot(x, small.Number()).Take(); block != nil {
			x.Exit()
			if p.onGet != keepAsIs {
				if p.onGet == clearBlock {
					clear(unsafe.Slice((*byte)(block), small.Size()))
				} else {
					p.issue(unsafe.Slice((*byte)(block), small.Size()))
				}
			}
			// A Small's size has 24 bits, so this checks n alone.
			return (*[1 << 24]byte)(block)[:n:small.Size()]
		}
		x.Exit()
	}
	return p.getSlow(n)
}

// getSlow is Get for a large size, or where no idle block was found.
func (p *BytePool) getSlow(n int) []byte {
	class, ok := p.classFor("Get", n)
	if !ok {
		return p.oversize(n)
	}
	if b := p.reused(class, p.engine.PopSlow(class)); b != nil {
		return b[:n]
	}
	if !p.mayAllocate() {
		p.count.overLimit.Add(1)
	}
	b, err := p.allocate(class)
	if err != nil {
		// Get always has memory. This block is not the Source's, so its Put will
		// be refused and the collector has it.
		p.count.class[class].misses.Add(1)
		p.count.class[class].strays.Add(1)
		b = make([]byte, p.classes.Size(class))
		p.fallback.add(b)
	}
	return b[:n]
}

// Put gives a block back, whatever the slice's length. The caller must not use
// it any more. Put ignores nil; it refuses and counts what cannot be a block of
// this pool: a slice whose cap is no class (DroppedForeign) or more than the
// largest (DroppedOversize). A pool off the heap refuses whatever is not exactly
// one of its blocks (DroppedForeign), and a block that is not out (DroppedDouble). A
// block that the pool has no room for is dropped (DroppedFull), as is any after Close
// (DroppedClosed).
//
//go:nosplit
func (p *BytePool) Put(b []byte) {
	if n := uint(cap(b)); n <= sizeclass.MaxSmall {
		if small := p.classes.Small(n); small.Size() == n {
			if p.onPut != keepAsIs {
				if p.onPut == askSource {
					p.putSlow(b)
					return
				}
				clear(b[:n])
			}
			block := unsafe.Pointer(unsafe.SliceData(b))
			// This is engine.Push, opened up.
			x := p.engine.Enter()
			if p.engine.Slot(x, small.Number()).Give(block) {
				x.Exit()
				return
			}
			x.Exit()
			p.pushSmall(small, block)
			return
		}
	}
	p.putSlow(b)
}

// pushSmall is Put where the shard has no room.
func (p *BytePool) pushSmall(small sizeclass.Small, block unsafe.Pointer) {
	if small.Number() == 0 { // cap 0, in a pool that has no small class
		if block != nil {
			p.count.droppedForeign.Add(1)
		}
		return
	}
	p.pushSlow(small.Number()-1, unsafe.Slice((*byte)(block), small.Size()))
}

// putSlow is Put for large blocks, blocks of a Source, and what is no block.
func (p *BytePool) putSlow(b []byte) {
	if b == nil {
		return
	}
	class, ok := p.classes.Exact(cap(b))
	switch {
	case cap(b) > p.classes.Largest():
		p.count.droppedOversize.Add(1)
		return
	case !ok:
		p.count.droppedForeign.Add(1)
		return
	case p.source != nil && !p.accepts(b):
		return
	}
	b = b[:cap(b)]
	if p.zero == ZeroOnPut {
		clear(b)
	}
	if n := uint(len(b)); p.source != nil && n <= sizeclass.MaxSmall { // the shard was not asked yet
		x := p.engine.Enter()
		kept := p.engine.Slot(x, p.classes.Small(n).Number()).Give(unsafe.Pointer(unsafe.SliceData(b)))
		x.Exit()
		if kept {
			return
		}
	}
	p.pushSlow(class, b)
}

// pushSlow gives the engine a whole block that is ready for its next owner.
func (p *BytePool) pushSlow(class uint8, b []byte) {
	if r := p.engine.PushSlow(class, unsafe.Pointer(unsafe.SliceData(b))); r != magazine.Kept {
		p.pushed(class, b, r)
		return
	}
	p.decay.kept()
}

// add gives the engine a whole block that was never handed out.
func (p *BytePool) add(class uint8, b []byte) magazine.Result {
	return p.engine.Add(class, unsafe.Pointer(unsafe.SliceData(b)))
}

// reuse returns an idle block of the class, or nil where it finds none.
func (p *BytePool) reuse(class uint8) []byte {
	return p.reused(class, p.engine.Pop(class))
}

// reuseExact is reuse on a gathered engine: see magazine.Engine.PopExact.
func (p *BytePool) reuseExact(class uint8) (b []byte, exact bool) {
	block, exact := p.engine.PopExact(class)
	return p.reused(class, block), exact
}

func (p *BytePool) reused(class uint8, block unsafe.Pointer) []byte {
	if block == nil {
		return nil
	}
	b := unsafe.Slice((*byte)(block), p.classes.Size(class))
	p.issue(b)
	return b
}

// free lets go of a block that the engine no longer holds.
func (p *BytePool) free(class uint8, block unsafe.Pointer) {
	if p.source != nil {
		p.source.Free(unsafe.Slice((*byte)(block), p.classes.Size(class)))
	}
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
	if small == 0 || p.onPut == askSource || h.word.Load() == 0 {
		h.forget()
		p.Put(p.sliceAt((*byte)(block), uint(n)))
		return
	}
	if small.Size() > staleBytes {
		h.data.Store(nil)
	}
	if p.onPut == clearBlock {
		clear(unsafe.Slice((*byte)(block), small.Size()))
	}
	x := p.engine.Enter()
	y := p.handles.EnterBeside(x)
	kept := p.engine.Slot(x, small.Number()).Give(block)
	// The handle of a small block keeps pointing to it: hold will find it.
	if kept && p.handles.Slot(y, 1).Give(unsafe.Pointer(h)) {
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
	p.decay.kept()
}

// forgetHandle leaves an idle handle to the collector.
func forgetHandle(uint8, unsafe.Pointer) {}

// dataOf and sliceAt turn a block into the pointer that a handle has and back.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// addressOf is dataOf as a number, which keeps nothing alive.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

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

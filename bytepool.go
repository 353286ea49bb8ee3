package dewpond

import (
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
	onPut   putStep
	engine  magazine.Engine
	classes sizeclass.Table

	source memory.Source // nil: the Go heap

	name         string // as registered
	registration registration

	limiter limiter
	queue   queue
	count   counts
}

// A putStep is what Put does to a block before the engine gets it: the pool's
// options, boiled down to the one comparison that the fast path has time for.
type putStep uint8

const (
	keepAsIs putStep = iota
	clearBlock
	askSource // whether the block is its own; and then what Zero says
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
		limiter: newLimiter(o.AllocLimit),
		queue:   newQueue(len(o.Classes)),
		count:   newCounts(len(o.Classes)),
	}
	switch {
	case o.Memory != nil:
		p.onPut = askSource
	case o.Zero == ZeroOnPut:
		p.onPut = clearBlock
	}
	p.engine.Init(magazine.Config{
		Sizes:           o.Classes,
		MaxIdleBytes:    o.MaxIdleBytes,
		MaxIdlePerClass: o.MaxIdlePerClass,
	})
	register(p, o.Name)
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
		block := p.engine.Slot(x, small.Number()).Take()
		x.Exit()
		if block != nil {
			if p.zero == ZeroOnGet {
				clear(unsafe.Slice((*byte)(block), small.Size()))
			}
			// A Small's size has 24 bits, so this checks n alone.
			return (*[1 << 24]byte)(block)[:n:small.Size()]
		}
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
	}
	return b[:n]
}

// Put gives a block back, whatever the slice's length. The caller must not use
// it any more. Put ignores nil; it refuses and counts what cannot be a block of
// this pool: a slice whose cap is no class (DroppedForeign) or more than the
// largest (DroppedOversize). A block that the pool has no room for is dropped
// (DroppedFull), as is any after Close (DroppedClosed).
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
			kept := p.engine.Slot(x, small.Number()).Give(block)
			x.Exit()
			if !kept {
				p.pushSmall(small, block)
			}
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
	case !ok || p.source != nil && !p.source.Owns(b):
		p.count.droppedForeign.Add(1)
		return
	}
	b = b[:cap(b)]
	if p.zero == ZeroOnPut {
		clear(b)
	}
	p.pushSlow(class, b)
}

// pushSlow gives the engine a whole block that is ready for its next owner.
func (p *BytePool) pushSlow(class uint8, b []byte) {
	if r := p.engine.PushSlow(class, unsafe.Pointer(unsafe.SliceData(b))); r != magazine.Kept {
		p.pushed(class, b, r)
	}
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
	if p.zero == ZeroOnGet {
		clear(b)
	}
	return b
}

// free lets go of a block that the engine no longer holds.
func (p *BytePool) free(class uint8, block unsafe.Pointer) {
	if p.source != nil {
		p.source.Free(unsafe.Slice((*byte)(block), p.classes.Size(class)))
	}
}

package dewpond

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Lease is a block of bytes that cannot be given back twice, and that cannot be
// reached through the Lease after it has been given back. It is a small value (two words
// on 64-bit machines). All copies of a Lease are one owner, and any of them may release.
// [Lease.Retain] makes another owner. The block goes back to the pool when the last
// owner releases.
//
// All methods may be called by any number of goroutines at once. A released lease stays
// released, whatever happens to the block and to the pool. A slice that [Lease.Bytes]
// returned earlier is not protected: it is plain memory, and after the last Release it
// may belong to another owner.
//
// The zero Lease is a released lease. If a lease is lost without a Release, the garbage
// collector frees its block.
type Lease struct {
	h          *handle
	generation uint32
	n          uint32
}

// A handle is what leases refer to. Each owner has one. Handles are pooled, and each use
// of a handle is one generation of it. The memory of a handle is never used for anything
// else, and a handle never changes its pool. So a stale lease can always read its handle,
// and finds that its own generation is over.
type handle struct {
	// word holds the state of the handle in one atomic word, so that a lease is checked
	// and acted on in one step:
	//
	//	bits  0-30  number of pins: owners that were retained from this handle, if it
	//	            is a root, and calls of Retain that are under way
	//	bit   31    set while the owner has not released
	//	bits 32-63  generation
	//
	// A handle without an owner and without pins is in the next generation already,
	// with bit 31 set for its next owner. After the last generation the word is 0, and
	// the handle is not used again.
	word atomics.Uint64

	// data is where the block begins. A reader loads word after data: the next
	// generation stores data only after it has begun, so the reader sees that its own
	// generation is over.
	data atomics.Pointer[byte]

	root *handle   // the handle that holds the block, if this owner was retained; only this owner reads it
	pool *BytePool // never changes

	_ [32]byte // keeps the handles of two owners out of one cache line
}

const (
	othersMask     = 1<<31 - 1
	ownerHolds     = 1 << 31
	generationUnit = 1 << 32
)

const (
	// idleHandles is how many handles a pool keeps, of 64 bytes each.
	idleHandles = 4096

	// staleBytes is the size of the largest block that an idle handle goes on pointing
	// to. Such a block stays alive even if the pool has let it go: at most 4 MiB in all.
	// For larger blocks the time of the store that clears the pointer does not show.
	staleBytes = 1024
)

// Lease is like [BytePool.Get], but returns a [Lease]: [Lease.Release] gives the block
// back. It panics unless n is below 4 GiB.
func (p *BytePool) Lease(n int) Lease {
	if uint64(n) > math.MaxUint32 {
		p.refuseLease("Lease", n)
	}
	return newLease(p.getLeased(n), n)
}

// TryLease is like [BytePool.TryGet], but returns a [Lease]: [Lease.Release] gives the
// block back. It panics unless n is below 4 GiB.
func (p *BytePool) TryLease(n int) (Lease, error) {
	if uint64(n) > math.MaxUint32 {
		p.refuseLease("TryLease", n)
	}
	p = p.actual()
	b, err := p.TryGet(n)
	if err != nil {
		return Lease{}, err
	}
	h := p.handle()
	h.hold(dataOf(b))
	return newLease(h, n), nil
}

func (p *BytePool) refuseLease(method string, n int) {
	panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: give 0 to %d bytes", method, n, p.Name(), uint32(math.MaxUint32)))
}

// newLease returns the lease of a handle's owner.
func newLease(h *handle, n int) Lease {
	return Lease{h, uint32(h.word.Load() >> 32), uint32(n)}
}

// hold gives an unused handle its block. In a steady state the handle had the same block
// before, so hold compares first: a store costs as much as the rest.
func (h *handle) hold(data *byte) {
	if h.data.Load() != data {
		h.data.Store(data)
	}
}

// Len returns the n that the lease was made with, even after Release. It returns 0 for
// the zero Lease.
func (l Lease) Len() int { return int(l.n) }

// Bytes returns the block, with the length asked for and the cap of its class. The slice
// may be used until this owner releases. Bytes panics if this owner has released.
func (l Lease) Bytes() []byte {
	if l.h != nil {
		data := l.h.data.Load()
		if l.holds(l.h.word.Load()) {
			return l.h.pool.sliceAt(data, uint(l.n))
		}
	}
	panic("dewpond: Bytes of a Lease that was released")
}

// holds reports whether the lease is valid, given its handle's word.
func (l Lease) holds(word uint64) bool {
	return uint32(word>>32) == l.generation && word&ownerHolds != 0
}

// Retain makes another owner of the block, which must be released too. It panics if this
// owner has released.
func (l Lease) Retain() Lease {
	if l.h == nil || !l.pin() {
		panic("dewpond: Retain of a Lease that was released")
	}
	// The pin keeps the handle in this generation, and so the root too.
	root := l.h
	if l.h.root != nil {
		root = l.h.root
		defer l.h.drop(l.n)
		root.pin()
	}
	h := root.pool.handle()
	h.root = root
	h.hold(l.h.data.Load())
	return newLease(h, int(l.n))
}

// pin adds a pin to the lease's handle if the lease is valid, and reports whether it is.
func (l Lease) pin() bool {
	for word := l.h.word.Load(); l.holds(word); word = l.h.word.Load() {
		if l.h.pinned(word) {
			return true
		}
	}
	return false
}

// pin adds a pin to a handle that the caller knows to have an owner or a pin.
func (h *handle) pin() {
	for !h.pinned(h.word.Load()) {
	}
}

// pinned adds a pin if the handle's word is still the same, and reports whether it was.
func (h *handle) pinned(word uint64) bool {
	if word&othersMask == othersMask {
		panic("dewpond: Retain of a Lease that has two billion owners")
	}
	return h.word.CompareAndSwap(word, word+1)
}

// Release ends this owner's use of the block, and gives the block back to the pool if no
// other owner holds it. If this owner has released before, Release does nothing and
// returns [ErrReleased].
func (l Lease) Release() error {
	if l.h == nil {
		return ErrReleased
	}
	alone := uint64(l.generation)<<32 | ownerHolds
	if l.generation != math.MaxUint32 && l.h.word.CompareAndSwap(alone, alone+generationUnit) {
		if l.h.root == nil {
			l.h.pool.putLeased(l.h, l.n)
		} else {
			l.h.end(l.n)
		}
		return nil
	}
	return l.releaseSlow()
}

// releaseSlow is Release when the handle has pins, is in its last generation, or is in a
// later generation than the lease.
func (l Lease) releaseSlow() error {
	for {
		word := l.h.word.Load()
		if !l.holds(word) {
			return ErrReleased
		}
		last := word&othersMask == 0
		next := word &^ ownerHolds
		if last {
			next = nextGeneration(word)
		}
		if l.h.word.CompareAndSwap(word, next) {
			if last {
				l.h.end(l.n)
			}
			return nil
		}
	}
}

// drop removes one pin. n is the length of the leases of this block.
func (h *handle) drop(n uint32) {
	for {
		word := h.word.Load()
		last := word&(ownerHolds|othersMask) == 1
		next := word - 1
		if last {
			next = nextGeneration(word)
		}
		if h.word.CompareAndSwap(word, next) {
			if last {
				h.end(n)
			}
			return
		}
	}
}

// nextGeneration returns the word of a handle after its last owner or pin is gone.
func nextGeneration(word uint64) uint64 {
	if word>>32 == math.MaxUint32 {
		return 0
	}
	return word>>32*generationUnit + generationUnit + ownerHolds
}

// end is called by the release or drop that ended the handle's generation. The caller
// alone uses the handle now.
func (h *handle) end(n uint32) {
	if h.root == nil {
		h.pool.putLeased(h, n)
		return
	}
	root := h.root
	h.root = nil
	h.forget()
	root.drop(n)
}

// forget clears an unused handle's block and gives the handle back, unless it has been
// through its last generation.
func (h *handle) forget() {
	h.data.Store(nil)
	if h.word.Load() != 0 {
		h.pool.putHandle(h)
	}
}

// getLeased is Get into a handle. If this P's shards have both a block and a handle, it
// takes them in one pinned section.
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
			if h.data.Load() != (*byte)(block) { // hold, inlined by hand
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

// putLeased puts back a handle and the block that it holds.
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
	// The handle of a small block goes on pointing to it, which saves hold a store.
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

// handle returns an unused handle.
func (p *BytePool) handle() *handle {
	if h := (*handle)(p.handles.Pop(0)); h != nil {
		return h
	}
	h := &handle{pool: p}
	h.word.Store(ownerHolds)
	p.leased.Store(true)
	return h
}

// putHandle gives back an unused handle.
func (p *BytePool) putHandle(h *handle) {
	p.handles.Push(0, unsafe.Pointer(h))
	p.decay.Kept()
}

// forgetHandle leaves an idle handle to the collector.
func forgetHandle(uint8, unsafe.Pointer) {}

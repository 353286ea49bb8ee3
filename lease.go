package dewpond

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Lease is a block of bytes that cannot be given back twice, nor used through
// this handle by anybody after it has been. It is a small value (two words on
// 64-bit machines): copies of a Lease are one owner, and which of them releases
// does not matter. Retain makes another owner; the block goes back with the last.
//
// All methods may be called by any number of goroutines at once. A lease that was
// released stays so: nothing that becomes of the block or of the pool makes it valid
// again. What is not protected is a slice that Bytes returned earlier: it is bare
// memory, and after the last Release another owner's.
//
// The zero Lease is a released one. A lease that is lost unreleased leaves its
// block to the collector.
type Lease struct {
	h          *handle
	generation uint32
	n          uint32
}

// A handle is what leases refer to: one for each owner. Handles are pooled, and
// each use of one is a generation of it. A handle is never anything else and never
// another pool's, so a stale lease can always look at it, and finds that its own
// generation is over.
type handle struct {
	// word tells whose the handle is, in one atomic word, so that to check that a
	// lease is valid and to act on it are one step:
	//
	//	bits  0-30  what needs the handle besides its owner: owners that were retained
	//	            from it, if it is a root, and for a moment those who are about to
	//	bit   31    its owner has not released
	//	bits 32-63  generation
	//
	// A handle whose owner is gone and that nobody else needs is in the next
	// generation, with bit 31 set for the owner to come. After the last generation
	// the word is 0, and the handle is not used again.
	word atomics.Uint64

	// data is where the block begins. Whoever reads it looks at word next: the
	// next generation writes it only after it has begun.
	data atomics.Pointer[byte]

	root *handle   // whose block this is, for an owner that was retained; its owner's to read
	pool *BytePool // never changes

	_ [32]byte // the handles of two owners do not share a cache line
}

const (
	othersMask     = 1<<31 - 1
	ownerHolds     = 1 << 31
	generationUnit = 1 << 32
)

const (
	// idleHandles is how many handles a pool keeps, of 64 bytes each.
	idleHandles = 4096

	// staleBytes is the largest block to which a handle keeps pointing when it is
	// idle, and which it so keeps from the collector if the pool has let it go: at
	// most 4 MiB in all. For larger ones a store does not show.
	staleBytes = 1024
)

// Lease is Get for a block that goes back by Release of what it returns. n must be
// below 4 GiB.
func (p *BytePool) Lease(n int) Lease {
	if uint64(n) > math.MaxUint32 {
		p.refuseLease("Lease", n)
	}
	return newLease(p.getLeased(n), n)
}

// TryLease is TryGet for a block that goes back by Release of what it returns. n
// must be below 4 GiB.
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

// newLease is the lease of a handle's owner.
func newLease(h *handle, n int) Lease {
	return Lease{h, uint32(h.word.Load() >> 32), uint32(n)}
}

// hold gives an unused handle its block. In a steady state it had the same one
// before, and a store costs as much as the rest.
func (h *handle) hold(data *byte) {
	if h.data.Load() != data {
		h.data.Store(data)
	}
}

// Len returns the n that the lease was made with, also after Release; 0 for the
// zero Lease.
func (l Lease) Len() int { return int(l.n) }

// Bytes returns the block, with the length asked for and the cap of its class. It
// panics if this owner has released. The slice may be used until then.
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

// Retain makes another owner of the block, who releases for himself. It panics if
// this owner has released.
func (l Lease) Retain() Lease {
	if l.h == nil || !l.pin() {
		panic("dewpond: Retain of a Lease that was released")
	}
	// From here on the handle stays in this generation, and so does the root.
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

// pin counts one who needs the lease's handle, if the lease is valid.
func (l Lease) pin() bool {
	for word := l.h.word.Load(); l.holds(word); word = l.h.word.Load() {
		if l.h.pinned(word) {
			return true
		}
	}
	return false
}

// pin counts one more who needs a handle that the caller knows to be needed.
func (h *handle) pin() {
	for !h.pinned(h.word.Load()) {
	}
}

// pinned is pin if the word is still the same.
func (h *handle) pinned(word uint64) bool {
	if word&othersMask == othersMask {
		panic("dewpond: Retain of a Lease that has two billion owners")
	}
	return h.word.CompareAndSwap(word, word+1)
}

// Release ends this owner's use of the block, and gives the block back if no other
// owner holds it. It returns ErrReleased, and does nothing, where this owner has
// released before.
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

// releaseSlow is Release where the handle has other users, is in its last
// generation, or in a later one than the lease.
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

// drop takes back one pin, or one owner that was retained; n is the length of the
// leases of this block.
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

// nextGeneration is the word of a handle that its last user leaves.
func nextGeneration(word uint64) uint64 {
	if word>>32 == math.MaxUint32 {
		return 0
	}
	return word>>32*generationUnit + generationUnit + ownerHolds
}

// end is called by the last user of a generation, who alone has the handle now.
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

// forget gives an unused handle back without its block, unless it is used up.
func (h *handle) forget() {
	h.data.Store(nil)
	if h.word.Load() != 0 {
		h.pool.putHandle(h)
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

// forgetHandle leaves an idle handle to the collector.
func forgetHandle(uint8, unsafe.Pointer) {}

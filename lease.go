package dewpond

import (
	"fmt"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Lease is a block of bytes that cannot be given back twice, and that cannot be
// reached through the Lease after it has been given back. It is a small value (two words
// on 64-bit machines). All copies of a Lease are one owner, and any of them may release.
// [Lease.Retain] makes another owner, and [Lease.Slice] another owner of a part. The
// block goes back to the pool when the last owner releases.
//
// All methods may be called by any number of goroutines at once. A released lease stays
// released, whatever happens to the block and to the pool. A slice that [Lease.Bytes]
// returned earlier is not protected: it is plain memory, and after the last Release it
// may belong to another owner.
//
// The zero Lease is a released lease. If a lease is lost without a Release, the garbage
// collector frees its block.
type Lease struct {
	h    *handle
	mark uint32 // bits 0-1: what the cap of Bytes is; bits 2-31: the generation
	n    uint32 // the length of Bytes
}

// What a lease's mark says of the cap of Bytes.
const (
	capOfClass uint32 = iota // the class of n: it is the block's
	capOfSlice               // the handle's size
	capOfPart                // n
	capBits    = 3
)

// A handle is what leases refer to. Each owner has one. Handles are pooled, and each use
// of a handle is one generation of it. The memory of a handle is never used for anything
// else, and a handle never changes its pool. So a stale lease can always read its handle,
// and finds that its own generation is over.
type handle struct {
	// word holds the state of the handle in one atomic word, so that a lease is checked
	// and acted on in one step:
	//
	//	bits  0-30  number of pins: other owners of the block, if this is its root, and
	//	            calls of Retain and Slice that are under way
	//	bit   31    set while the owner has not released
	//	bits 32-33  0, where a lease's mark has what its cap is
	//	bits 34-63  generation
	//
	// A handle without an owner and without pins is in the next generation already,
	// with bit 31 set for its next owner. After the last generation the word is 0, and
	// the handle is not used again.
	word atomics.Uint64

	// data is where the owner's bytes begin: at a root, where the block begins. size is
	// their cap, if the mark says so, and at a root that has no class the block's. A
	// reader loads word after them: the next generation stores them only after it has
	// begun, so the reader sees that its own generation is over.
	data atomics.Pointer[byte]
	size atomics.Uintptr

	root *handle   // the handle that holds the block, or nil if it is this one; only this owner reads it
	pool *BytePool // never changes

	checked atomics.Pointer[checkedOwner] // of a watched block; may be of an earlier generation

	// class is the class of a root's block, whatever the length of its leases, or 0 if
	// Put has to find out what the block is. Only the calls that begin and end a
	// generation use it.
	class sizeclass.Class

	_ [64 - 12 - 5*unsafe.Sizeof(uintptr(0))]byte // keeps the handles of two owners out of one cache line
}

const _ = 64 - unsafe.Sizeof(handle{}) // this does not compile if a handle is larger

const (
	othersMask     = 1<<31 - 1
	ownedBit       = 1 << 31
	generationUnit = 1 << 34
	lastGeneration = 1<<30 - 1
)

const (
	// idleHandles is how many handles a pool keeps, of 64 bytes each.
	idleHandles = 4096

	// staleBytes is the size of the largest block that an idle handle goes on pointing
	// to. Such a block stays alive even if the pool has let it go: at most 4 MiB in all.
	// For larger blocks the time of the store that clears the pointer does not show.
	staleBytes = 1024
)

// lease returns the lease of a handle's owner. what is one of capOfClass and the like.
func (h *handle) lease(n int, what uint32) Lease {
	return Lease{h, uint32(h.word.Load()>>32) | what, uint32(n)}
}

// setData gives an unused handle its block. In a steady state the handle had the same block
// before, so setData compares first: a store costs as much as the rest.
func (h *handle) setData(data *byte) {
	if h.data.Load() != data {
		h.data.Store(data)
	}
}

// setSize is setData for the handle's size.
func (h *handle) setSize(size uintptr) {
	if h.size.Load() != size {
		h.size.Store(size)
	}
}

// Len returns the length of Bytes, even after Release. It returns 0 for the zero Lease.
func (l Lease) Len() int { return int(l.n) }

// Bytes returns the block, with the length asked for and the cap of its class. Of a part,
// that [Lease.Slice] or [Lease.Truncate] has made, the cap is the length. The slice may be
// used until this owner releases. Bytes panics if this owner has released.
func (l Lease) Bytes() []byte {
	if l.h != nil {
		data, end := l.h.data.Load(), uintptr(l.n)
		if l.mark&capBits == capOfSlice {
			end = l.h.size.Load()
		}
		if l.valid(l.h.word.Load()) {
			if l.mark&capBits == capOfClass { // as Get returns it
				return (*[1 << 24]byte)(unsafe.Pointer(data))[:l.n:l.h.pool.classes.OfSmall(uint(l.n)).Size()]
			}
			return unsafe.Slice(data, end)[:l.n]
		}
	}
	panic("dewpond: Bytes of a Lease that was released")
}

// valid reports whether the lease is valid, given its handle's word.
func (l Lease) valid(word uint64) bool {
	return uint32(word>>32) == l.mark&^capBits && word&ownedBit != 0
}

// Retain makes another owner of the same bytes, which must be released too. It panics if
// this owner has released.
func (l Lease) Retain() Lease {
	return l.share("Retain", 0, int(l.n), l.mark&capBits)
}

// Slice makes another owner, of the part [i:j] of Bytes, which must be released too: the
// whole block goes back to the pool when no owner of it or of a part is left. Slice panics
// unless 0 <= i <= j <= Len, and if this owner has released.
func (l Lease) Slice(i, j int) Lease {
	if uint(i) > uint(j) || uint(j) > uint(l.n) {
		panic(fmt.Sprintf("dewpond: Slice(%d, %d) of a Lease of %d bytes", i, j, l.n))
	}
	return l.share("Slice", i, j, capOfPart)
}

// Truncate returns the lease cut down to its first n bytes, for instance to those that a
// read has filled:
//
//	l = l.Truncate(n)
//
// It is a mistake to throw the result away: l is as long as before. The result is the same
// owner, so only one of the two is to be released, and either gives back the whole block. Until
// then it holds the whole block: few bytes of a large one that are kept for long belong in a Lease
// of their size. Truncate panics unless 0 <= n <= Len, and if this owner has released.
func (l Lease) Truncate(n int) Lease {
	switch {
	case uint(n) > uint(l.n):
		panic(fmt.Sprintf("dewpond: Truncate(%d) of a Lease of %d bytes", n, l.n))
	case l.h == nil, !l.valid(l.h.word.Load()):
		panic("dewpond: Truncate of a Lease that was released")
	}
	return Lease{l.h, l.mark&^capBits | capOfPart, uint32(n)}
}

// share makes another owner, of the part [i:j]. what says what the cap of its Bytes is.
func (l Lease) share(method string, i, j int, what uint32) Lease {
	if l.h == nil || !l.pin() {
		panic("dewpond: " + method + " of a Lease that was released")
	}
	// The pin keeps the handle in this generation, and so the root too.
	root := l.h
	if l.h.root != nil {
		root = l.h.root
		defer l.h.drop()
		root.pin()
	}
	h := root.pool.handle()
	h.root = root
	// An empty slice begins where the whole does: a pointer to its end could be one to
	// somebody else's memory.
	h.setData(dataOf(unsafe.Slice(l.h.data.Load(), l.n)[i:j:j]))
	if what == capOfSlice {
		h.setSize(l.h.size.Load())
	}
	h.noteRetain()
	return h.lease(j-i, what)
}

// pin adds a pin to the lease's handle if the lease is valid, and reports whether it is.
func (l Lease) pin() bool {
	for word := l.h.word.Load(); l.valid(word); word = l.h.word.Load() {
		if l.h.tryPin(word) {
			return true
		}
	}
	return false
}

// pin adds a pin to a handle that the caller knows to have an owner or a pin.
func (h *handle) pin() {
	for !h.tryPin(h.word.Load()) {
	}
}

// tryPin adds a pin if the handle's word is still the same, and reports whether it was.
func (h *handle) tryPin(word uint64) bool {
	if word&othersMask == othersMask {
		panic("dewpond: a Lease has two billion owners")
	}
	return h.word.CompareAndSwap(word, word+1)
}

// Release ends this owner's use of the block, and gives the block back to the pool if no
// other owner holds it. If this owner has released before, Release does nothing: the pool
// counts that in [Stats.DoubleReleases], and with [BytePoolOptions.Check] reports a [misuse.DoubleRelease]. A Release of the zero Lease does
// nothing, and no pool counts it.
func (l Lease) Release() { l.releaseOnce() }

// releaseOnce is Release. It reports whether the owner had not released before.
func (l Lease) releaseOnce() bool {
	if l.h == nil {
		return false
	}
	h := l.h
	alone := uint64(l.mark&^capBits)<<32 | ownedBit
	if alone>>34 == lastGeneration || !h.word.CompareAndSwap(alone, alone+generationUnit) {
		return l.releaseSlow()
	}
	p, class := h.pool, h.class
	if h.root != nil || class == 0 || p.onPut != keepAsIs {
		h.end()
		return true
	}
	block := unsafe.Pointer(h.data.Load()) // p.putLeased, inlined by hand (cost 1080 of 80)
	if class.Size() > staleBytes {
		h.data.Store(nil)
	}
	x := p.engine.Enter()
	y := p.handles.EnterBeside(x)
	slot, handles := p.engine.Slot(x, class.Slot()), p.handles.Slot(y, magazine.OnlySlot)
	kept := slot.Give(block) || slot.GiveMore(block)
	if kept && (handles.Give(unsafe.Pointer(h)) || handles.GiveMore(unsafe.Pointer(h))) {
		y.ExitBeside()
		x.Exit()
		return true
	}
	y.ExitBeside()
	x.Exit()
	h.recycle()
	if !kept {
		p.overflow(class.Slot(), block)
	}
	return true
}

// releaseSlow is release when the handle has pins, is in its last generation, or is in a
// later generation than the lease.
func (l Lease) releaseSlow() bool {
	for {
		word := l.h.word.Load()
		if !l.valid(word) {
			l.h.pool.count.doubleReleases.Add(1)
			l.reportAgain()
			return false
		}
		last := word&othersMask == 0
		if !last {
			l.h.noteRelease(word) // now, for the others may put the block back
		}
		next := word &^ ownedBit
		if last {
			next = nextGeneration(word)
		}
		if l.h.word.CompareAndSwap(word, next) {
			if last {
				l.h.end()
			}
			return true
		}
	}
}

// drop removes one pin.
func (h *handle) drop() {
	for {
		word := h.word.Load()
		last := word&(ownedBit|othersMask) == 1
		next := word - 1
		if last {
			next = nextGeneration(word)
		}
		if h.word.CompareAndSwap(word, next) {
			if last {
				h.end()
			}
			return
		}
	}
}

// nextGeneration returns the word of a handle after its last owner or pin is gone.
func nextGeneration(word uint64) uint64 {
	if word>>34 == lastGeneration {
		return 0
	}
	return word>>34*generationUnit + generationUnit + ownedBit
}

// end is called by the release or drop that ended the handle's generation. The caller
// alone uses the handle now.
func (h *handle) end() {
	if h.root == nil {
		h.pool.putLeased(h)
		return
	}
	root := h.root
	h.root = nil
	h.noteRelease(h.word.Load() - generationUnit)
	h.recycle()
	root.drop()
}

// recycle clears an unused handle's block and gives the handle back, unless it has been
// through its last generation. With CheckAll no handle is used again: a second Release
// then finds what is known of the first.
func (h *handle) recycle() {
	h.data.Store(nil)
	if h.word.Load() != 0 && !h.pool.checks.everything() {
		h.pool.putHandle(h)
	}
}

// forgetHandle leaves an idle handle to the collector.
func forgetHandle(uint8, unsafe.Pointer) {}

// String returns, for instance, `Lease of 100 bytes of "frames"`, or "released Lease".
func (l Lease) String() string {
	if l.h == nil || !l.valid(l.h.word.Load()) {
		return "released Lease"
	}
	return fmt.Sprintf("Lease of %d bytes of %q", l.n, l.h.pool.Name())
}

// A checkedOwner is what the checks know of a handle's owner. One that a Retain made has
// it from the beginning, and one that has the block from a Get from its Release on, because
// what made it is the block's.
type checkedOwner struct {
	generation uint32
	*check.Owner
}

// noteRetain tells the checks of a handle's new owner, made by Retain.
func (h *handle) noteRetain() {
	c, at := h.pool.checks, addressAt(h.root.data.Load())
	if c == nil || !check.Watched(at) {
		return
	}
	if o := c.Retained(at); o != nil {
		h.checked.Store(&checkedOwner{uint32(h.word.Load() >> 32), o})
	}
}

// noteRelease tells the checks that a handle's owner releases. word is the handle's in the
// generation of that owner.
func (h *handle) noteRelease(word uint64) {
	c := h.pool.checks
	if c == nil {
		return
	}
	generation := uint32(word >> 32)
	if o := h.checked.Load(); o != nil && o.generation == generation {
		c.Released(o.Owner)
		return
	}
	if at := addressAt(h.data.Load()); c.All() || check.Watched(at) {
		h.checked.Store(&checkedOwner{generation, c.ReleasedFirst(at)})
	}
}

// reportAgain reports a second Release.
func (l Lease) reportAgain() {
	c := l.h.pool.checks
	if !c.chosen() {
		return
	}
	var owner *check.Owner
	if o := l.h.checked.Load(); o != nil && o.generation == l.mark&^capBits {
		owner = o.Owner
	}
	c.ReleasedAgain(owner, int(l.n))
}

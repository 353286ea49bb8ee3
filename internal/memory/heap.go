package memory

// This file has the memory package's use of unsafe, and the repository's only
// finalizers.

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
)

// A block of the Go heap and a foreign slice of the same size differ by address alone.
// So a pool that counts its blocks records their addresses. The records keep none of
// them alive.
//
// A finalizer removes a block that is lost. A cleanup would not do: it runs after the
// block is gone, and by then a foreign slice may be at its address and be taken for the
// block. An object with a finalizer is gone only after the next collection.

// HeapBlocks is the set of the blocks of the Go heap that a pool has allocated, by
// class and address. All methods are safe for concurrent use.
type HeapBlocks struct {
	set        BlockSet
	finalizers []func(*byte) // by class
	lost       func(class uint8)

	mu      sync.Mutex // held for one lookup, or for a few in all
	adopted map[uint64]*adoptedBlock
	all     []*adoptedBlock // those that are in the set
	awaited bool            // collected is called after the next collection
}

// An adoptedBlock is a block that Adopt has added.
type adoptedBlock struct {
	in      *HeapBlocks
	address uintptr
	class   uint8
	block   weak.Pointer[byte]
	cleanup runtime.Cleanup
	added   int // how many times it is in the set; guarded by in.mu
	index   int // in in.all
}

// NewHeapBlocks returns an empty HeapBlocks for the given number of classes. lost is
// called in the process's finalizer goroutine, after the collector has found that a
// block of a class is unreachable.
func NewHeapBlocks(classes int, lost func(class uint8)) *HeapBlocks {
	h := &HeapBlocks{lost: lost, adopted: make(map[uint64]*adoptedBlock)}
	for class := range classes {
		h.finalizers = append(h.finalizers, func(block *byte) {
			if h.set.Remove(addressOf(block), uint8(class)) {
				lost(uint8(class))
			}
		})
	}
	return h
}

// Add records a block that make has returned.
func (h *HeapBlocks) Add(block *byte, class uint8) {
	h.set.Add(addressOf(block), class)
	runtime.SetFinalizer(block, h.finalizers[class])
}

// Adopt is Add for a block that was allocated elsewhere. It may begin inside an object, or have a
// finalizer already, and both are fatal errors for SetFinalizer. So the block is removed after it
// is lost, by a cleanup or else by collected, and [HeapBlocks.Has] takes a foreign slice that
// lies where it lay for it until then; [HeapBlocks.Find] does not. Adopt returns false if the
// block is not on the Go heap.
func (h *HeapBlocks) Adopt(block *byte, class uint8) (ok bool) {
	defer func() { _ = recover() }() // AddCleanup panics, or does nothing for a variable of a package
	at := word(addressOf(block), class)
	h.mu.Lock()
	a := h.adopted[at]
	if a != nil && a.block.Value() != block { // lost, and nothing but its cleanup would know it from here on
		defer a.collected()
	}
	defer h.mu.Unlock()
	if a == nil || a.block.Value() != block {
		a = &adoptedBlock{in: h, address: addressOf(block), class: class, index: len(h.all)}
		a.cleanup = runtime.AddCleanup(block, (*adoptedBlock).collected, a)
		if a.cleanup == (runtime.Cleanup{}) {
			return false // before weak.Make, for which such a variable is a fatal error in Go 1.24
		}
		a.block = weak.Make(block)
		h.adopted[at] = a
		h.all = append(h.all, a)
	}
	a.added++ // more than once if two callers have adopted it
	h.set.Add(a.address, class)
	h.awaitLocked()
	return true
}

// awaitLocked has collected called after the next collection.
func (h *HeapBlocks) awaitLocked() {
	if !h.awaited {
		h.awaited = true
		atomics.AfterCollection(h.collected)
	}
}

// collected removes the adopted blocks that a collection has found lost. Their cleanups do that too, but may
// get lost: see [atomics.AfterCollection].
func (h *HeapBlocks) collected() {
	h.mu.Lock()
	left := len(h.all)
	if h.awaited = false; left > 0 {
		h.awaitLocked()
	}
	h.mu.Unlock()
	for left > 0 {
		var some [256]*adoptedBlock
		h.mu.Lock()
		left = min(left, len(h.all))
		n := copy(some[:], h.all[max(0, left-len(some)):left]) // from the end: one that drops out has the last in its place
		h.mu.Unlock()
		left -= n
		for _, a := range some[:n] {
			if a.block.Value() == nil {
				a.collected()
			}
		}
	}
}

// dropLocked takes a block off all, if it is there.
func (h *HeapBlocks) dropLocked(a *adoptedBlock) {
	if end := len(h.all) - 1; a.index <= end && h.all[a.index] == a {
		last := h.all[end]
		h.all[a.index], last.index = last, a.index
		h.all[end] = nil
		h.all = h.all[:end]
	}
}

// collected removes an adopted block that the collector has found lost. Another block
// may be at its address by now. A second call does nothing.
func (a *adoptedBlock) collected() {
	for range a.remove() {
		a.in.lost(a.class)
	}
}

// remove takes an adopted block out of the set, in one step with the record of whose it is:
// see alive. It returns how many times the set had it.
func (a *adoptedBlock) remove() (had int) {
	h, at := a.in, word(a.address, a.class)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropLocked(a)
	for ; a.added > 0; a.added-- {
		if h.set.Remove(a.address, a.class) {
			had++
		}
	}
	if h.adopted[at] == a {
		delete(h.adopted, at)
	}
	return had
}

// Has reports whether a block of a class begins at an address.
func (h *HeapBlocks) Has(address uintptr, class uint8) bool { return h.set.Has(address, class) }

// Find returns the class, of those from least on, of the block that begins where block does. Of
// an adopted block that lay there and is lost it does what its cleanup will find done.
func (h *HeapBlocks) Find(block *byte, least uint8) (class uint8, ok bool) {
	for class := int(least); class < len(h.finalizers); class++ {
		if h.Has(addressOf(block), uint8(class)) && h.alive(block, uint8(class)) {
			return uint8(class), true
		}
	}
	return 0, false
}

// alive reports whether the set has the block itself, and not only one that was lost.
func (h *HeapBlocks) alive(block *byte, class uint8) bool {
	h.mu.Lock()
	a := h.adopted[word(addressOf(block), class)]
	has := h.Has(addressOf(block), class) // and not before: the lost one may have left meanwhile
	h.mu.Unlock()
	if a == nil || a.block.Value() == block {
		return has
	}
	a.collected()
	return h.Has(addressOf(block), class)
}

// Remove removes a block and reports whether the set had it.
func (h *HeapBlocks) Remove(block *byte, class uint8) bool {
	if !h.set.Remove(addressOf(block), class) {
		return false
	}
	if !h.disown(block, class) {
		runtime.SetFinalizer(block, nil)
	}
	return true
}

// disown is Remove for an adopted block. It reports whether the block is one.
func (h *HeapBlocks) disown(block *byte, class uint8) bool {
	at := word(addressOf(block), class)
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.adopted[at]
	if a == nil || a.block.Value() != block {
		return false
	}
	if a.added--; a.added == 0 {
		h.dropLocked(a)
		a.cleanup.Stop()
		delete(h.adopted, at)
	}
	return true
}

// HeapSlices is a set of slices of any size on the Go heap, by address. The zero
// HeapSlices is empty; it must not be copied. All methods are safe for concurrent use.
type HeapSlices struct {
	mu    sync.Mutex // held for one lookup
	sizes map[uintptr]int64
	bytes int64
}

// Add records a slice that make has returned. lost is called as [NewHeapBlocks] says.
func (h *HeapSlices) Add(data *byte, size int64, lost func()) {
	h.mu.Lock()
	if h.sizes == nil {
		h.sizes = make(map[uintptr]int64)
	}
	h.sizes[addressOf(data)] = size
	h.bytes += size
	h.mu.Unlock()
	runtime.SetFinalizer(data, func(data *byte) {
		if h.removeAt(addressOf(data), size) {
			lost()
		}
	})
}

// Remove removes a slice and reports whether the set had it, with this size.
func (h *HeapSlices) Remove(data *byte, size int64) bool {
	if !h.removeAt(addressOf(data), size) {
		return false
	}
	runtime.SetFinalizer(data, nil)
	return true
}

func (h *HeapSlices) removeAt(address uintptr, size int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sizes[address] != size {
		return false
	}
	delete(h.sizes, address)
	h.bytes -= size
	return true
}

// Bytes returns the bytes of all slices together.
func (h *HeapSlices) Bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes
}

func addressOf(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

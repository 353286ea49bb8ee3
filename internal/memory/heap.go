package memory

// This file has the memory package's use of unsafe, and the repository's of finalizers.

import (
	"runtime"
	"sync"
	"unsafe"
)

// A block of the Go heap and a slice that somebody has made differ by address alone. So
// a pool that counts its blocks knows where they lie. That keeps none of them alive.
//
// A block that is lost is taken out by a finalizer. No cleanup would do: it runs after
// the block is gone, and by then a stranger's slice may lie there and be taken for the
// block. What has a finalizer is gone only with the collection after that.

// HeapBlocks are the blocks of the Go heap that a pool has allocated, by class and by
// where they begin. All methods may be called by any number of goroutines at once.
type HeapBlocks struct {
	set        BlockSet
	finalizers []func(*byte) // by class
}

// NewHeapBlocks returns the empty HeapBlocks of so many classes. lost is called in the
// goroutine of the process's finalizers, after the collector has found that nobody has a
// block of a class any more.
func NewHeapBlocks(classes int, lost func(class uint8)) *HeapBlocks {
	h := new(HeapBlocks)
	for class := range classes {
		h.finalizers = append(h.finalizers, func(block *byte) {
			if h.set.Remove(addressOf(block), uint8(class)) {
				lost(uint8(class))
			}
		})
	}
	return h
}

// Add notes a block that make has returned.
func (h *HeapBlocks) Add(block *byte, class uint8) {
	h.set.Add(addressOf(block), class)
	runtime.SetFinalizer(block, h.finalizers[class])
}

// Has reports whether a block of a class begins at an address.
func (h *HeapBlocks) Has(address uintptr, class uint8) bool { return h.set.Has(address, class) }

// Remove takes a block out and reports whether it was there.
func (h *HeapBlocks) Remove(block *byte, class uint8) bool {
	if !h.set.Remove(addressOf(block), class) {
		return false
	}
	runtime.SetFinalizer(block, nil)
	return true
}

// HeapSlices are slices of any size of the Go heap, by where they begin. The zero
// HeapSlices is empty; it must not be copied. All methods may be called by any number of
// goroutines at once.
type HeapSlices struct {
	mu    sync.Mutex // held for one lookup
	sizes map[uintptr]int64
	bytes int64
}

// Add notes a slice that make has returned. lost is called as that of NewHeapBlocks.
func (h *HeapSlices) Add(data *byte, size int64, lost func()) {
	h.mu.Lock()
	if h.sizes == nil {
		h.sizes = make(map[uintptr]int64)
	}
	h.sizes[addressOf(data)] = size
	h.bytes += size
	h.mu.Unlock()
	runtime.SetFinalizer(data, func(data *byte) {
		if h.remove(addressOf(data), size) {
			lost()
		}
	})
}

// Remove takes a slice out and reports whether it was there, with this size.
func (h *HeapSlices) Remove(data *byte, size int64) bool {
	if !h.remove(addressOf(data), size) {
		return false
	}
	runtime.SetFinalizer(data, nil)
	return true
}

func (h *HeapSlices) remove(address uintptr, size int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sizes[address] != size {
		return false
	}
	delete(h.sizes, address)
	h.bytes -= size
	return true
}

// Bytes returns the bytes of all slices.
func (h *HeapSlices) Bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes
}

func addressOf(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

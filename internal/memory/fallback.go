package memory

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// Fallbacks is the set of blocks of the Go heap that a pool has handed out because its
// Allocator had none, so that the pool can tell them from foreign slices. It keeps none of
// them alive. The zero Fallbacks is empty. It must not be copied. A pool must hold it
// by pointer, in an allocation of its own, because cleanups of the blocks refer to it.
type Fallbacks struct {
	some atomic.Bool // whether any block was ever added
	mu   sync.Mutex  // held for one lookup
	at   map[uintptr]weak.Pointer[byte]
}

// Add records a block that is about to be handed out: its first byte, and the address
// of that.
func (f *Fallbacks) Add(first *byte, address uintptr) {
	block := weak.Make(first)
	f.mu.Lock()
	if f.at == nil {
		f.at = make(map[uintptr]weak.Pointer[byte])
	}
	f.at[address] = block
	f.mu.Unlock()
	f.some.Store(true)
	runtime.AddCleanup(first, func(block weak.Pointer[byte]) { f.forget(address, block) }, block)
}

// Remove removes the block that starts with this byte, and reports whether the set had
// it.
func (f *Fallbacks) Remove(first *byte, address uintptr) bool {
	if !f.some.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	block, ok := f.at[address]
	if !ok || block.Value() != first { // or a lost block had the same address
		return false
	}
	delete(f.at, address)
	return true
}

// forget removes a block that the collector found lost. Its address may belong to
// another block by now.
func (f *Fallbacks) forget(address uintptr, block weak.Pointer[byte]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[address] == block {
		delete(f.at, address)
	}
}

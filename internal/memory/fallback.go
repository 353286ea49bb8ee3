package memory

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// Fallbacks are the blocks of the Go heap that a pool has handed out because its Source
// had none, so that it can tell them from slices that came from elsewhere. It keeps none
// of them alive. The zero Fallbacks are none. It must not be copied, and lies on its own
// rather than in the pool: cleanups of the blocks hold on to it.
type Fallbacks struct {
	some atomic.Bool // whether there ever was one
	mu   sync.Mutex  // held for one lookup
	at   map[uintptr]weak.Pointer[byte]
}

// Add notes a block that is about to be handed out: its first byte, and where that is.
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

// Remove reports whether such a block starts with this byte. From then on none does.
func (f *Fallbacks) Remove(first *byte, address uintptr) bool {
	if !f.some.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	block, ok := f.at[address]
	if !ok || block.Value() != first { // or an older block of that address was lost
		return false
	}
	delete(f.at, address)
	return true
}

// forget is Remove for a block that is lost. Its address may be another's by now.
func (f *Fallbacks) forget(address uintptr, block weak.Pointer[byte]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[address] == block {
		delete(f.at, address)
	}
}

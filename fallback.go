package dewpond

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// fallbacks are the blocks of the Go heap that Get has handed out because the Source
// had none, so that Put can tell them from slices that came from elsewhere. It keeps
// none of them alive.
type fallbacks struct {
	some atomic.Bool // whether there ever was one
	mu   sync.Mutex  // held for one lookup
	at   map[uintptr]weak.Pointer[byte]
}

// add notes a block that is about to be handed out.
func (f *fallbacks) add(b []byte) {
	block, address := weak.Make(dataOf(b)), addressOf(b)
	f.mu.Lock()
	if f.at == nil {
		f.at = make(map[uintptr]weak.Pointer[byte])
	}
	f.at[address] = block
	f.mu.Unlock()
	f.some.Store(true)
	runtime.AddCleanup(dataOf(b), func(block weak.Pointer[byte]) { f.forget(address, block) }, block)
}

// remove reports whether b starts where such a block starts, which from then on is
// none.
func (f *fallbacks) remove(b []byte) bool {
	if !f.some.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	block, ok := f.at[addressOf(b)]
	if !ok || block.Value() != dataOf(b) { // or an older block of that address was lost
		return false
	}
	delete(f.at, addressOf(b))
	return true
}

// forget is remove for a block that is lost. Its address may be another's by now.
func (f *fallbacks) forget(address uintptr, block weak.Pointer[byte]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[address] == block {
		delete(f.at, address)
	}
}

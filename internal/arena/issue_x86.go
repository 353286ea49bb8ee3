//go:build (amd64 || 386) && gc && !race

package arena

import (
	"sync/atomic"
	"unsafe"
)

// issue stores out. On these processors atomic.Store is a locked exchange, which
// Get does not need: an aligned store of 32 bits is seen whole, and is not seen
// before any load or store that precedes it in the program. Nobody else may store
// now (state.go), so nothing is overwritten; whoever compares and swaps at the same
// moment sees the word as it was or as it is.
func issue(state *atomic.Uint32) { *(*uint32)(unsafe.Pointer(state)) = out }

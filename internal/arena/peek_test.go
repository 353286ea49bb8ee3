package arena

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/memory"
)

// peek reads a state in a way that the race detector does not see.
//
//go:norace
func peek(state *memory.State) uint32 { return *(*uint32)(unsafe.Pointer(state)) }

// unsafeSlice returns n bytes from where b begins, which may extend past b.
func unsafeSlice(b []byte, n int) []byte { return unsafe.Slice(unsafe.SliceData(b), n) }

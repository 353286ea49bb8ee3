package arena

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/memory"
)

// peek reads a state without telling the race detector.
//
//go:norace
func peek(state *memory.State) uint32 { return *(*uint32)(unsafe.Pointer(state)) }

// unsafeSlice returns what begins where b does and may go on past it.
func unsafeSlice(b []byte, n int) []byte { return unsafe.Slice(unsafe.SliceData(b), n) }

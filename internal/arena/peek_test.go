package arena

import (
	"sync/atomic"
	"unsafe"
)

// peek reads a word without telling the race detector.
//
//go:norace
func peek(word *atomic.Uint32) uint32 { return *(*uint32)(unsafe.Pointer(word)) }

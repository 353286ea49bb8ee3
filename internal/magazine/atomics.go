//go:build !dewpond_explore

package magazine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// The engine names its atomics and its mutex through these aliases, so that
// internal/proof can compile the same files against ones that yield to its
// explorer (atomics_explore.go).
type (
	atomicUint32         = atomic.Uint32
	atomicUint64         = atomic.Uint64
	atomicInt64          = atomic.Int64
	atomicBool           = atomic.Bool
	atomicPointer[T any] = atomic.Pointer[T]
	mutex                = sync.Mutex
)

// yield lets others run, where a loop waits for one of them.
func yield() { runtime.Gosched() }

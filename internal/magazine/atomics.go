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
	atomicUintptr        = atomic.Uintptr
	atomicInt64          = atomic.Int64
	atomicBool           = atomic.Bool
	statistic            = atomic.Uint64 // only ever added to; nothing depends on it
	hint                 = atomic.Int64  // nothing depends on it but how much Shed is asked for
	atomicPointer[T any] = atomic.Pointer[T]
	mutex                = sync.Mutex
)

// yield lets others run, where a loop waits for one of them.
func yield() { runtime.Gosched() }

// touch says that the owner of something is about to read or write it plainly. It
// does nothing; the explorer checks with it that there is one owner at a time, and
// lets others run in between.
func touch[T any](*T) {}

// mustExist does nothing; the explorer checks with it that a section's shard is
// within its array.
func mustExist(section) {}

//go:build !dewpond_explore

package atomics

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

type (
	Bool           = atomic.Bool
	Int64          = atomic.Int64
	Uint32         = atomic.Uint32
	Uint64         = atomic.Uint64
	Uintptr        = atomic.Uintptr
	Pointer[T any] = atomic.Pointer[T]
	Mutex          = sync.Mutex

	// A Cache keeps what was put into it until the garbage collector takes it.
	Cache = sync.Pool

	// A Statistic is only ever added to, and nothing depends on it: the explorer does not count
	// it as an access.
	Statistic = atomic.Uint64

	// A Heuristic changes how much is done, never whether it is right: the explorer does not count it
	// as an access either.
	Heuristic = atomic.Int64
)

// Explored says that the explorer runs the program.
const Explored = false

// Yield lets other goroutines run. A loop that waits for one of them calls it.
func Yield() { runtime.Gosched() }

// Touch says that the owner of an object is about to read or write it without atomics. Touch
// does nothing; the explorer checks with it that there is one owner at a time, and lets other
// threads run in between.
func Touch[T any](*T) {}

// Now returns the time.
func Now() time.Time { return time.Now() }

// AfterFunc calls f in a goroutine of its own once delay has passed.
func AfterFunc(delay time.Duration, f func()) { time.AfterFunc(delay, f) }

// A Timer is a timer of After.
type Timer struct{ *time.Timer }

// After calls f in a goroutine of its own once delay has passed. It makes a Timer if t is nil. Else it
// uses t again, which After made for the same f; what t was to do before, and has not yet begun, it does not do.
func (t *Timer) After(delay time.Duration, f func()) *Timer {
	if t == nil {
		return &Timer{time.AfterFunc(delay, f)}
	}
	t.Reset(delay)
	return t
}

// NewTimer is [time.NewTimer], for a sleep that no thread of the explorer comes to.
func NewTimer(delay time.Duration) *time.Timer { return time.NewTimer(delay) }

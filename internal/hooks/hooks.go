// Package hooks lets the other public packages, and the proofs, do what the API of package
// dewpond does not have. Package dewpond sets its functions when the program starts.
package hooks

import (
	"reflect"
	"sync/atomic"
)

// A Word is where an object of package dewsync begins, whose type only the running program
// knows. Its pools are each a *dewpond.Pool[Word].
type Word struct{ _ byte }

// Calls are calls of Get and Put: those that found an object which the garbage collector had not freed, those for
// which there was none, and whose callers make one or do without, and Puts.
type Calls struct{ Recovered, Missed, Puts uint64 }

var (
	// ReportLeaks reports what is out of a pool and watched, and returns how much that is:
	// see dewtest.ReportLeaks. ok is false if p is no pool.
	ReportLeaks func(p any) (n int, ok bool)

	// AwaitReports waits until the reports are made that have been begun: those of a pool, whose
	// goroutines are the collector's and the timer's by now, or if p is nil those of all pools.
	AwaitReports func(p any)

	// Fault reports the misuse behind a fault at an address, and returns it as a
	// Violation of package misuse: see offheap.ExplainFaults. ok is false if no live pool with
	// CheckAll has a block there, nor any pool an idle one that is guarded so that it faults.
	Fault func(at uintptr) (violation any, ok bool)

	// Release is Release of a dewpond.Lease, and reports whether its owner had not released
	// before. The proofs need that of each call.
	Release func(lease any) bool

	// Describe says in options, a *dewpond.PoolOptions[Word], which type the objects have,
	// whether checked mode may look at them, and whether some were in use outside of bubbles before.
	Describe func(options any, object reflect.Type, watched, used bool)
	// Engine returns the *magazine.Engine of a pool of Words, or nil if Get and Put have more
	// to do than to ask it.
	Engine func(pool any) any
	// Idle returns an idle object of a pool of Words, or nil if it finds none.
	Idle func(pool any) *Word
	// Fresh counts an object that the caller has made because Idle has found none.
	Fresh func(pool any, object *Word)
	// Count counts calls that a pool of Words has not seen.
	Count func(pool any, c Calls)
	// Settings counts how often package dewtest has changed the environment: what MayCache has returned before no
	// longer holds then.
	Settings atomic.Uint32
	// MayCache returns what reports whether objects may be left to the garbage collector, as in a sync.Pool, where it
	// is called; nil if they never may, or if they are watched.
	MayCache func() (open func() bool)
)

//go:build gc && go1.24 && (!go1.28 || dewpond_pinned) && !race && !dewpond_portable && !dewpond_explore

package percpu

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// The build tags above name the Go versions whose runtime this file was checked
// against: procPin and procUnpin are on the runtime's list of names that must keep
// their type (go.dev/issue/67401), but what they guarantee is not documented. In Go
// 1.24.0, 1.24.13, 1.25.0, 1.25.14, 1.26.8, 1.27.2 and 1.27.4 they are the same lines,
// which count the M's locks. So is runtime.Stack, which stops the world. canPreemptM,
// which newstack and isAsyncSafePoint ask, takes no M that has locks; where it differs,
// it takes fewer. stopTheWorldWithSema waits for every P; older versions take one that is
// in a system call by another status. Raise the range only after reading all of these
// in the new version's proc.go, preempt.go and mprof.go.
//
// The range has an end, because no program would link with a Go that takes one of these
// names back. Who builds with the tag dewpond_pinned takes that risk, and pin_tag.go looks
// at what they do.

// Pinned says that Pin returns the P's id and that no other goroutine runs on that P
// until Unpin.
const Pinned = true

// Engine names the engine, for Stats and for benchmarks.
func Engine() string { return engine }

var engine = "pinned"

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// Pin returns the id of the current P, which is below GOMAXPROCS, and keeps the
// goroutine on it until Unpin: no other goroutine runs on this P meanwhile, and no
// stop-the-world completes. So the code in between must be short and must not block,
// allocate or panic.
func Pin() int { return procPin() }

// Unpin ends what Pin began.
func Unpin() { procUnpin() }

// Grace returns once every section between Pin and Unpin that was running when Grace
// was called has ended. It must not be called from within one.
//
// It stops the world and starts it again, which takes tens of microseconds: a P can
// only be stopped where preemption is allowed, and the runtime's locks make what the
// sections wrote visible to the caller. runtime.Stack with an empty buffer is a
// stop-the-world and nothing else; runtime.ReadMemStats would be one too, but it waits
// for a running collection to end first.
func Grace() { runtime.Stack(nil, true) }

// Procs returns how many shards to make: ids are below it unless GOMAXPROCS grows.
func Procs() int { return runtime.GOMAXPROCS(0) }

package offheap

import (
	"runtime/debug"

	"github.com/dewpond/dewpond/internal/hooks"
)

// ExplainFaults makes a fault of the calling goroutine name the block that was touched:
//
//	defer offheap.ExplainFaults()()
//
// With [dewpond.CheckAll] every read or write of an idle block of this package faults, and
// every read or write right behind a block. A fault in Go code is fatal, and the runtime
// says where it was but not whose block it was.
//
// So does every read or write of an idle block of the Go heap that DEWPOND_GUARD=fault guards.
//
// ExplainFaults turns the goroutine's faults into panics, as [debug.SetPanicOnFault]
// does, until end is called. end must be called directly by a defer statement, not by
// another function. It recovers the panic of a fault, reports the [misuse.Violation] to
// the pool's OnViolation, and panics again with the Violation, whose String has the stacks
// of the Get, the Put and the fault. It passes on any other panic with its value.
//
// The fault must be in a pool that is neither closed nor collected, and in Go code. A
// fault in C is fatal, and a system call with such a block (a Read into it, for instance)
// returns EFAULT.
func ExplainFaults() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover(); fault := r.(type) {
		case nil:
		case interface{ Addr() uintptr }: // the runtime error of a fault: see SetPanicOnFault
			if v, ok := hooks.Fault(fault.Addr()); ok {
				panic(v)
			}
			panic(r)
		default:
			panic(r)
		}
	}
}

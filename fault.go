package dewpond

import "runtime/debug"

// ExplainFaults makes the faults of a goroutine name the block that was touched:
//
//	defer dewpond.ExplainFaults()()
//
// Off the heap (package offheap) CheckAll makes any touch of a block fault while it is
// idle, and any of what is right behind a block. A fault in Go code is fatal, and the
// runtime then says where it was, but not whose block. From this call until the function
// that it returns is called, which must be by defer and without another function around
// it, it is a panic, as by debug.SetPanicOnFault. What it returns recovers that panic,
// reports the Violation to the pool's OnViolation, and panics again with the Violation,
// whose String has the stacks of the Get, the Put and the fault. Any other panic goes on
// with the value that it had.
//
// The fault must be in a pool that is neither closed nor collected, and in Go code: in C
// it is fatal, and a system call (a Read into the block, say) returns EFAULT.
func ExplainFaults() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover(); fault := r.(type) {
		case nil:
		case interface{ Addr() uintptr }: // as of SetPanicOnFault
			if v, ok := explain(fault.Addr()); ok {
				panic(v)
			}
			panic(r)
		default:
			panic(r)
		}
	}
}

// explain finds and reports the violation that a fault is.
func explain(at uintptr) (Violation, bool) {
	for s := range Pools() {
		if p, ok := s.(*BytePool); ok && p.checks != nil {
			if found := p.checks.Fault(at); found != nil {
				p.checks.report(*found)
				return p.checks.violation(*found), true
			}
		}
	}
	return Violation{}, false
}

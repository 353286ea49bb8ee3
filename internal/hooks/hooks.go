// Package hooks lets the other public packages, and the proofs, do what the API of package
// dewpond does not have. Package dewpond sets its functions when the program starts.
package hooks

var (
	// ReportLeaks reports what is out of a pool and watched, and returns how much that is:
	// see dewtest.ReportLeaks. ok is false if p is no pool.
	ReportLeaks func(p any) (n int, ok bool)

	// Fault reports the misuse behind a fault at an address, and returns it as a
	// dewpond.Violation: see offheap.ExplainFaults. ok is false if no live pool with
	// CheckAll has a block there.
	Fault func(at uintptr) (violation any, ok bool)

	// Release is Release of a dewpond.Lease, and reports whether its owner had not released
	// before. The proofs need that of each call.
	Release func(lease any) bool
)

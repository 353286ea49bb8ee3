// Package tool compares dewpond's tools other than the byte pool with what they replace:
// pool.go, lease.go, scope.go and buffer.go hold one tool each.
//
// The pools of package contender all do the same job and have one interface. The tools differ:
// so a case here is a loop, written once for each alternative, and package workload runs the
// alternatives in turn.
package tool

import "slices"

// A Case is one use of a tool, with its alternatives.
type Case struct {
	Tool     string // Pool, Lease, Scope or Buffer
	Name     string
	Parallel bool // in one goroutine for each processor, at once
	Cycle    int  // any count that is a multiple of Cycle is the same work
	// Alternatives starts with dewpond's; the others are what it replaces.
	Alternatives []Alternative
}

// An Alternative is one way to do what the case is about.
type Alternative struct {
	Name string
	// Loop does it count times. In a parallel case several goroutines call it at once.
	Loop func(count int)
}

// Cases returns new cases with their own pools, in the order of the reports.
func Cases() []Case {
	return slices.Concat(poolCases(), leaseCases(), scopeCases(), bufferCases())
}

// alone and parallel make a case for one goroutine, and for one goroutine on each processor.
func alone(tool, name string, alternatives ...Alternative) Case {
	return Case{Tool: tool, Name: name + " by 1 goroutine", Cycle: 1, Alternatives: alternatives}
}

func parallel(tool, name string, alternatives ...Alternative) Case {
	return Case{Tool: tool, Name: name + " in parallel", Parallel: true, Cycle: 1, Alternatives: alternatives}
}

// Package tool holds dewpond's tools beside the byte pool, each next to what it
// replaces: pool.go, lease.go, scope.go and buffer.go, a tool in each.
//
// Package contender's pools all do the same job and can be asked for a block in
// one way. These cannot: so a case here is a loop, written out once for each
// alternative, and package workload lets the alternatives take turns.
package tool

import "slices"

// A Case is one use of a tool, in each way to have it.
type Case struct {
	Tool     string // Pool, Lease, Scope or Buffer
	Name     string
	Parallel bool // in one goroutine for each processor at once
	Cycle    int  // a Loop of a multiple of this many uses is the same work each time
	// Alternatives begins with dewpond's; those after it are what it replaces.
	Alternatives []Alternative
}

// An Alternative is one way to have what the case is about.
type Alternative struct {
	Name string
	// Loop does it count times. In a parallel case several goroutines call it at
	// once.
	Loop func(count int)
}

// Cases makes all cases, in the order of the reports, on pools of their own.
func Cases() []Case {
	return slices.Concat(poolCases(), leaseCases(), scopeCases(), bufferCases())
}

// alone and parallel are one case in one goroutine, and in one for each processor.
func alone(tool, name string, alternatives ...Alternative) Case {
	return Case{Tool: tool, Name: name + ", 1 goroutine", Cycle: 1, Alternatives: alternatives}
}

func parallel(tool, name string, alternatives ...Alternative) Case {
	return Case{Tool: tool, Name: name + ", parallel", Parallel: true, Cycle: 1, Alternatives: alternatives}
}

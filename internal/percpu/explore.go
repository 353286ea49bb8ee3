//go:build dewpond_explore

package percpu

// Explore holds the functions that instruments/proof's explorer puts in place of the
// runtime's. The explorer sets it before it starts a thread.
var Explore struct {
	Pin   func() int
	Unpin func()
	Grace func()
	Procs func() int
}

// Pinned says that the explorer lets only one thread at a time be pinned to a P.
const Pinned = true

func Engine() string { return "explored" }
func Pin() int       { return Explore.Pin() }
func Unpin()         { Explore.Unpin() }
func Grace()         { Explore.Grace() }
func Procs() int     { return Explore.Procs() }

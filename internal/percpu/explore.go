//go:build dewpond_explore

package percpu

// Pinned says that the explorer's threads each have a P of their own.
const Pinned = true

// The explorer in internal/proof sets these before it starts a thread.
var (
	ExplorePin   func() int
	ExploreUnpin func()
	ExploreGrace func()
	ExploreProcs func() int
)

func Engine() string { return "explored" }
func Pin() int       { return ExplorePin() }
func Unpin()         { ExploreUnpin() }
func Grace()         { ExploreGrace() }
func Procs() int     { return ExploreProcs() }

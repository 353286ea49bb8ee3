//go:build race && !dewpond_portable && !dewpond_explore

package percpu

// why says why this is the portable engine: the race detector understands locks, but
// not that a pinned P belongs to one goroutine.
const why = "built with the race detector"

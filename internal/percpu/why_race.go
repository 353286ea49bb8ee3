//go:build race && !dewpond_portable && !dewpond_explore

package percpu

// why this is the portable engine: the detector sees locks, and would not see
// that a pinned P is a goroutine's alone.
const why = "built with the race detector"

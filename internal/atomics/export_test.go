//go:build !dewpond_explore

package atomics

import "time"

// Rest sets the least time between two goroutines of AfterCollection, and returns a function that sets it back.
func Rest(d time.Duration) (back func()) {
	set := func(d time.Duration) (before time.Duration) {
		afterCollection.mu.Lock()
		defer afterCollection.mu.Unlock()
		before, rest = rest, d
		return before
	}
	before := set(d)
	return func() { set(before) }
}

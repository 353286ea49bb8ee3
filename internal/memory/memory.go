// Package memory is the seam between a pool and where its blocks come from.
package memory

// A Source hands out the blocks that a pool misses and takes back those that it
// lets go. All methods may be called by any number of goroutines at once, and
// never from within a pinned section.
//
// A pool without a Source uses the Go heap: make, and the collector.
type Source interface {
	// Alloc returns a zeroed block of len and cap size, one of the pool's
	// classes, or an error that says why there is none.
	Alloc(size int) ([]byte, error)

	// Free takes back a block that Alloc returned and that nobody uses.
	Free(block []byte)

	// Owns reports whether b, whatever its length, starts where a block of this
	// Source starts and has that block's cap. A pool refuses any other.
	Owns(b []byte) bool
}

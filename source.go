package dewpond

// A Source is where the blocks of a [BytePool] come from if they are not to come from the
// Go heap: see [BytePoolOptions.Memory]. A pool asks it for a block when none is idle, and
// gives it the blocks that it lets go of. For mapped memory there is package offheap; a
// Source is for memory of another kind, or for accounts of one's own. The function
// TestSource of package dewtest tests one.
//
// All methods may be called by any number of goroutines at once, and must not call a
// pool: some calls come with the lock of a [Budget] held.
//
// A block must stay valid until Free, also after [BytePool.Close]. A pool that is closed
// gives back all its blocks as they come; a pool that is dropped without Close, or a block
// that its owner loses, is never heard of again.
type Source interface {
	// Alloc returns a block, or an error that says why it has none.
	//
	// The block has length and cap size, which is one of the pool's classes. It begins
	// at a multiple of 16 bytes, all its bytes are zero, and it overlaps no other block
	// until Free takes it back. If the length, the cap or the address is wrong, the
	// method of the pool that asked for the block panics.
	//
	// TryGet, GetContext and Prewarm return the error, wrapped. Get and what is built on
	// it take a block of the Go heap instead, and count that in [Stats.HeapFallback].
	Alloc(size int) ([]byte, error)

	// Free takes back a block that Alloc returned, whole, with what its owners have left
	// in it. No goroutine uses it any more. If Free panics, the block counts as taken
	// back, and the method that let go of it panics after it has done everything else.
	Free(block []byte)

	// Owns reports whether b, whatever its length, begins where a block of this Source
	// begins and has that block's cap. A pool asks this of every slice with the cap of a
	// class that is put back, so Owns should be fast, and refuses those for which it
	// reports false. Of a block that Free has taken back it may report either.
	Owns(b []byte) bool
}

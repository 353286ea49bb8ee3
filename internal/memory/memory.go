// Package memory is the seam between a pool and where its blocks come from.
package memory

// A Source hands out the blocks that a pool misses and takes back those that it
// lets go. All methods may be called by any number of goroutines at once, and
// never from within a pinned section.
//
// A pool without a Source uses the Go heap: make, and the collector.
type Source interface {
	// Alloc returns a zeroed block of len and cap size, one of the pool's
	// classes, at an address that is a multiple of 16, or an error that says why
	// there is none.
	Alloc(size int) ([]byte, error)

	// Free takes back a block that Alloc returned and that nobody uses. It may be
	// called under the lock of a Budget, so it must not call a pool. If it panics the
	// block counts as taken back, and the method that let it go panics when it has done
	// all else.
	Free(block []byte)

	// Owns reports whether b, whatever its length, starts where a block of this
	// Source starts and has that block's cap. A pool refuses any other.
	Owns(b []byte) bool
}

// A Ledger is a Source that knows of each block whether the pool has it (it is idle)
// or a caller of the pool (it is out). Alloc returns idle blocks and Free takes them.
type Ledger interface {
	Source

	// Issue notes that a caller gets an idle block. Whoever calls it has taken the
	// block out of the pool or from Alloc, and is the only one who has it.
	Issue(block []byte)

	// Return notes that a caller gives a block back. owned is what Owns would say;
	// accepted, whether the block was out. Of several that return a block at once
	// one is accepted. A Return synchronizes before the Issue of the same block.
	Return(b []byte) (owned, accepted bool)

	// Blocks returns the states that Issue and Return change, where the Ledger has them
	// in one table, or the zero Blocks. They are always the same, and can be used while
	// the Ledger is reachable, also after Close. A pool does there itself what Issue
	// does, and Return where it accepts; it calls these for all else.
	Blocks() Blocks

	// Decommit gives the memory that Free has collected to the system, as far as
	// the system takes it, and returns how many bytes.
	Decommit() (released int64, err error)

	// Close ends Alloc. It gives everything up, or returns an error that says how
	// many blocks have not come to Free; then the Free of the last one does.
	Close() error

	Usage() Usage
}

// A Guard is a Ledger that can make blocks fault on any touch while they are idle.
// Checked mode asks for it.
type Guard interface {
	// Isolate makes every block lie so that it can be guarded, and reports whether it
	// can. It is called before the first Alloc.
	Isolate() bool

	// Guard makes an idle block fault, and reports whether it does: else the block is
	// as it was. What is in it may be lost. Its caller alone has the block.
	Guard(block []byte) bool

	// Unguard ends that, before the block is touched, issued or freed. Its caller alone
	// has the block.
	Unguard(block []byte)
}

// Usage is what a Ledger has and has done, in bytes where it does not say otherwise.
type Usage struct {
	Mapped bool // memory is outside the Go heap; false: this system or a setting says no

	// These are of the blocks alone, without what the Ledger notes of them.
	Reserved    int64 // address space; 0 once it is unmapped
	Opened      int64 // the part of it that is readable and writable
	Spanned     int64 // the part of that which is cut into blocks
	Committed   int64 // the part of that which may be resident
	Decommitted int64 // given back to the system, ever

	Blocks int   // between Alloc and Free
	Bytes  int64 // in them
	Spans  int   // pieces of which Decommit takes each whole

	Refused uint64 // calls of Free with what was no idle block: an error of the pool
}

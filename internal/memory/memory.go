// Package memory is the seam between a pool and the memory that its blocks come from.
package memory

// A Ledger is an Allocator of package dewpond, which documents the first three methods. It
// knows of each block whether the pool has it (it is idle) or a caller of the pool (it is
// out). Alloc returns idle blocks and Free takes idle blocks. No method is called from
// within a pinned section.
type Ledger interface {
	Alloc(size int) ([]byte, error)
	Free(block []byte)
	Owns(b []byte) bool

	// Issue records that an idle block goes to a caller of the pool. The goroutine that
	// calls it has taken the block out of the pool or from Alloc, and is the only one
	// that has it.
	Issue(block []byte)

	// Return records that a caller gives a block back. owned is what Owns would return;
	// accepted says whether the block was out. If several goroutines return a block at
	// once, one of them is accepted. A Return synchronizes before the Issue of the same
	// block.
	Return(b []byte) (owned, accepted bool)

	// Blocks returns the states that Issue and Return change, if the Ledger has them in
	// one table, or the zero Blocks. The table never changes, and can be used while the
	// Ledger is reachable, even after Close. A pool then does the work of Issue, and of
	// a Return that is accepted, in the table itself; it calls these methods for
	// everything else.
	Blocks() Blocks

	// Decommit gives the memory of freed blocks to the system, as far as the system
	// takes it, and returns how many bytes that were.
	Decommit() (released int64, err error)

	// Close ends Alloc. It gives up all memory, or returns an error that says how many
	// blocks have not been freed; then the Free of the last one gives up the memory.
	Close() error

	Usage() Usage
}

// A Guard is a Ledger that can make blocks fault on any access while they are idle.
// Checked mode uses it.
type Guard interface {
	// Isolate lays out all blocks so that they can be guarded, and reports whether the
	// Ledger can do that. It is called before the first Alloc.
	Isolate() bool

	// Guard makes an idle block fault, and reports whether it does. If it reports false
	// the block is as it was; if true, the block's content may be lost. No other
	// goroutine has the block.
	Guard(block []byte) bool

	// Unguard ends that, before the block is accessed, issued or freed. No other
	// goroutine has the block.
	Unguard(block []byte)
}

// Usage is what a Ledger has and has done, in bytes unless a field says otherwise.
type Usage struct {
	Mapped bool // memory is outside the Go heap; false: this system or a setting does not allow that

	// These count the blocks alone, without the Ledger's own records of them.
	Reserved    int64 // address space; 0 once it is unmapped
	Opened      int64 // the part of it that is readable and writable
	Spanned     int64 // the part of Opened that is cut into blocks
	Committed   int64 // the part of Spanned that may be resident
	Decommitted int64 // given back to the system since the start

	Blocks int   // allocated and not freed
	Bytes  int64 // in them
	Spans  int   // pieces that Decommit gives back whole

	Refused uint64 // calls of Free with a slice that is not an idle block: an error of the pool
}

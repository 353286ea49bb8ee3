package check

import "time"

// A Kind is a kind of misuse.
type Kind uint8

const (
	DoublePut     Kind = iota // a Put of a block that is idle
	WriteAfterPut             // a write to a block while it was idle
	ForeignPut                // a Put of a slice that was never a block
	InteriorPut               // a Put of the inside of a block
	Leak                      // a block that was never put back
	UseAfterPut               // an access to an idle block, which faulted
	PastEnd                   // an access behind a block
	DoubleRelease             // a Release of a lease whose owner has released it
	WriteBeyond               // a write behind what a Put was told is all that was written
	ReadAfterPut              // a read of a block while it was idle, or a write of zeros
)

// A Violation is one misuse, or Count leaks of one place. Offence is nil if the misuse
// itself was not observed.
type Violation struct {
	Kind  Kind
	Size  int           // of the block, of the largest if there are several, in bytes
	Age   time.Duration // since its last Get or Put, of the oldest if there are several
	Count int           // how many blocks, each got at Got and with these Owners
	Bytes int           // in all of them

	Offset   int    // in the block: where Written begins, or a slice of its inside, or an access
	Written  int    // how many bytes there are from the first that was written to the last
	Old, New []byte // the first of them: as they were when the block was put back, and as they are

	Holder string // of the block that a foreign slice is in: the name of its pool, for the Checker's own pool to fill in

	Got, Put, Offence Stack
	Owners            []Stack // of a leaked lease that was retained: what made each owner that is left
}

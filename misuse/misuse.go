// Package misuse describes what the checks of dewpond's pools find: each misuse as a [Violation], and what they see
// of blocks and objects as a [Sampled]. It imports nothing of dewpond's.
package misuse

import (
	"fmt"
	"time"
)

// A Kind is a kind of misuse that checked mode finds: see
// [github.com/dewpond/dewpond.CheckMode].
type Kind uint8

const (
	DoublePut     Kind = iota // a Put of a block or object that is idle
	WriteAfterPut             // a write to an idle block or object, found when it leaves the pool or goes to its next owner
	ForeignPut                // a Put of a slice that this pool never handed out
	InteriorPut               // a Put of a slice that starts inside a block
	Leak                      // a block or object that was never put back: found when it is collected or, off the heap, at Close
	UseAfterPut               // a read or write of an idle block off the heap, or of one that DEWPOND_GUARD=fault guards, which faults
	PastEnd                   // a read or write past the cap of a block off the heap, which faults
	DoubleRelease             // a Release of a Lease by an owner that has released
	WriteBeyond               // a write behind the slice that PutWritten was given
	ReadAfterPut              // a read of an idle block, or a write of zeros, found by DEWPOND_GUARD
)

// String returns, for instance, "double Put".
func (k Kind) String() string {
	switch k {
	case DoublePut:
		return "double Put"
	case WriteAfterPut:
		return "write after Put"
	case ForeignPut:
		return "Put of a foreign slice"
	case InteriorPut:
		return "Put of the inside of a block"
	case Leak:
		return "leak"
	case UseAfterPut:
		return "use after Put"
	case PastEnd:
		return "use past the end of a block"
	case DoubleRelease:
		return "double Release"
	case WriteBeyond:
		return "write beyond what PutWritten was given"
	case ReadAfterPut:
		return "read after Put"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Violation is one misuse of a pool, or several leaks of one place.
//
// What leaks together, for instance all that one garbage collection finds, is one
// Violation for each place: Count blocks with the same Got and the same Owners. With
// CheckSampled the collector's leaks are one Violation each.
type Violation struct {
	Kind Kind
	Pool string        // the pool's name in statistics
	Size int           // of the block or object, in bytes; of the largest if Count is more than 1
	Age  time.Duration // since its Get, or since its Put if that was later; of the oldest if Count is more than 1

	// Got, Put and Offence are the stacks of the Get, of the earlier Put and of the misuse,
	// as program counters for [runtime.CallersFrames], innermost first. Each is nil if there
	// was no such call or if it was not recorded. The first few frames are in this library.
	// With CheckSampled a stack has at most 16 frames. For [WriteAfterPut], Offence is the
	// stack that found the write. For a fault it is the stack that faulted. For
	// [DoubleRelease], Got is the stack of what made the owner, and Put that of its first
	// Release.
	Got, Put, Offence []uintptr

	Type  string // of a Pool's objects, as "main.Order"; "" for blocks
	Count int    // of the blocks or objects: more than 1 for a Leak alone
	Bytes int    // in all of them

	// Offset is where something is in the block or object, in bytes: what was written
	// ([WriteAfterPut], [WriteBeyond]), the slice that was put back ([InteriorPut]), or the byte that was
	// touched ([UseAfterPut], [PastEnd]).
	Offset int

	Written  int    // WriteAfterPut, WriteBeyond: how many bytes there are from the first that was written to the last
	Old, New []byte // WriteAfterPut, WriteBeyond: the first 32 of them, as they were and as they are
	Field    string // WriteAfterPut of an object: the field at Offset, as "Account.Name"

	// Holder is the name of the pool that watches the block which a foreign slice begins
	// in ([ForeignPut]). Got and Put are that block's. It is "" if no pool knows the slice.
	Holder string

	// Owners are the owners of a leaked Lease that have not released, if the lease was
	// ever retained: for each the stack of what made it. Got is the first of them unless that
	// owner has released.
	Owners [][]uintptr

	// Advice says what else may help to find the misuse, or is empty.
	Advice string
}

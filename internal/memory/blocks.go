package memory

import (
	"math/bits"

	"github.com/dewpond/dewpond/internal/atomics"
)

// Blocks finds the states of the blocks in a range of addresses, by arithmetic alone:
// a pool does so on every Get and Put, and every load on the way there shows, as does a
// branch on the size. So it is no interface, and a pool has it by value. It is read-only
// once made; copies have one table of states. The zero Blocks finds nothing.
//
// The table has a State for every 64 bytes of the range, in their order, which are for
// blocks of less than 4 KiB; and from its end back one for every 256 bytes, for the
// others. No block is smaller than its unit, so the one in which it begins is its own.
type Blocks struct {
	base   uintptr // where the range begins, a multiple of 256
	states []State
}

const (
	// MinBlock is the size of the smallest block in bytes, MaxBlock that of the largest.
	// Multiple divides every size and every address.
	MinBlock = unit
	MaxBlock = 64 << 20
	Multiple = 16

	// Group is what each run of blocks of one size begins at a multiple of, in bytes
	// from the start of the range. It has GroupStates for small blocks, and for large
	// ones GroupLarge.
	Group       = 64 << 10
	GroupStates = Group / unit
	GroupLarge  = Group / largeUnit

	unit      = 64
	largeUnit = 256
	large     = 4 << 10 // bytes of a block, and more
)

// Two processors whose blocks are neighbours should not share the cache line of their
// states: it makes Get and Put five times as dear. A line, 64 bytes, has 16 states. So
// blocks of spread bytes and more, 16 units, never share one. Smaller ones are spread
// over the 64 lines of their group. The number of a unit in its group has six bits for
// the line and below them four for the place in it, and the four are added to the line,
// without carry, two bits up. So neighbours, whose lines are 0 or 1 apart, come to
// lie on two: the same line with two places differs above its two lowest bits, the
// next one in the lowest. And of one size still no two units have one state.
const (
	spread      = 16 * unit
	placeMask   = 15
	placeSpread = 4 + 2
)

// NewBlocks makes Blocks of a range that begins at base with a table of states, all
// free.
func NewBlocks(base uintptr, states []State) Blocks { return Blocks{base, states} }

// StatesOf returns how many states a range needs that begins with count blocks of a
// size and has no other.
func StatesOf(count, bytes int) int {
	end := (count - 1) * bytes // the last block begins here
	switch {
	case bytes >= large:
		return end/largeUnit + 1
	case bytes < spread:
		end |= Group - 1
	}
	return end/unit + 1
}

// Find returns the state of the block of a size that begins at an address, if there is
// one: that only the state can tell, which else may be another's. Where the table has no
// such place it returns nil. Whatever the address, the size is one that a block can have.
func (b *Blocks) Find(address uintptr, bytes uint) *State {
	notLarge := below(bytes, large)
	place := (address - b.base) >> ((8 + notLarge*2) & 31) // by unit or largeUnit
	place ^= place << placeSpread & (placeMask << placeSpread) & below(bytes, spread)
	if notLarge == 0 {
		place = uintptr(len(b.states)) + ^place // - 1 - place
	}
	if place >= uintptr(len(b.states)) {
		return nil
	}
	return &b.states[place]
}

// WhenOut returns what the state is of the block of a size that begins at an address,
// while that block is out.
func WhenOut(address uintptr, bytes uint) uint32 {
	return uint32(bytes)<<sizeShift | uint32(address)%largeUnit | out
}

// below returns all ones where bytes is below limit, else 0.
func below(bytes, limit uint) uintptr { return uintptr(int(bytes-limit) >> (bits.UintSize - 1)) }

// A State is that of one block, which it names:
//
//	           Add             Issue
//	      +------------> idle ---------> out
//	free  |               |  <---------   |
//	      +<--------------+    Return     |
//	            Remove
//
//	free   the Ledger has the block, or there is none
//	idle   the pool has it
//	out    a caller of the pool has it
//
// It is one word, 0 while free, and else:
//
//	bits 0-7   the block's address modulo 256
//	bits 8-30  its size in 16 bytes
//	bit  31    it is out
//
// For a given size each unit has a place of its own, and its words differ for any two
// addresses in it, as they do for two sizes: no two slices have one place and one word. So whether a
// slice begins where a block begins, has its size, and the block is out, is one
// comparison, with the whenOut that Find returns. All methods want that.
//
// Who may change the word, and so how it can be changed:
//
//   - free -> idle: the one to whom the Ledger gives the block, alone.
//   - idle -> out: whoever took the block out of the pool, alone: the pool gives a
//     block to one. So Issue only stores.
//   - out -> idle: anybody who calls Return for the block's slice, as many at once
//     as like. So Return compares and swaps, and one of them is accepted.
//   - idle -> free: whoever took the block out of the pool. Remove compares and swaps
//     all the same, so that what is not idle stays as it is.
//
// Return synchronizes before the Issue of the same block: the pool's own Put and Get
// do already, and under the race detector the words do too (race_on.go).
//
// A range that is cut anew has none but free states, which then are the new blocks':
// who still holds a slice of what was a block there is refused, unless just that
// slice is a block again. What no state can tell is that a slice is an old owner's,
// whose block is out again.
type State struct{ word atomics.Uint32 }

const (
	out       = 1 << 31
	sizeShift = 4 // 8 bits up, of which a size in bytes has 4 already
)

// Add makes a free block idle. The caller alone has it.
func (s *State) Add(whenOut uint32) { s.word.Store(whenOut ^ out) }

// Issue makes an idle block one that is out. The caller alone has it. Where
// OrderedStores, a plain store of whenOut does as well.
func (s *State) Issue(whenOut uint32) {
	if raceDetector {
		s.word.Swap(whenOut)
		return
	}
	s.word.Store(whenOut)
}

// Return makes a block idle that is out, and reports whether it was. It reads the word
// first: the states of addresses without blocks may be on memory that is read-only.
func (s *State) Return(whenOut uint32) bool {
	return s.word.Load() == whenOut && s.word.CompareAndSwap(whenOut, whenOut^out)
}

// Remove makes an idle block free, and reports whether it was idle.
func (s *State) Remove(whenOut uint32) bool {
	return s.word.CompareAndSwap(whenOut^out, 0)
}

// Out reports whether the block is out.
func (s *State) Out(whenOut uint32) bool { return s.word.Load() == whenOut }

// Free reports whether the block is neither idle nor out.
func (s *State) Free(whenOut uint32) bool { return s.word.Load()|out != whenOut }

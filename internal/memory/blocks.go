package memory

import (
	"math/bits"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// Blocks finds the states of the blocks in a range of addresses, by arithmetic alone. A
// pool does so on every Get and Put, where every load and every branch on the size
// shows. So Blocks is not an interface, and a pool holds it by value. It is read-only
// once made; copies share one table of states. The zero Blocks finds nothing.
//
// The table has a State for every 64 bytes of the range, in ascending order, for blocks
// of less than 4 KiB; and, from its end backward, one for every 256 bytes, for larger
// blocks. No block is smaller than its unit, so the unit in which a block begins is its
// own.
type Blocks struct {
	base   uintptr // where the range begins, a multiple of 256
	states *State  // the first; a slice would take the pool's Get one more word
	count  uintptr // of states
}

const (
	// MinBlock is the size of the smallest block in bytes, MaxBlock that of the
	// largest. Multiple divides every size and every address.
	MinBlock = unit
	MaxBlock = 64 << 20
	Multiple = 16

	// Each run of blocks of one size begins at a multiple of Group, in bytes from the
	// start of the range. A group has GroupStates states for small blocks, and
	// GroupLarge for large ones.
	Group       = 64 << 10
	GroupStates = Group / unit
	GroupLarge  = Group / largeUnit

	unit      = 64
	largeUnit = 256
	large     = 4 << 10 // bytes of the smallest large block
)

// Two processors whose blocks are neighbours should not share the cache line of their
// states: that makes Get and Put five times as expensive. A line, 64 bytes, has 16
// states. So blocks of spread bytes (16 units) and more never share one. Smaller ones
// are spread over the 64 lines of their group. The number of a unit in its group has
// six bits for the line and below them four for the place in it, and the four are added
// to the line, without carry, two bits up. So neighbours, whose lines are 0 or 1 apart,
// land on different lines: two places of one line differ above the line's two lowest
// bits, and the next line differs in the lowest. No two units of one size share a
// state.
const (
	spread      = 16 * unit
	placeMask   = 15
	placeSpread = 4 + 2
)

// NewBlocks returns the Blocks of a range that begins at base, with a table of states
// that are all free.
func NewBlocks(base uintptr, states []State) Blocks {
	return Blocks{base, unsafe.SliceData(states), uintptr(len(states))}
}

// StatesOf returns how many states a range needs that begins with count blocks of a
// size and has no other blocks.
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

// Find returns the state in the place of a block of the given size that begins at an
// address, or nil if the table has no such place. If no such block exists, the state
// may be another block's: only its word can tell. The address may be any; the size is
// one that a block can have.
func (b *Blocks) Find(address uintptr, bytes uint) *State {
	notLarge := below(bytes, large)
	place := (address - b.base) >> ((8 + notLarge*2) & 31) // by unit or largeUnit
	place ^= place << placeSpread & (placeMask << placeSpread) & below(bytes, spread)
	if notLarge == 0 {
		place = b.count + ^place // - 1 - place
	}
	if place >= b.count {
		return nil
	}
	return (*State)(unsafe.Add(unsafe.Pointer(b.states), place*unsafe.Sizeof(*b.states)))
}

// WhenOut returns the state's word of the block of a size that begins at an address,
// while that block is out.
func WhenOut(address uintptr, bytes uint) uint32 {
	return uint32(bytes)<<sizeShift | uint32(address)%largeUnit | out
}

// below returns all ones if bytes is below limit, else 0.
func below(bytes, limit uint) uintptr { return uintptr(int(bytes-limit) >> (bits.UintSize - 1)) }

// A State is the state of one block, which it identifies:
//
//	           Add             Issue
//	      +------------> idle ---------> out
//	free  |               |  <---------   |
//	      +<--------------+    Return     |
//	            Remove
//
//	free   the Ledger has the block, or there is no block
//	idle   the pool has it
//	out    a caller of the pool has it
//
// It is one word, 0 while free, and otherwise:
//
//	bits 0-7   the block's address modulo 256
//	bits 8-30  its size in 16 bytes
//	bit  31    it is out
//
// For a given size each unit has a place of its own, and its words differ for any two
// addresses in it, as they do for two sizes: no two slices share both place and word.
// So one comparison, with the result of [WhenOut], tells whether a slice begins where a
// block begins, has its size, and the block is out. All methods take that result.
//
// Each change of the word belongs to:
//
//   - free -> idle: the caller to which the Ledger gives the block, alone.
//   - idle -> out: the goroutine that took the block out of the pool, alone: the pool
//     gives a block to one. So Issue only stores.
//   - out -> idle: any caller of Return for the block's slice, and several may call it at
//     once. So Return compares and swaps, and one of them is accepted.
//   - idle -> free: the goroutine that took the block out of the pool. Remove compares
//     and swaps nevertheless, so that a state that is not idle stays as it is.
//
// Return synchronizes before the Issue of the same block: the pool's own Put and Get do
// so already, and under the race detector the words do too (race_on.go).
//
// When a range is cut anew, all its states are free, and then belong to the new blocks.
// A Put of a slice of a former block is refused, unless that very slice is a block
// again. No state can tell that a slice belongs to a previous owner of a block that is
// out again.
type State struct{ word atomics.Uint32 }

const (
	out       = 1 << 31
	sizeShift = 4 // 8 bits up; a size in bytes is a multiple of 16, 4 bits of it
)

// Add makes a free block idle. No other goroutine has it.
func (s *State) Add(whenOut uint32) { s.word.Store(whenOut ^ out) }

// Issue marks an idle block as out. No other goroutine has it. Where OrderedStores is
// true, a plain store of whenOut has the same effect.
func (s *State) Issue(whenOut uint32) {
	if raceDetector {
		s.word.Swap(whenOut)
		return
	}
	s.word.Store(whenOut)
}

// Return makes a block idle that is out, and reports whether it was out. It reads the
// word first: the states of addresses without blocks may be in read-only memory.
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

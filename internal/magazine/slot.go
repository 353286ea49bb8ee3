package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// A slot is one class in one shard. It belongs to the goroutine that is pinned to the
// shard's P (or holds the shard's guard), which reads and writes it without atomics.
//
// It has 64 bytes on 64-bit machines. A Get and a Put that follow each other touch no
// other line than the engine's first, this one, and the size table's. That matters when
// callers fill the cache with what they read and write, which is what they want blocks
// for.
type slot struct {
	hot    unsafe.Pointer // the block that was put back last, while state is full
	loaded *magazine      // the other blocks; nil when room is 0
	// previous is either full or empty, so that Gets and Puts that alternate at a
	// boundary swap it with loaded and stay off the transfer cache. It is nil until
	// needed.
	previous *magazine
	transfer *transfer // of the class; nil if the class has no slots

	// hits and puts count the operations served here since the shard was made. Their
	// owner writes them plainly while a reader of statistics loads them: the one
	// exception to typed atomics. See counts.go.
	hits, puts counter

	// array is set in the first slot of an array only, which belongs to no class and
	// leads to the rest of the array.
	array *array

	// n is the number of blocks in loaded, and room the number of places that are
	// reserved for it and for hot together. Unless state is shut, n < room.
	n, room uint8
	// The same for previous: previousN is 0 or previousRoom.
	previousN, previousRoom uint8

	rounds uint8 // of a magazine of the class

	state hotState

	_ [64 - 5*unsafe.Sizeof(uintptr(0)) - 2*unsafe.Sizeof(counter{}) - 6]byte
}

// SlotSize is the size of a slot in bytes. On 64-bit machines that is one cache line.
const SlotSize = 64

var _ = [1]struct{}{}[unsafe.Sizeof(slot{})-SlotSize]

// A hotState says whether a slot has a hot block, and if not, whether it may have one.
// It is one word for a Get and a Put to test and set, where hot, n and room would be
// three.
type hotState uint8

const (
	shut hotState = iota // no hot block, and no place is reserved for one
	open                 // no hot block, and a place for one
	full                 // a hot block
)

// Take pops the hot block or one of the loaded magazine, or returns nil if there is none: then
// Pop may find one. All that it needs lies in two lines of code and in few of data, because under
// intermittent traffic these are cold, and then each line costs as much as a hit. So it
// is one function, not inlined: inlining it in part made the P99 of Get in mixed
// traffic half as long again (cmd/dewpond: bench churn). It calls nothing but the collector's
// write barrier, so its frame is two instructions.
//
// hot keeps pointing to the block until the slot's next operation: clearing it here
// would cost a tenth of a Get and Put. If no operation follows, ClearStale clears it.
//
//go:noinline
//go:nosplit
func (s *slot) Take() unsafe.Pointer {
	atomics.Touch(s)
	if s.state == full {
		s.state = open
		s.hits.count()
		return s.hot
	}
	if s.n == 0 {
		return nil
	}
	s.n--
	at := s.loaded.item(uint16(s.n))
	block := *at
	*at = nil
	s.hot, s.state = nil, open
	s.hits.count()
	return block
}

// Pop is Take, and where that finds nothing it exchanges the loaded magazine, for the previous one or
// for one of the class's transfer cache. It returns nil if neither is full.
func (s *slot) Pop() unsafe.Pointer {
	if block := s.Take(); block != nil {
		return block
	}
	if s.previousN == 0 {
		delay(seamRefill)
		if s.previousRoom != s.rounds || s.transfer == nil {
			return nil
		}
		m := s.transfer.exchange(emptyMark(s.previous))
		if m == nil {
			return nil
		}
		s.previous, s.previousN = m, s.rounds
	}
	s.swap()
	return s.Take()
}

// Hits returns how many blocks were taken from the slot, from a random number on if
// Config.Sampled is set. Only the slot's owner may call it. It is not inlined: if it were, Get would
// keep what the slot's address is made of, and not the address alone, for pools that never ask.
//
//go:noinline
//go:nosplit
func (s *slot) Hits() uintptr { return s.hits.low }

// Give makes a block the hot one, and reports whether there was a place for it. If not,
// GiveMore may find one.
func (s *slot) Give(block unsafe.Pointer) bool {
	atomics.Touch(s)
	if s.state != open {
		return false
	}
	s.hot = block
	s.state = full
	s.puts.count()
	return true
}

// GiveMore pushes a block into the magazines, and reports whether they, or the class's
// transfer cache, had a place for it. The caller ensures that the slot has a hot block
// or no reserved place.
//
//go:nosplit
func (s *slot) GiveMore(block unsafe.Pointer) bool {
	if s.n+1 >= s.room {
		if s.previousN == s.previousRoom {
			delay(seamUnload)
			if s.previousRoom != s.rounds || s.transfer == nil {
				return false
			}
			m := s.transfer.exchange(fullMark(s.previous))
			if m == nil {
				return false
			}
			s.previous, s.previousN = m, 0
		}
		s.loadHot()
		s.swap()
		s.hot, s.state = block, full
		s.puts.count()
		return true
	}
	*s.loaded.item(uint16(s.n)) = block
	s.n++
	s.puts.count()
	return true
}

// loadHot moves the hot block into the loaded magazine, which has a place for it.
func (s *slot) loadHot() {
	if s.state == full {
		*s.loaded.item(uint16(s.n)) = s.hot
		s.n++
	}
	s.hot, s.state = nil, shut
}

// swap makes the previous magazine the loaded one. The slot is settled.
func (s *slot) swap() {
	s.loaded, s.previous = s.previous, s.loaded
	s.n, s.previousN = s.previousN, s.n
	s.room, s.previousRoom = s.previousRoom, s.room
}

// widens reports whether the loaded magazine has fewer places than it could.
func (s *slot) widens() bool { return s.loaded != nil && s.room < s.rounds }

package memory

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// A BlockSet is a set of blocks at arbitrary addresses, each with its class. It keeps
// no block alive. The zero BlockSet is empty; it must not be copied. All methods are
// safe for concurrent use.
//
// It is an open addressing table of one word for each block. Add and Remove take a
// lock: a pool calls them where it allocates or releases a block. Has, which is in
// every Put, takes none: it reads one table, which may have been replaced by then. A
// caller that asks for a block in the set has the block from a goroutine that saw Add
// return, so it sees that Add's table or a later one, and the block is in all of these
// until Remove. For a block that is not in the set no table has the word, or the block
// was in the set a moment ago.
type BlockSet struct {
	table atomic.Pointer[blockTable] // replaced under mu
	mu    sync.Mutex
	count int // number of blocks
	used  int // places that are not empty
}

// A blockTable has a power of two of places. The place of a block is the first free one
// from its home on, so every place before the block's own is used.
type blockTable struct {
	shift  uint // of the hash, which has 64 bits
	places []atomic.Uint64
}

const (
	empty = 0    // never used; a search ends here
	gone  = 0xff // a block was here

	minPlaces = 32
)

// heapMultiple divides every address of a block: Go puts a word before one that has
// pointers.
const heapMultiple = 8

// word is a block's entry in the table. No address of the Go heap is 0 or has any of the
// four highest bits of 64 set: that leaves seven bits for the class.
func word(address uintptr, class uint8) uint64 { return uint64(address)<<4 | uint64(class) }

// home returns where a search for a word begins.
func (t *blockTable) home(word uint64) int { return int(word * 0x9e3779b97f4a7c15 >> t.shift) }

// find returns the place of a word, or -1.
func (t *blockTable) find(word uint64) int {
	last := len(t.places) - 1
	for at := t.home(word); ; at++ {
		switch t.places[at&last].Load() {
		case empty:
			return -1
		case word:
			return at & last
		}
	}
}

// Has reports whether the set has a block of a class that begins at an address.
func (s *BlockSet) Has(address uintptr, class uint8) bool {
	t := s.table.Load()
	return t != nil && address%heapMultiple == 0 && t.find(word(address, class)) >= 0
}

// Add adds a block that the set does not have. Its class is below 128.
func (s *BlockSet) Add(address uintptr, class uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table.Load()
	if t == nil || 2*(s.used+1) > len(t.places) {
		t = s.resizeLocked(t)
	}
	if t.add(word(address, class)) {
		s.used++
	}
	s.count++
}

// add puts a word where its search ends, or at the first place on the way whose block
// is gone. It reports whether the place was never used.
func (t *blockTable) add(word uint64) (fresh bool) {
	last := len(t.places) - 1
	for at := t.home(word); ; at++ {
		if old := t.places[at&last].Load(); old == empty || old == gone {
			t.places[at&last].Store(word)
			return old == empty
		}
	}
}

// Remove removes a block and reports whether the set had it.
func (s *BlockSet) Remove(address uintptr, class uint8) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table.Load()
	if t == nil || address%heapMultiple != 0 {
		return false
	}
	at := t.find(word(address, class))
	if at < 0 {
		return false
	}
	if t.places[(at+1)&(len(t.places)-1)].Load() == empty { // no search continues from here
		t.places[at].Store(empty)
		s.used--
	} else {
		t.places[at].Store(gone)
	}
	s.count--
	if len(t.places) > minPlaces && 16*s.count < len(t.places) {
		s.resizeLocked(t)
	}
	return true
}

// resizeLocked replaces the table by one that the blocks, and one more, fill to between
// an eighth and a quarter. The new table has no gone places. The caller holds s.mu.
func (s *BlockSet) resizeLocked(old *blockTable) *blockTable {
	size := bits.Len(uint(max(minPlaces/4, s.count+1)-1)) + 2
	t := &blockTable{uint(64 - size), make([]atomic.Uint64, 1<<size)}
	if old != nil {
		for i := range old.places {
			if word := old.places[i].Load(); word != empty && word != gone {
				t.add(word)
			}
		}
	}
	s.used = s.count
	s.table.Store(t)
	return t
}

// Bytes returns the size of the table in bytes.
func (s *BlockSet) Bytes() int {
	if t := s.table.Load(); t != nil {
		return 8 * len(t.places)
	}
	return 0
}

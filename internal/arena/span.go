package arena

import (
	"math/bits"
	"sync/atomic"
)

// A layout is how spans of one block size are cut. Sizes up to 8 KiB share one
// granule, those up to 32 KiB come in eights, and a larger block has a span to
// itself, so that it can be decommitted alone. What a span has left over at its end
// is address space, not memory: nothing touches it.
type layout struct {
	size     int    // of a block
	granules int    // of a span
	count    uint32 // blocks of a span

	// magic is 2^32/size, rounded up by less than 1. An offset of a whole number k
	// of blocks, times magic, is k * 2^32 and less than k * size, which is the
	// offset, more. That is below 2^32, for a span has at most 64 MiB: so the upper
	// half of the product is k. For any other offset k * size is not the offset,
	// whatever k comes out.
	magic uint64

	// Two processors whose blocks are neighbours should not share the cache line of
	// their states: it makes Issue and Return five times as dear. So a block has
	// 1<<spread words of state, of which it uses the first: as many as come to a
	// sixteenth of its size, up to a line. And the states of blocks side by side are
	// on different lines, of which there are 1<<lines.
	spread, lines uint8
}

// A line of states is 64 bytes, what most processors fetch at once.
const (
	lineWords = 1 << lineShift
	lineShift = 4
)

const (
	sharedSpan = granule / 8 // the largest size of which one granule has eight
	eightSpan  = 32 << 10    // the largest size that comes in eights
)

func layoutOf(size int) layout {
	bytes := granule
	switch {
	case size > eightSpan:
		bytes = size
	case size > sharedSpan:
		bytes = 8 * size
	}
	l := layout{size: size, granules: (bytes + granule - 1) / granule, magic: (1<<32-1)/uint64(size) + 1}
	l.count = uint32(l.granules * granule / size)
	if size > eightSpan {
		l.count = 1
	}
	l.spread = uint8(bits.Len(uint(min(max(size/64, 1), lineWords))) - 1)
	l.lines = uint8(bits.Len32((l.count<<l.spread+lineWords-1)>>lineShift - 1))
	return l
}

// slot returns which block begins at an offset, if one does.
func (l *layout) slot(offset uint32) (slot uint32, ok bool) {
	slot = uint32(uint64(offset) * l.magic >> 32)
	return slot, slot < l.count && slot*uint32(l.size) == offset
}

// word returns where the state of a block is.
func (l *layout) word(slot uint32) uint32 {
	return slot&(1<<l.lines-1)<<lineShift + slot>>l.lines<<l.spread
}

// A span is a run of granules, cut into blocks of one size.
type span struct {
	layout
	base   uintptr
	memory []byte
	states []atomic.Uint32 // at layout.word

	// The arena's mu guards the rest.
	first int      // granule
	room  []uint64 // a bit for each block: 1 where it is free
	held  uint32   // blocks that are not free
	fresh uint32   // no block from this one on was handed out since the span began: they are zero
}

func newSpan(l layout, first int) *span {
	s := &span{
		layout: l,
		first:  first,
		states: make([]atomic.Uint32, lineWords<<l.lines),
		room:   make([]uint64, (l.count+63)/64),
	}
	for slot := range l.count {
		s.room[slot/64] |= 1 << (slot % 64)
	}
	return s
}

// attach gives a new span its memory, all zero.
func (s *span) attach(memory []byte) {
	s.memory = memory
	s.base = addressOf(memory)
}

// block returns the block in a place.
func (s *span) block(slot uint32) []byte {
	from := int(slot) * s.size
	return s.memory[from : from+s.size : from+s.size]
}

func (s *span) state(slot uint32) *atomic.Uint32 { return &s.states[s.word(slot)] }

func (s *span) full() bool { return s.held == s.count }

// take returns the first free block, which there must be, and whether it may hold
// anything but zeros.
func (s *span) take() (slot uint32, dirty bool) {
	for i, w := range s.room {
		if w != 0 {
			slot = uint32(i*64 + bits.TrailingZeros64(w))
			s.room[i] = w & (w - 1)
			break
		}
	}
	s.held++
	return slot, slot < s.fresh
}

// give takes a block back.
func (s *span) give(slot uint32) {
	s.room[slot/64] |= 1 << (slot % 64)
	s.held--
}

// wrote notes that a fresh block is handed out, and returns how many bytes of pages
// its owner may be the first to touch.
func (s *span) wrote(slot uint32) int64 {
	before := s.committed()
	s.fresh = slot + 1
	return s.committed() - before
}

// committed returns how many bytes of the span may be resident: its pages up to the
// last block that was handed out.
func (s *span) committed() int64 {
	return int64((int(s.fresh)*s.size + pageSize - 1) / pageSize * pageSize)
}

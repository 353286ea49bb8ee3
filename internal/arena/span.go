package arena

import (
	"math/bits"

	"github.com/dewpond/dewpond/internal/memory"
)

// A layout is how spans of one block size are cut. Sizes up to 8 KiB share one granule,
// sizes up to 32 KiB come in eights, and a larger block has a span to itself, so that
// it can be decommitted alone. What is left over at the end of a span is address space,
// not memory: nothing touches it.
type layout struct {
	size     int    // of a block
	stride   int    // from block to block: the size, or more if blocks are isolated
	lead     int    // offset of the first block
	granules int    // of a span
	count    uint32 // blocks of a span

	// magic is 2^32/stride, rounded up by less than 1. For an offset of k whole
	// strides, offset*magic is k * 2^32 plus less than k*stride, which is the offset.
	// The offset is below 2^32, because a span has little more than 64 MiB: so the
	// upper half of the product is k. For any other offset, k*stride is not the offset,
	// whatever k comes out.
	magic uint64
}

const (
	sharedSpan = granule / 8 // the largest stride of which eight fit into one granule
	eightSpan  = 32 << 10    // the largest stride that comes in eights
)

func layoutOf(size int) layout { return cut(size, size, 0) }

// isolatedLayoutOf is layoutOf for isolated blocks (isolate.go).
func isolatedLayoutOf(size int) layout {
	pages := pageUp(size)
	return cut(size, pages+pageSize, pages-size)
}

func cut(size, stride, lead int) layout {
	bytes := granule
	switch {
	case stride > eightSpan:
		bytes = stride
	case stride > sharedSpan:
		bytes = 8 * stride
	}
	l := layout{size: size, stride: stride, lead: lead, granules: (bytes + granule - 1) / granule, magic: (1<<32-1)/uint64(stride) + 1}
	l.count = uint32(l.granules * granule / stride)
	if stride > eightSpan {
		l.count = 1
	}
	return l
}

// at returns the offset at which a block begins.
func (l *layout) at(slot uint32) (offset int) { return l.lead + int(slot)*l.stride }

// slot returns which block begins at an offset, and whether one does.
func (l *layout) slot(offset uint32) (slot uint32, ok bool) {
	offset -= uint32(l.lead) // an offset below the lead becomes larger than any span
	slot = uint32(uint64(offset) * l.magic >> 32)
	return slot, slot < l.count && slot*uint32(l.stride) == offset
}

// A span is a run of granules, cut into blocks of one size.
type span struct {
	layout
	base   uintptr
	memory []byte
	blocks memory.Blocks // finds the states of its blocks, in the table or in its own

	// These change only while no goroutine has a block of the span.
	fenced fencing // what unfence has to undo
	guards bool    // Guard can be called

	// The arena's mu guards the rest.
	first int      // granule
	room  []uint64 // one bit for each block: 1 if it is free
	inUse uint32   // blocks that are not free
	fresh uint32   // blocks from this one on have not been handed out since the span began: they are zero
}

func newSpan(l layout, first int) *span {
	s := &span{
		layout: l,
		first:  first,
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
	from := s.at(slot)
	return s.memory[from : from+s.size : from+s.size]
}

// state returns the state of a block, and its word while the block is out.
func (s *span) state(slot uint32) (state *memory.State, whenOut uint32) {
	address, bytes := s.base+uintptr(s.at(slot)), uint(s.size)
	return s.blocks.Find(address, bytes), memory.WhenOut(address, bytes)
}

// remove makes an idle block free, and reports whether it was idle.
func (s *span) remove(slot uint32) bool {
	state, whenOut := s.state(slot)
	return state.Remove(whenOut)
}

// free reports whether a block is neither idle nor out.
func (s *span) free(slot uint32) bool {
	state, whenOut := s.state(slot)
	return state.Free(whenOut)
}

func (s *span) full() bool { return s.inUse == s.count }

// take returns the first free block, which must exist, and whether it may hold anything
// but zeros.
func (s *span) take() (slot uint32, dirty bool) {
	for i, w := range s.room {
		if w != 0 {
			slot = uint32(i*64 + bits.TrailingZeros64(w))
			s.room[i] = w & (w - 1)
			break
		}
	}
	s.inUse++
	return slot, slot < s.fresh
}

// give takes a block back.
func (s *span) give(slot uint32) {
	s.room[slot/64] |= 1 << (slot % 64)
	s.inUse--
}

// wrote records that a fresh block is handed out, and returns how many bytes of pages
// its owner may be the first to touch.
func (s *span) wrote(slot uint32) int64 {
	before := s.committed()
	s.fresh = slot + 1
	return s.committed() - before
}

// committed returns how many bytes of the span may be resident: its pages up to the
// last block that was handed out, without fences.
func (s *span) committed() int64 {
	if s.stride > s.size {
		return int64(int(s.fresh) * (s.stride - pageSize))
	}
	return int64(pageUp(int(s.fresh) * s.size))
}

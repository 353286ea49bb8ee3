package magazine

import (
	"math/bits"
	"unsafe"
)

// MaxRounds is the most blocks that one magazine holds. A power of two, so that
// a masked index needs no bounds check and pinned code cannot panic.
const MaxRounds = 64

// A magazine is a fixed array of idle blocks (Bonwick and Adams, "Magazines and
// Vmem", USENIX 2001). It is always in one of four places, and whoever took it
// from there owns all its fields but next: a slot of a shard, a depot's full
// stack, a depot's empty stack, or the hands of one goroutine.
type magazine struct {
	// next is the table index of the magazine below this one in a stack, 0 at
	// the bottom. Atomic because a goroutine that has lost the race to pop this
	// magazine may still read it.
	next atomicUint32

	// index is this magazine's own place in the table. It never changes.
	index uint32

	// n is the number of blocks and room the number of places that are
	// reserved within the pool's bounds: n <= room <= rounds. While the
	// magazine is a slot's loaded one, the slot holds both and these are stale.
	n, room uint32

	// items[:n] are the blocks. Outside the shards the rest is nil, so that a
	// block that its owner loses is collected.
	items [MaxRounds]unsafe.Pointer
}

const (
	indexBits = 24
	indexMask = 1<<indexBits - 1
)

// A table turns the index of a magazine into its address, because a stack's
// head has no room for an address and a generation in one word that can be
// swapped. Lookups are lock-free; adding and removing take the mutex, and happen
// only where memory is allocated or let go anyway.
type table struct {
	chunks [indexBits - chunkBits + 1]atomicPointer[[]atomicPointer[magazine]]

	mu   mutex // held for a few instructions and one allocation
	free []uint32
	last uint32
}

// chunkBits: the first chunk has 64 places and each next one twice as many.
const chunkBits = 6

// place returns the chunk of an index, which is never 0, and the place in it.
func place(index uint32) (chunk, offset uint32) {
	i := index - 1 + 1<<chunkBits
	chunk = uint32(bits.Len32(i)) - chunkBits - 1
	return chunk, i - 1<<(chunk+chunkBits)
}

// at returns the magazine at an index, or nil when it has been removed. The
// index came from a magazine that was added, so its chunk exists and both
// lookups are within bounds.
func (t *table) at(index uint32) *magazine {
	chunk, offset := place(index)
	return (*t.chunks[chunk].Load())[offset].Load()
}

// below returns the magazine that is next after one of those that popAll took, or
// nil after the last.
func (t *table) below(m *magazine) *magazine {
	if index := m.next.Load(); index != 0 {
		return t.at(index)
	}
	return nil
}

// add makes an empty magazine, or returns nil when 16 million exist.
func (t *table) add() *magazine {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := new(magazine)
	if last := len(t.free) - 1; last >= 0 {
		m.index, t.free = t.free[last], t.free[:last]
	} else if t.last < indexMask {
		t.last++
		m.index = t.last
	} else {
		return nil
	}
	chunk, offset := place(m.index)
	if t.chunks[chunk].Load() == nil {
		places := make([]atomicPointer[magazine], 1<<(chunk+chunkBits))
		t.chunks[chunk].Store(&places)
	}
	(*t.chunks[chunk].Load())[offset].Store(m)
	return m
}

// remove lets a magazine go that the caller owns; its index is given out again.
// A goroutine that is about to lose the race to pop it may find nil at the index
// or the next magazine there: its swap fails either way, by the generation.
func (t *table) remove(m *magazine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	chunk, offset := place(m.index)
	(*t.chunks[chunk].Load())[offset].Store(nil)
	t.free = append(t.free, m.index)
}

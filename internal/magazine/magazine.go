package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// MaxRounds is the most blocks that one magazine holds.
const MaxRounds = 64

// A magazine is a fixed array of idle blocks (Bonwick and Adams, "Magazines and
// Vmem", USENIX 2001). It is always in one of five places, and whoever took it
// from there owns all its fields but next: a slot of a shard, a cell of a transfer
// cache, a depot's full stack, a depot's empty stack, or the hands of one goroutine.
//
// This is its head. Its items follow in the same allocation: see newMagazine.
type magazine struct {
	// next is the table index of the magazine below this one in a stack, 0 at
	// the bottom. Atomic because a goroutine that has lost the race to pop this
	// magazine may still read it.
	next atomics.Uint32

	// index is this magazine's own place in the table. It never changes.
	index uint32

	// n is the number of blocks and room the number of places that are
	// reserved within the pool's bounds: n <= room <= capacity. In a depot and
	// in somebody's hands they are true. A slot holds the counts of its magazines
	// itself, and a cell says what they are, so there these are stale.
	n, room uint16

	// capacity is how many items there are. It never changes.
	capacity uint8
}

// A sized magazine is a magazine with its items. Items that are no block are nil, so
// that a block that its owner loses is collected.
type sized[A any] struct {
	magazine
	items A
}

// The items of every sized magazine are in the same place.
const firstItem = unsafe.Offsetof(sized[[1]unsafe.Pointer]{}.items)

// newMagazine makes a magazine with places for so many blocks at least, up to
// MaxRounds.
func newMagazine(places int) *magazine {
	switch {
	case places <= 1:
		return newSized[[1]unsafe.Pointer](1)
	case places <= 2:
		return newSized[[2]unsafe.Pointer](2)
	case places <= 4:
		return newSized[[4]unsafe.Pointer](4)
	case places <= 8:
		return newSized[[8]unsafe.Pointer](8)
	case places <= 16:
		return newSized[[16]unsafe.Pointer](16)
	case places <= 32:
		return newSized[[32]unsafe.Pointer](32)
	}
	return newSized[[MaxRounds]unsafe.Pointer](MaxRounds)
}

func newSized[A any](capacity uint8) *magazine {
	m := new(sized[A])
	m.capacity = capacity
	return &m.magazine
}

// bytes is what the magazine takes.
func (m *magazine) bytes() int64 {
	return int64(firstItem + uintptr(m.capacity)*unsafe.Sizeof(unsafe.Pointer(nil)))
}

// item returns the place of block i. The caller knows that i is below the capacity:
// there is no check, which could panic in a section.
func (m *magazine) item(i uint16) *unsafe.Pointer {
	atomics.Touch(m)
	return (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(m), firstItem+uintptr(i)*unsafe.Sizeof(unsafe.Pointer(nil))))
}

// add puts a block on top. There is a place for it.
func (m *magazine) add(block unsafe.Pointer) {
	*m.item(m.n) = block
	m.n++
	m.room++
}

// remove takes the uppermost block and its place. There is one.
func (m *magazine) remove() (block unsafe.Pointer) {
	m.n--
	m.room--
	at := m.item(m.n)
	block, *at = *at, nil
	return block
}

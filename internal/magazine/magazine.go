package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// MaxRounds is the most blocks that one magazine holds.
const MaxRounds = 64

// A magazine is a fixed array of idle blocks, as in Bonwick and Adams, "Magazines and Vmem"
// (https://www.usenix.org/legacy/event/usenix01/full_papers/bonwick/bonwick_html/). It is
// always in one of five places: a slot of a shard, a cell of a transfer cache, a depot's
// full stack, a depot's empty stack, or the hands of one goroutine. The goroutine that takes
// it from there owns all its fields but next.
//
// This struct is its head. The items follow in the same allocation: see newMagazine.
type magazine struct {
	// next is the table index of the magazine below this one in a stack, 0 at the
	// bottom. It is atomic because a goroutine that has lost the race to pop this
	// magazine may still read it.
	next atomics.Uint32

	// index is this magazine's own place in the table. It never changes.
	index uint32

	// n is the number of blocks, and room the number of places that are reserved within
	// the pool's bounds: n <= room <= capacity. They are valid in a depot and in the
	// hands of a goroutine. A slot holds the counts of its magazines itself and a cell
	// implies them, so in those two places n and room are stale.
	n, room uint16

	// capacity is the number of items. It never changes.
	capacity uint8
}

// A sized magazine is a magazine with its items. Items that hold no block are nil, so
// that the collector can free a block that its owner loses.
type sized[A any] struct {
	magazine
	items A
}

// firstItem is the offset of the items. It is the same in every sized magazine.
const firstItem = unsafe.Offsetof(sized[[1]unsafe.Pointer]{}.items)

// newMagazine makes a magazine with at least the given number of places, up to
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

// bytes returns the size of the magazine and its items.
func (m *magazine) bytes() int64 {
	return int64(firstItem + uintptr(m.capacity)*unsafe.Sizeof(unsafe.Pointer(nil)))
}

// item returns the place of block i. The caller ensures that i is below the capacity: a
// check here could panic in a section.
func (m *magazine) item(i uint16) *unsafe.Pointer {
	atomics.Touch(m)
	mustHave(m, i)
	return (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(m), firstItem+uintptr(i)*unsafe.Sizeof(unsafe.Pointer(nil))))
}

// add puts a block on top. The caller ensures that there is a place for it.
func (m *magazine) add(block unsafe.Pointer) {
	*m.item(m.n) = block
	m.n++
	m.room++
}

// remove takes the top block and its place. The caller ensures that there is one.
func (m *magazine) remove() (block unsafe.Pointer) {
	m.n--
	m.room--
	at := m.item(m.n)
	block, *at = *at, nil
	return block
}

package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
)

// transferCells is the most magazines that a transfer cache holds: with them it fills
// one cache line, on 64-bit machines.
const transferCells = 8

// A transfer is a class's transfer cache: a few magazines in one cache line, in which
// shards exchange a full magazine for an empty one, by one compare-and-swap. (tcmalloc
// has transfer caches between its caches and the lists that they fill from; the one
// swap that does both halves is ours.) The depot's stacks take what does not fit.
//
// It belongs to one array, so replace drains it with the shards. Blocks in it are like
// those in the shards of other Ps: a Get finds them, while PopExact, Trim and Shed
// first have the array replaced, or the blocks moved to the depot. All its magazines
// have the class's rounds as room, and are full or empty, so an exchange neither
// reserves places nor gives any up.
type transfer struct {
	cells [transferCells]cell
}

// A cell holds a magazine, or nothing. The pointer in it says of which kind the
// magazine is: it points to its count, n, when it is full, and to its index when it is
// empty. So the swap succeeds only on a magazine of the kind that was looked for. If
// the same magazine has left and come back meanwhile, it serves as well.
//
// The swap publishes the contents of the one magazine and takes ownership of the other.
type cell struct{ mark atomics.Pointer[byte] }

func fullMark(m *magazine) *byte  { return (*byte)(unsafe.Pointer(&m.n)) }
func emptyMark(m *magazine) *byte { return (*byte)(unsafe.Pointer(&m.index)) }

// isFull reports whether a mark is a magazine's full mark. Magazines start at multiples
// of 8.
func isFull(mark *byte) bool {
	return uintptr(unsafe.Pointer(mark))%8 == unsafe.Offsetof(magazine{}.n)%8
}

var _ = [1]struct{}{}[unsafe.Offsetof(magazine{}.n)%8]         // 0
var _ = [1]struct{}{}[(unsafe.Offsetof(magazine{}.index)%8)-4] // 4

// marked returns the magazine of a mark.
func marked(mark *byte) *magazine {
	if isFull(mark) {
		return (*magazine)(unsafe.Add(unsafe.Pointer(mark), -int(unsafe.Offsetof(magazine{}.n))))
	}
	return (*magazine)(unsafe.Add(unsafe.Pointer(mark), -int(unsafe.Offsetof(magazine{}.index))))
}

// exchange gives a magazine that the caller owns, by its mark, for one of the other
// kind. It returns nil if it finds none, or if other goroutines are faster.
//
//go:nosplit
func (t *transfer) exchange(mine *byte) *magazine {
	for i := range t.cells {
		mark := t.cells[i].mark.Load()
		if mark != nil && isFull(mark) != isFull(mine) && t.cells[i].mark.CompareAndSwap(mark, mine) {
			return marked(mark)
		}
	}
	return nil
}

// hasFull reports whether a cell has a full magazine.
func (t *transfer) hasFull() bool {
	for i := range t.cells {
		if mark := t.cells[i].mark.Load(); mark != nil && isFull(mark) {
			return true
		}
	}
	return false
}

// fetch takes a full magazine out of a cell, for a slot that has none to give for it,
// or returns nil. The compare-and-swap takes ownership of the magazine.
func (e *Engine) fetch(a *array, class uint8) *magazine {
	rounds := a.rounds[class]
	for i := range a.transfers[class].cells {
		at := &a.transfers[class].cells[i].mark
		if mark := at.Load(); mark != nil && isFull(mark) && at.CompareAndSwap(mark, nil) {
			a.left.Add(-int64(rounds) * int64(e.sizes[class]))
			m := marked(mark)
			atomics.Touch(m)
			m.n, m.room = uint16(rounds), uint16(rounds)
			return m
		}
	}
	return nil
}

// park puts a full magazine that the caller owns into an empty cell, whose
// compare-and-swap publishes it. It reports whether the bounds allow that and a cell
// was empty; if not, the magazine stays with the caller.
func (e *Engine) park(a *array, class uint8, m *magazine) bool {
	rounds := a.rounds[class]
	bytes := int64(rounds) * int64(e.sizes[class])
	if a.left.Add(bytes) <= e.bounds.transferBytes() {
		cells := a.transfers[class].cells[:e.bounds.transferCells(rounds)]
		for i := range cells {
			if at := &cells[i].mark; at.Load() == nil && at.CompareAndSwap(nil, fullMark(m)) {
				return true
			}
		}
	}
	a.left.Add(-bytes)
	return false
}

// unpark puts the magazine of a mark, which the caller has taken from a cell, into the
// depot.
func (e *Engine) unpark(a *array, class int, mark *byte) {
	n, rounds := uint8(0), uint8(a.rounds[class])
	if isFull(mark) {
		n = rounds
	}
	d := e.depots.At(uint8(class))
	a.left.Add(-int64(rounds) * int64(d.size))
	e.store(d, marked(mark), n, rounds)
}

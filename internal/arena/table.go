package arena

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/memory"
)

// A table is the states of all blocks of a space, in the order that memory.Blocks
// needs, in an address range of its own:
//
//	0        of small blocks                           of large ones        len
//	|======================----------------------------------------=========|
//	 a page for each granule ->                <- a quarter of one
//
// It is writable from both ends, as far as the space is opened, and takes memory where
// blocks are or were. All of it is readable while the arena is reachable, even after
// the space is unmapped: a Put of any slice looks there first, and does not wait for a
// Close. Where there is no block it is zero. The zero table belongs to a space without
// a table.
type table struct {
	sys    system
	memory []byte
}

// The bytes of a granule's states in either part.
const (
	stateBytes = int(unsafe.Sizeof(memory.State{}))
	smallPart  = granule / memory.Group * memory.GroupStates * stateBytes
	largePart  = granule / memory.Group * memory.GroupLarge * stateBytes
)

func (t *table) reserve(sys system, granules int) (err error) {
	if sys.table == nil {
		return nil
	}
	t.sys = sys
	t.memory, err = sys.table(pageUp(granules*smallPart) + pageUp(granules*largePart))
	return err
}

func (t *table) exists() bool { return t.memory != nil }

// states returns the table as a slice for memory.NewBlocks.
func (t *table) states() []memory.State {
	return unsafe.Slice((*memory.State)(unsafe.Pointer(unsafe.SliceData(t.memory))), len(t.memory)/stateBytes)
}

// open makes the states of granules from first up to end writable, and with them the
// states on the same pages.
func (t *table) open(first, end int) error {
	if !t.exists() {
		return nil
	}
	if err := t.sys.open(t.memory[pageDown(first*smallPart):pageUp(end*smallPart)]); err != nil {
		return err
	}
	last := len(t.memory)
	return t.sys.open(t.memory[last-pageUp(end*largePart) : last-pageDown(first*largePart)])
}

// decommit gives the memory of the states of granules to the system, except pages that
// hold states of other granules too. All states of these granules are free.
func (t *table) decommit(first, end int) error {
	if !t.exists() {
		return nil
	}
	if from, to := pageUp(first*smallPart), pageDown(end*smallPart); from < to {
		if err := t.sys.decommit(t.memory[from:to]); err != nil {
			return err
		}
	}
	last := len(t.memory)
	if from, to := pageUp(first*largePart), pageDown(end*largePart); from < to {
		return t.sys.decommit(t.memory[last-to : last-from])
	}
	return nil
}

// unmapAfter unmaps the table once the arena is unreachable.
func (t *table) unmapAfter(a *Arena) {
	drop, all := t.sys.dropTable, t.memory
	a.lost = atomics.NewWitness(func() {
		_ = drop(all) // no caller is left to return an error to
	})
}

func (t *table) unmap() error {
	if !t.exists() {
		return nil
	}
	return t.sys.dropTable(t.memory)
}

func pageDown(bytes int) int { return bytes &^ (pageSize - 1) }
func pageUp(bytes int) int   { return pageDown(bytes + pageSize - 1) }

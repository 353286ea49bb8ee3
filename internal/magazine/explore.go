//go:build dewpond_explore

package magazine

import "unsafe"

// mustExist panics on a section that would read memory behind the array.
func mustExist(x section) {
	if x.id >= int(x.first.array.procs) {
		panic("FOUND a section that uses a shard its array does not have")
	}
}

// mustHave panics on an item behind the end of its magazine: an engine with a seeded bug
// may come there, and a read of that memory sometimes ends the process instead of
// finding the bug.
func mustHave(m *magazine, i uint16) {
	if i >= uint16(m.capacity) {
		panic("FOUND an item that its magazine does not have")
	}
}

// Recover returns a block of the second tier, or nil.
func (e *Engine) Recover(class uint8) unsafe.Pointer { return e.recover(class) }

// None returns the slot that all sections without a shard share, and that nothing
// writes.
func (e *Engine) None() unsafe.Pointer { return unsafe.Pointer(&e.none) }

package arena

import "github.com/dewpond/dewpond/internal/memory"

// Return takes a block back from a caller of the pool. owned reports whether b starts
// where a block of this arena starts and has its cap; accepted, whether the block was
// out and is now idle. If several goroutines return one block at once, exactly one is
// accepted. A block that is owned and not accepted was returned twice.
//
// Once Decommit has released the block's span, the block is no longer owned.
func (a *Arena) Return(b []byte) (owned, accepted bool) {
	s, slot := a.find(b)
	if s == nil {
		return false, false
	}
	state, whenOut := s.state(slot)
	return true, state.Return(whenOut)
}

// Issue marks an idle block as out. The caller has it from Alloc or took it out of the
// pool, and no other goroutine has it. A slice that is no block is ignored.
func (a *Arena) Issue(b []byte) {
	if s, slot := a.find(b); s != nil {
		state, whenOut := s.state(slot)
		state.Issue(whenOut)
	}
}

// Blocks returns the states of all blocks, if the memory is mapped and has a table of
// them. They stay readable, even after Close, while the arena is reachable.
func (a *Arena) Blocks() memory.Blocks { return a.blocks }

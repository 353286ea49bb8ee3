package arena

import "github.com/dewpond/dewpond/internal/memory"

// Return takes a block from a caller of the pool. owned reports whether b starts
// where a block of this arena starts and has its cap; accepted, whether it was out
// and is now idle. Of several that return one block at once exactly one is accepted.
// A block that is owned and not accepted was returned twice.
//
// Once Decommit has let the block's span go, what was a block is no longer owned.
func (a *Arena) Return(b []byte) (owned, accepted bool) {
	s, slot := a.find(b)
	if s == nil {
		return false, false
	}
	state, whenOut := s.state(slot)
	return true, state.Return(whenOut)
}

// Issue makes an idle block one that is out. Its caller has it from Alloc or took it
// out of the pool, and is the only one. What is no block is ignored.
func (a *Arena) Issue(b []byte) {
	if s, slot := a.find(b); s != nil {
		state, whenOut := s.state(slot)
		state.Issue(whenOut)
	}
}

// Blocks returns the states of all blocks, if the memory is mapped and has a table of
// them. They stay readable, after Close too, while the arena can be reached.
func (a *Arena) Blocks() memory.Blocks { return a.blocks }

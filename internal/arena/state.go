package arena

// Each block is in one of three states, in one atomic word on the Go heap:
//
//	           Alloc            Issue
//	      +------------> idle ---------> out
//	free  |               |  <---------   |
//	      +<--------------+    Return     |
//	             Free
//
//	free   the arena has the block
//	idle   the pool has it
//	out    a caller of the pool has it
//
// Who may change the word, and so how it can be changed:
//
//   - free -> idle: the one to whom Alloc gives the block, under no lock but alone.
//   - idle -> out: whoever took the block out of the pool, alone: the pool gives a
//     block to one. So Issue only stores.
//   - out -> idle: anybody who calls Return with the block's slice, as many at once
//     as like. So Return compares and swaps, and one of them is accepted.
//   - idle -> free: whoever took the block out of the pool. Free compares and swaps
//     all the same, under the arena's lock, so that what is not idle stays as it is.
//
// Return synchronizes before the Issue of the same block: the pool's own Put and Get
// do already, and under the race detector the words do too (issue_other.go).
//
// A span that is let go keeps its words, all free for ever: whoever still holds a
// slice of it is refused. A later span at that address has words of its own.
//
// What no state can tell: that a slice is an old owner's, whose block is out again.
const (
	free uint32 = iota
	idle
	out
)

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
	return true, s.state(slot).CompareAndSwap(out, idle)
}

// Issue makes an idle block one that is out. Its caller has it from Alloc or took it
// out of the pool, and is the only one. What is no block is ignored.
func (a *Arena) Issue(b []byte) {
	if s, slot := a.find(b); s != nil {
		issue(s.state(slot))
	}
}

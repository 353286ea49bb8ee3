package check

import "os"

// A Guard makes blocks fault on any touch. What is in them may be lost by that.
type Guard interface {
	// Guard reports whether the block faults from now on.
	Guard(block []byte) bool
	Unguard(block []byte)
}

// Bury makes an idle block such that late use of it is found: filled with poison, which
// is looked at when the block leaves the pool, and where the Guard can do it so that any
// touch faults. Its caller alone has the block.
func (c *Checker) Bury(at uintptr, block []byte) {
	Poison(block)
	if c.Guard == nil || !c.Guard.Guard(block) {
		return
	}
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[at].guarded = true // it is idle, and so watched until its caller lets go of it
}

// exhume makes an idle block accessible, and reports whether it is as it was put back.
// The shard is locked.
func (c *Checker) exhume(r *record, block []byte) bool {
	if r.guarded {
		c.Guard.Unguard(block)
		r.guarded = false
		return true // whoever had touched it had faulted; the poison may be gone
	}
	return r.intact(block)
}

// Fault returns the violation that a fault at an address is, or nil where it is none
// that is known: a touch of a block that is idle, or of the page behind one. Its
// Offence is the stack of the caller.
func (c *Checker) Fault(at uintptr) *Violation {
	if c.Guard == nil {
		return nil
	}
	offence := exactly()
	var found *Violation
	nearest := uintptr(os.Getpagesize())
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, r := range s.at {
			away, kind := r.away(at)
			if away < nearest && (kind == PastEnd || r.state == idle) {
				nearest, found = away, r.violation(kind, offence)
			}
		}
		s.mu.Unlock()
	}
	return found
}

// away returns how many bytes an address is from a block, and what a fault there is.
func (r *record) away(at uintptr) (bytes uintptr, kind Kind) {
	switch end := r.address + uintptr(r.size); {
	case at >= end:
		return at - end, PastEnd
	case at < r.address: // less than a page: on the block's first one
		return r.address - at, UseAfterPut
	}
	return 0, UseAfterPut
}

package check

import (
	"os"

	"github.com/dewpond/dewpond/misuse"
)

// A Guard makes blocks fault on any access. That may lose their content.
type Guard interface {
	// Guard makes the block fault, and reports whether it does.
	Guard(block []byte) bool
	Unguard(block []byte)
}

// Poison prepares an idle block so that late use of it is found. It fills the block with
// poison, which is checked when the block leaves the pool, and if the Guard allows it,
// makes any access fault. No other goroutine has the block.
func (c *Checker) Poison(at uintptr, block []byte) {
	Poison(block)
	if c.Guard == nil || !c.Guard.Guard(block) {
		return
	}
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[at].guarded = true // it is idle, and so watched until the caller releases it
}

// verify makes an idle block accessible, and reports whether it is as it was put back.
// The shard is locked.
func (c *Checker) verify(r *record, block []byte) bool {
	if r.guarded {
		c.Guard.Unguard(block)
		r.guarded = false
		return true // any access would have faulted; the poison may be lost
	}
	return r.intact(block)
}

// Fault returns the violation that caused a fault at an address: an access to a block
// that is idle, or to the page behind a block. It returns nil if neither explains the
// fault. The violation's Offence is the stack of the caller.
func (c *Checker) Fault(at uintptr) *misuse.Violation {
	if c.Guard == nil {
		return nil
	}
	offence := exactly()
	var found *misuse.Violation
	nearest := uintptr(os.Getpagesize())
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, r := range s.at {
			away, kind := r.away(at)
			if away < nearest && (kind == misuse.PastEnd || r.state == idle) {
				nearest, found = away, r.violation(kind, offence)
				found.Offset = int(at - r.address)
			}
		}
		s.mu.Unlock()
	}
	return found
}

// away returns how many bytes an address is from a block, and what kind of violation a
// fault there is.
func (r *record) away(at uintptr) (bytes uintptr, kind misuse.Kind) {
	switch end := r.address + uintptr(r.size); {
	case at >= end:
		return at - end, misuse.PastEnd
	case at < r.address: // less than a page away: on the block's first page
		return r.address - at, misuse.UseAfterPut
	}
	return 0, misuse.UseAfterPut
}

package dewpond

import (
	"runtime"

	"github.com/dewpond/dewpond/internal/memory"
)

// accepts asks the Source, or on the heap the Budget, whether a slice is a block that a
// caller may give back, and counts it where it is not. From then on a Ledger has the
// block as idle.
func (p *BytePool) accepts(class uint8, b []byte) bool {
	if p.source == nil {
		if p.gate.Holds(class, addressOf(b)) {
			return true
		}
	} else if p.ledger == nil {
		if p.source.Owns(b) {
			return true
		}
	} else if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil && state.Return(memory.WhenOut(addressOf(b), uint(cap(b)))) {
		return true
	} else if owned, accepted := p.ledger.Return(b); accepted {
		return true
	} else if owned {
		p.count.droppedDouble.Add(1)
		return false
	}
	if p.fallback.Remove(dataOf(b), addressOf(b)) {
		p.count.droppedFallback.Add(1)
	} else {
		p.count.droppedForeign.Add(1)
	}
	return false
}

// issue makes a block that was idle ready for a caller, who is the one that calls it:
// checked mode notes his stack.
func (p *BytePool) issue(b []byte) {
	p.watch(b)
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// note tells the Ledger, if there is one, that a caller gets a block.
func (p *BytePool) note(b []byte) {
	if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil {
		issue(state, memory.WhenOut(addressOf(b), uint(cap(b))))
	} else if p.ledger != nil {
		p.ledger.Issue(b)
	}
	// Until the Ledger has the block as out, a pool that is collected would take it
	// along: see offheap.NewBytePool.
	runtime.KeepAlive(p)
}

package arena

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/atomics"
)

// Close ends the arena: Alloc returns ErrClosed. If no block is held, Close unmaps the
// range; otherwise it returns an [*InUseError], and the Free of the last block unmaps
// the range. If the system refuses that, the range stays, and another Close tries
// again. An access to a block after that faults, or meets what is mapped there next.
func (a *Arena) Close() error {
	defer a.report()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.inUse > 0 {
		return &InUseError{Blocks: a.inUse, Bytes: a.bytes}
	}
	return a.unmapLocked()
}

// An InUseError says how many blocks keep a closed arena mapped.
type InUseError struct {
	Blocks int
	Bytes  int64
}

func (e *InUseError) Error() string {
	if e.Blocks == 1 {
		return fmt.Sprintf("arena: one block of %d bytes is out; the memory is unmapped when it is back", e.Bytes)
	}
	return fmt.Sprintf("arena: %d blocks of %d bytes in total are out; the memory is unmapped when the last is back", e.Blocks, e.Bytes)
}

// Abandon is Close for a pool that has become unreachable with blocks in it that will
// never be freed. An idle block has no user; one that is out may still be used through
// its slice. So Abandon unmaps the range if no block is out. Otherwise it decommits
// each span with no block out, and the rest stays mapped forever.
func (a *Arena) Abandon() {
	a.mu.Lock()
	a.closed = true
	stay := false
	for _, s := range a.allLocked() {
		if s.anyOut() {
			stay = true
			continue
		}
		for slot := range s.count {
			if s.remove(slot) {
				if s.full() {
					a.sizes[s.size].insert(s)
				}
				s.give(slot)
				a.inUse--
				a.bytes -= int64(s.size)
			}
		}
	}
	// No caller is left to return an error to.
	_ = a.unmapLocked()
	a.mu.Unlock()
	a.report()
	if stay {
		_, _ = a.Decommit()
	}
}

// An Owned is an Arena that is abandoned when the collector finds that nothing refers to the Owned.
type Owned struct {
	*Arena
	lost *atomics.Witness
}

// Owned returns an Owned, for a pool that is its only owner.
func (a *Arena) Owned() *Owned {
	return &Owned{a, atomics.NewWitness(a.Abandon)}
}

// allLocked returns every span, including those without a free block.
func (a *Arena) allLocked() (spans []*span) {
	if a.heap != nil {
		return a.heap.all()
	}
	var last *span
	for i := range a.leaves {
		l := a.leaves[i].Load()
		if l == nil {
			continue
		}
		for j := range l {
			if s := l[j].Load(); s != nil && s != last {
				spans = append(spans, s)
				last = s
			}
		}
	}
	return spans
}

func (s *span) anyOut() bool {
	for slot := range s.count {
		if state, whenOut := s.state(slot); state.Out(whenOut) {
			return true
		}
	}
	return false
}

// unmapLocked unmaps the range if the arena is closed, no block is held, and no
// Decommit has spans in hand.
func (a *Arena) unmapLocked() error {
	if !a.closed || a.inUse > 0 || a.busy {
		return nil
	}
	was := a.space.memory != nil
	if err := a.space.unmap(); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	// Blocks that find could return from here on are free forever, and have no memory.
	for _, s := range a.allLocked() {
		a.leave(s)
		s.memory = nil
	}
	clear(a.sizes)
	a.counted.decommitted += a.counted.committed
	a.committed(-a.counted.committed)
	if was {
		a.unmapped(int64(a.size))
	}
	return nil
}

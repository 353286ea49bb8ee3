package arena

import "fmt"

// Close ends the arena: Alloc returns ErrClosed. With no block held it unmaps the
// range; else it returns an *InUseError, and the Free of the last block unmaps it.
// Where the system refuses that, the range stays, and another Close tries again.
// Whoever uses a block after that faults, or meets what is mapped there next.
func (a *Arena) Close() error {
	defer a.report()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.held > 0 {
		return &InUseError{Blocks: a.held, Bytes: a.bytes}
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
	return fmt.Sprintf("arena: %d blocks of together %d bytes are out; the memory is unmapped when the last is back", e.Blocks, e.Bytes)
}

// Abandon is Close for a pool that nobody can reach any more, with blocks in it that
// nobody will Free. What is idle is nobody's; what is out may still be used by who
// has its slice. So it unmaps the range if no block is out. Else it decommits each
// span of which none is, and the rest stays mapped for ever.
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
				a.held--
				a.bytes -= int64(s.size)
			}
		}
	}
	// There is nobody whom an error would reach.
	_ = a.unmapLocked()
	a.mu.Unlock()
	a.report()
	if stay {
		_, _ = a.Decommit()
	}
}

// allLocked returns every span, those without a free block too.
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

// unmapLocked unmaps the range if the arena is closed and nobody needs it.
func (a *Arena) unmapLocked() error {
	if !a.closed || a.held > 0 || a.busy {
		return nil
	}
	was := a.space.memory != nil
	if err := a.space.unmap(); err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	// What find finds from here on is free for ever, and holds no memory.
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

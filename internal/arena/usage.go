package arena

import "github.com/dewpond/dewpond/internal/memory"

// Usage returns the arena's figures, all of one moment.
func (a *Arena) Usage() memory.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := memory.Usage{
		Mapped:      a.heap == nil,
		Spanned:     a.space.used(),
		Committed:   a.counted.committed,
		Decommitted: a.counted.decommitted,
		Blocks:      a.inUse,
		Bytes:       a.bytes,
		Spans:       a.spans,
		Refused:     a.counted.refused,
	}
	if a.space.memory != nil {
		u.Reserved = int64(a.space.granules) << granuleShift
		u.Opened = int64(a.space.opened) << granuleShift
	}
	return u
}

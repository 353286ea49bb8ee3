package arena

import (
	"errors"
	"fmt"
	"slices"
)

// Decommit gives the memory of all spans without a block to the system, neighbours in
// one call, and returns how many bytes of them may have been resident. Their addresses
// are used again. Spans that the system refuses to take stay as they are, and the error
// wraps the system's. Alloc and Free can run meanwhile: an Alloc that finds no room
// waits until the spans in hand are back.
func (a *Arena) Decommit() (released int64, err error) {
	a.decommitting.Lock()
	defer a.decommitting.Unlock()
	spans := a.retire()
	if spans == nil {
		return 0, nil
	}
	// No other goroutine can find these spans, and busy keeps the range mapped.
	var errs []error
	refused := make(map[*span]bool)
	for _, together := range neighbours(spans) {
		if err := a.decommitTogether(together); err != nil {
			errs = append(errs, fmt.Errorf("arena: decommitting %d bytes: %w", bytesOf(together), err))
			for _, s := range together {
				refused[s] = true
			}
		}
	}

	defer a.report()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	for _, s := range spans {
		if refused[s] {
			a.enter(s)
			a.sizes[s.size].insert(s)
			continue
		}
		n := s.committed()
		released += n
		a.committed(-n)
		a.counted.decommitted += n
		a.space.give(run{s.first, s.granules})
	}
	if err := a.unmapLocked(); err != nil {
		errs = append(errs, err)
	}
	return released, errors.Join(errs...)
}

// awaitDecommit returns when the spans that a Decommit has in hand are back.
func (a *Arena) awaitDecommit() {
	a.decommitting.Lock()
	defer a.decommitting.Unlock()
}

// retire takes every span without a block out of the arena, by ascending address. If it
// returns any, it sets busy, and its caller must reset it.
func (a *Arena) retire() (spans []*span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range a.sizes {
		list.spans = slices.DeleteFunc(list.spans, func(s *span) bool {
			if s.inUse > 0 {
				return false
			}
			a.leave(s)
			spans = append(spans, s)
			return true
		})
	}
	if spans != nil {
		a.busy = true
	}
	slices.SortFunc(spans, func(s, t *span) int { return s.first - t.first })
	return spans
}

// neighbours cuts sorted spans into slices of adjacent ones.
func neighbours(spans []*span) (all [][]*span) {
	from := 0
	for i := range spans {
		if next := i + 1; next == len(spans) || spans[next].first != spans[i].first+spans[i].granules {
			all = append(all, spans[from:next])
			from = next
		}
	}
	return all
}

func (a *Arena) decommitTogether(together []*span) error {
	if a.heap != nil {
		return nil // the collector takes them
	}
	if err := a.space.decommit(run{together[0].first, bytesOf(together) >> granuleShift}); err != nil {
		return err
	}
	for _, s := range together {
		if err := s.unfence(a.space.sys); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the bytes of address space of adjacent spans.
func bytesOf(together []*span) int {
	last := together[len(together)-1]
	return (last.first + last.granules - together[0].first) << granuleShift
}

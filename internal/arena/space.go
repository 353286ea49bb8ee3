package arena

import (
	"errors"
	"fmt"
	"slices"
)

// A space is the address range of an arena, in granules from its start:
//
//	0        given out or in runs        end      opened        granules
//	|================================----|-----------|...............|
//	             readable and writable               | reserved only
//
// Granules before end are in a span, in the hands of Decommit, or in one of runs.
// Granules from end on were decommitted or never touched. On the heap the space only
// counts.
type space struct {
	sys      system
	granules int
	memory   []byte // nil: on the heap, or unmapped
	table    table
	end      int
	opened   int
	runs     []run // free and zero, ascending; no two are adjacent, and none touches end
}

type run struct{ first, count int }

// openStep is the least number of granules that become accessible at once: mprotect
// takes the lock of the whole address space.
const openStep = 4 << 20 / granule

func (s *space) init(sys system, granules int) { s.sys, s.granules = sys, granules }

func (s *space) reserve() error {
	if err := s.table.reserve(s.sys, s.granules); err != nil {
		return err
	}
	memory, err := s.sys.reserve(s.granules << granuleShift)
	if err != nil {
		return errors.Join(err, s.table.unmap())
	}
	s.memory = memory
	return nil
}

// advice returns what to do when the system has refused. The size that it suggests
// leaves as much again for the process, because a limit on address space counts its
// heap too.
func (s *space) advice() string {
	for granules := s.granules / 2; granules > 1; granules /= 2 {
		try := space{sys: s.sys, granules: granules}
		if try.reserve() != nil {
			continue
		}
		if errors.Join(try.unmap(), try.table.unmap()) == nil {
			return fmt.Sprintf("set offheap.Options.Reserve to at most %d: a limit (ulimit -v) counts address space", int64(granules/2)<<granuleShift)
		}
		break
	}
	return "set offheap.Options.Reserve to less, or raise the limit (ulimit -v)"
}

// take returns the first of count free granules: the lowest that fit.
func (s *space) take(count int) (first int, err error) {
	for i := range s.runs {
		if r := &s.runs[i]; r.count >= count {
			first = r.first
			r.first += count
			r.count -= count
			if r.count == 0 {
				s.runs = slices.Delete(s.runs, i, i+1)
			}
			return first, nil
		}
	}
	if count > s.granules-s.end {
		return 0, fmt.Errorf("%w: %d of its %d bytes are in spans", ErrFull, s.used(), int64(s.granules)<<granuleShift)
	}
	if err := s.open(s.end + count); err != nil {
		return 0, err
	}
	first = s.end
	s.end += count
	return first, nil
}

// open makes the range accessible up to a granule at least.
func (s *space) open(to int) error {
	if s.memory == nil || to <= s.opened {
		return nil
	}
	upTo := min(max(to, s.opened+openStep), s.granules)
	err := s.openTo(upTo)
	if err != nil && upTo > to { // the system may allow less
		upTo = to
		err = s.openTo(upTo)
	}
	if err != nil {
		return fmt.Errorf("opening %d bytes of the reserved address space: %w", (upTo-s.opened)<<granuleShift, err)
	}
	s.opened = upTo
	return nil
}

func (s *space) openTo(upTo int) error {
	if err := s.table.open(s.opened, upTo); err != nil {
		return err
	}
	return s.sys.open(s.memory[s.opened<<granuleShift : upTo<<granuleShift])
}

// decommit gives the memory of granules that are all free, and of their states, to the
// system.
func (s *space) decommit(r run) error {
	if err := s.table.decommit(r.first, r.first+r.count); err != nil {
		return err
	}
	return s.sys.decommit(s.memory[r.first<<granuleShift : (r.first+r.count)<<granuleShift])
}

// give takes back granules that are zero again.
func (s *space) give(r run) {
	at, _ := slices.BinarySearchFunc(s.runs, r.first, func(r run, first int) int { return r.first - first })
	if at < len(s.runs) && r.first+r.count == s.runs[at].first {
		r.count += s.runs[at].count
		s.runs = slices.Delete(s.runs, at, at+1)
	}
	if at > 0 && s.runs[at-1].first+s.runs[at-1].count == r.first {
		at--
		r.first = s.runs[at].first
		r.count += s.runs[at].count
		s.runs = slices.Delete(s.runs, at, at+1)
	}
	if r.first+r.count == s.end {
		s.end = r.first
		return
	}
	s.runs = slices.Insert(s.runs, at, r)
}

// used returns the bytes of address space in spans.
func (s *space) used() int64 {
	n := s.end
	for _, r := range s.runs {
		n -= r.count
	}
	return int64(n) << granuleShift
}

// unmap gives up the range.
func (s *space) unmap() error {
	if s.memory == nil {
		return nil
	}
	if err := s.sys.unmap(s.memory); err != nil {
		return fmt.Errorf("unmapping %d bytes: %w", len(s.memory), err)
	}
	s.memory = nil
	// No goroutine has a block, so the states are 0 with or without memory. If the
	// system does not take it now, it does so with the table.
	_ = s.table.decommit(0, s.opened)
	return nil
}

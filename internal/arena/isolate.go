package arena

import (
	"errors"
	"fmt"

	"github.com/dewpond/dewpond/internal/memory"
)

var _ memory.Guard = (*Arena)(nil)

// In an arena that isolates its blocks each is alone on its pages, at their end, and a
// page that faults, its fence, comes next:
//
//	|....block|fence|....block|fence|....block|fence|
//
// So whatever goes on past cap faults at once, and the pages can be taken away and given
// back with nobody else's bytes on them. The dots are less than a page, and nobody's:
// what would fault in front of a block no slice can reach without unsafe.
//
// A fencing is how pages of a span are made to fault.
type fencing uint8

const (
	notFenced fencing = iota

	// Linux from 6.13 on marks single pages, which costs no mapping, and drops what
	// they hold.
	byMarks

	// Else they lose their access. To change that of a part of a mapping makes more
	// mappings, of which a process may have 65530 (vm.max_map_count); of pages side
	// by side with one access it makes one. So that a block can always be given back,
	// each lies in a mapping of its own for as long as its span lives: the fences are
	// kept apart from the blocks by what else tells mappings apart.
	byMapping
)

// Isolate makes the arena isolate its blocks, if they are mapped and none was ever
// made.
func (a *Arena) Isolate() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heap != nil || a.space.sys.mark == nil || len(a.sizes) > 0 {
		return false
	}
	a.isolated = true
	return true
}

// Guard makes any touch of a block's pages fault, what the system itself reads and
// writes aside, which returns EFAULT. Its caller alone has the block, which is not free.
// Where the system refuses it reports false, and the block is as before. What is in a
// guarded block may be lost.
func (a *Arena) Guard(block []byte) bool {
	s, slot := a.find(block)
	if s == nil || !s.guards {
		return false
	}
	if s.fenced == byMarks {
		return a.space.sys.mark(s.pages(slot)) == nil
	}
	return a.space.sys.hide(s.pages(slot)) == nil
}

// Unguard ends that. Its caller alone has the block.
func (a *Arena) Unguard(block []byte) {
	s, slot := a.find(block)
	if s == nil || !s.guards {
		return
	}
	giveBack := a.space.sys.open
	if s.fenced == byMarks {
		giveBack = a.space.sys.unmark
	}
	// It needs no mapping and no memory, so no system refuses it. One that did would
	// leave the caller a block that faults.
	if err := giveBack(s.pages(slot)); err != nil {
		panic(fmt.Sprintf("arena: a block of %d bytes cannot be made accessible again: %v", s.size, err))
	}
}

// pages returns the pages that an isolated block is alone on.
func (s *span) pages(slot uint32) []byte {
	from, to := int(slot)*s.stride, s.at(slot)+s.size
	return s.memory[from:to:to]
}

// fencePage returns the page behind an isolated block.
func (s *span) fencePage(slot uint32) []byte {
	from := s.at(slot) + s.size
	return s.memory[from : from+pageSize : from+pageSize]
}

// fence puts up the fences of a new span, as far as the system lets it: without them
// its blocks cannot be guarded.
func (s *span) fence(sys system) {
	if sys.mark(s.fencePage(0)) == nil {
		s.fenced = byMarks
		s.guards = s.eachFence(sys.mark)
	} else {
		s.fenced = byMapping
		s.guards = s.eachFence(sys.setApart, sys.hide)
	}
	if !s.guards {
		_ = s.unfence(sys) // or else Decommit does
	}
}

func (s *span) eachFence(calls ...func(part []byte) error) bool {
	for slot := range s.count {
		for _, call := range calls {
			if call(s.fencePage(slot)) != nil {
				return false
			}
		}
	}
	return true
}

// unfence makes all of a span accessible, and so that it can be cut anew.
func (s *span) unfence(sys system) (err error) {
	s.guards = false
	switch s.fenced {
	case byMarks:
		err = sys.unmark(s.memory)
	case byMapping:
		err = errors.Join(sys.open(s.memory), sys.join(s.memory))
	}
	if err == nil {
		s.fenced = notFenced
	}
	return err
}

package arena

import (
	"errors"
	"fmt"

	"github.com/dewpond/dewpond/internal/memory"
)

var _ memory.Guard = (*Arena)(nil)

// In an arena that isolates its blocks, each block is alone on its pages, at their end,
// and is followed by a page that faults, its fence:
//
//	|....block|fence|....block|fence|....block|fence|
//
// So an access past cap faults at once, and the pages can be taken away and given back
// without affecting other bytes. The dots are less than a page and unused: no slice can
// reach in front of a block without unsafe.
//
// A fencing is how pages of a span are made to fault.
type fencing uint8

const (
	notFenced fencing = iota

	// Linux from 6.13 on marks single pages, which takes no mapping, and drops their
	// content.
	byMarks

	// Otherwise the pages lose their access. Changing the access of a part of a mapping
	// splits it, and a process may have 65530 mappings (vm.max_map_count); adjacent
	// pages with the same access merge into one mapping. So that a block can always be
	// given back, each lies in a mapping of its own for as long as its span lives: a
	// second attribute keeps the fences' mappings apart from the blocks'.
	byMapping
)

// Isolate makes the arena isolate its blocks, if they are mapped and none was ever
// allocated.
func (a *Arena) Isolate() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heap != nil || a.space.sys.mark == nil || len(a.sizes) > 0 {
		return false
	}
	a.isolated = true
	return true
}

// Guard makes any access to a block's pages fault; a system call that reads or writes
// them returns EFAULT instead. No other goroutine has the block, which is not free. If
// the system refuses, Guard reports false, and the block is as before. The content of a
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

// Unguard ends that. No other goroutine has the block.
func (a *Arena) Unguard(block []byte) {
	s, slot := a.find(block)
	if s == nil || !s.guards {
		return
	}
	makeAccessible := a.space.sys.open
	if s.fenced == byMarks {
		makeAccessible = a.space.sys.unmark
	}
	// This needs no mapping and no memory, so no system refuses it. If one did, the
	// caller would be left with a block that faults.
	if err := makeAccessible(s.pages(slot)); err != nil {
		panic(fmt.Sprintf("arena: a block of %d bytes cannot be made accessible again: %v", s.size, err))
	}
}

// pages returns the pages that belong to one isolated block.
func (s *span) pages(slot uint32) []byte {
	from, to := int(slot)*s.stride, s.at(slot)+s.size
	return s.memory[from:to:to]
}

// fencePage returns the page behind an isolated block.
func (s *span) fencePage(slot uint32) []byte {
	from := s.at(slot) + s.size
	return s.memory[from : from+pageSize : from+pageSize]
}

// fence puts up the fences of a new span, as far as the system allows. Without them its
// blocks cannot be guarded.
func (s *span) fence(sys system) {
	if sys.mark(s.fencePage(0)) == nil {
		s.fenced = byMarks
		s.guards = s.eachFence(sys.mark)
	} else {
		s.fenced = byMapping
		s.guards = s.eachFence(sys.setApart, sys.hide)
	}
	if !s.guards {
		_ = s.unfence(sys) // if that fails, Decommit does it
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

// unfence makes all of a span accessible, so that it can be cut anew.
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

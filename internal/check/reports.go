package check

import (
	"slices"
	"sync"
)

// Seen remembers which violations were reported: by a pair of stacks, of the Get and of the
// offence, so that one mistake in a loop fills no log. The zero Seen has seen none.
type Seen struct {
	mu    sync.Mutex
	pairs [][2][]uintptr
}

// mostPairs bounds what a Seen remembers. Violations past it are not the first of theirs.
const mostPairs = 1000

// First reports whether a violation is the first of its pair of stacks.
func (s *Seen) First(got, offence []uintptr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pairs) >= mostPairs || slices.ContainsFunc(s.pairs, func(p [2][]uintptr) bool {
		return slices.Equal(p[0], got) && slices.Equal(p[1], offence)
	}) {
		return false
	}
	s.pairs = append(s.pairs, [2][]uintptr{got, offence})
	return true
}

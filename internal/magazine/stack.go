package magazine

import "github.com/dewpond/dewpond/internal/atomics"

// A stack is a lock-free stack of magazines, as in R. K. Treiber, "Systems Programming:
// Coping with Parallelism" (https://dominoweb.draco.res.ibm.com/reports/rj5118.pdf).
//
// Magazines are reused, so a plain Treiber stack would be open to ABA: a goroutine
// reads head A and its next B, others pop A and B and push A again, and its swap would
// make B, which another goroutine owns by now, the head. So the head carries a
// generation that every pop raises:
//
//	bits  0-23  index of the top magazine in the table, 0 when empty
//	bits 24-63  generation, the number of pops so far
//
// If the head is still the word that was read, no pop has happened since, so the
// magazine has been on top all along and its next is what was read. 40 bits wrap after
// a trillion pops: hours, between two instructions.
//
// The swap that pushes a magazine publishes its contents; the one that pops it takes
// ownership of them.
type stack struct {
	head atomics.Uint64
}

func (s *stack) push(m *magazine) {
	for {
		head := s.head.Load()
		m.next.Store(uint32(head & indexMask))
		if s.head.CompareAndSwap(head, head&^indexMask|uint64(m.index)) {
			return
		}
	}
}

func (s *stack) pop(t *table) *magazine {
	for {
		head := s.head.Load()
		if head&indexMask == 0 {
			return nil
		}
		m := t.at(uint32(head & indexMask))
		if m == nil {
			continue // popAll takes all magazines at once. It returns the top one; next leads to those below.
		}
		generation := head&^indexMask + 1<<indexBits
		if s.head.CompareAndSwap(head, generation|uint64(m.next.Load())) {
			return m
		}
	}
}

// popAll takes all magazines at once: the top one and, by next, those below it.
func (s *stack) popAll(t *table) *magazine {
	for {
		head := s.head.Load()
		if head&indexMask == 0 {
			return nil
		}
		if s.head.CompareAndSwap(head, head&^indexMask+1<<indexBits) {
			return t.at(uint32(head & indexMask))
		}
	}
}

func (s *stack) empty() bool { return s.head.Load()&indexMask == 0 }

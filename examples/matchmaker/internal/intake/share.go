package intake

import "sync"

// A Share bounds how much each of several holders has at once.
type Share struct {
	most int64

	mu   sync.Mutex // held for a change of held
	held map[any]int64
}

// NewShare makes one of most for each; 0 is no bound.
func NewShare(most int64) *Share { return &Share{most: most} }

// Take reports whether a holder may have n more, and then counts them until Give.
func (s *Share) Take(holder any, n int64) bool {
	if s.most == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[holder]+n > s.most {
		return false
	}
	if s.held == nil {
		s.held = map[any]int64{}
	}
	s.held[holder] += n
	return true
}

// Give takes n back from a holder.
func (s *Share) Give(holder any, n int64) {
	if s.most == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[holder] -= n; s.held[holder] == 0 {
		delete(s.held, holder)
	}
}

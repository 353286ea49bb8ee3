package attack

import (
	"errors"
	"sync"
	"sync/atomic"
)

var errNoMemory = errors.New("no memory")

// A moodySource allocates blocks on the Go heap. Some of its calls fail, and some
// panic.
type moodySource struct {
	upset  *atomic.Bool // the pool's own
	panics bool
	calls  atomic.Int64

	mu    sync.Mutex
	out   map[*byte]int // sizes of the blocks that the pool has
	twice int           // Frees of blocks that the pool does not have
}

func (s *moodySource) Alloc(size int) ([]byte, error) {
	switch n := s.calls.Add(1); {
	case n%16 == 3:
		return nil, errNoMemory
	case n%16 == 7 && s.panics:
		s.upset.Store(true)
		panic(errPanic)
	}
	b := make([]byte, size)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[&b[:1][0]] = size
	return b, nil
}

func (s *moodySource) Free(b []byte) {
	s.mu.Lock()
	if s.out[&b[:1][0]] != cap(b) {
		s.twice++
	}
	delete(s.out, &b[:1][0])
	s.mu.Unlock()
	if s.calls.Add(1)%16 == 11 && s.panics && !leftOut[panickingFree] {
		s.upset.Store(true)
		panic(errPanic)
	}
}

func (s *moodySource) Owns(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out[&b[:1][0]] == cap(b)
}

// judge checks that every block came back, once the pool is closed.
func (s *moodySource) judge(p *bytePond, r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.twice > 0 || len(s.out) > 0 && !s.upset.Load() {
		r.t.Errorf("of the blocks of an Allocator %d are out and %d were freed twice: %s", len(s.out), s.twice, p)
	}
}

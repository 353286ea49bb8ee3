package dewpond

import (
	"sync"
	"sync/atomic"
)

// A standIn does the work of a zero pool. It is a pool with default options, which the
// first use of the zero pool makes. Get and Put of small sizes go on with the stand-in where
// they find that the pool is zero. Other methods call it from their first line or, if that
// would slow down pools made by a constructor, from their slow path: the fast path finds
// nothing in a zero engine.
//
// Only the pointer here is ever written in a zero pool. So no goroutine can see a pool
// that is half made, or skip the clearing in Put, on any machine: a goroutine that loads
// the pointer sees all that was stored before it, and one that does not see it yet sees
// zeros, which lead to the lock.
type standIn[P any] struct {
	pool atomic.Pointer[P]

	// mu is held while the stand-in is made, so that only one is: a second one would
	// show in Pools and take the name.
	mu sync.Mutex
}

// make returns the stand-in, which it makes if there is none. If newPool panics, so does
// every use of the zero pool.
func (s *standIn[P]) make(newPool func() *P) *P {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool.Load() == nil {
		s.pool.Store(newPool())
	}
	return s.pool.Load()
}

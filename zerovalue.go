package dewpond

import (
	"sync"
	"sync/atomic"
)

// A standIn is what does the work of a zero pool: a pool with default options, which
// the first use makes. Every method goes there from its first line or, where that would
// cost the pools that a constructor has made something, from its slow path: for the
// fast ones find nothing in an engine that is zero.
//
// Nothing of the zero pool is ever written but the pointer here. So there is no moment
// at which somebody could see half of it, or skip what Put clears, on any machine:
// whoever loads the pointer sees all that was stored before it was, and whoever does not
// yet sees zeros, which lead to the lock.
type standIn[P any] struct {
	pool atomic.Pointer[P]

	// mu is held while the pool is made. A second one that loses a race would show in
	// Pools, and take the name.
	mu sync.Mutex
}

// make returns the pool, which it makes where nobody has. Where newPool panics, every use
// does.
func (s *standIn[P]) make(newPool func() *P) *P {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool.Load() == nil {
		s.pool.Store(newPool())
	}
	return s.pool.Load()
}

// actual returns the pool that does the work: p itself, unless it is the zero BytePool.
// It is inlined: a pool that a constructor has made pays for one comparison.
func (p *BytePool) actual() *BytePool {
	if p.made {
		return p
	}
	return p.other()
}

//go:noinline
func (p *BytePool) other() *BytePool {
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *BytePool { return MustBytePool(BytePoolOptions{}) })
}

// actual returns the pool that does the work: p itself, unless it is the zero Pool.
func (p *Pool[T]) actual() *Pool[T] {
	if p.onPut != askStandIn {
		return p
	}
	return p.other()
}

//go:noinline
func (p *Pool[T]) other() *Pool[T] {
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *Pool[T] { return NewPool(PoolOptions[T]{}) })
}

package dewsing

import "github.com/dewpond/dewpond"

// most is the size of the largest buffer of sing.
const most = 64 << 10

// An Allocator has the methods of sing's buf.Allocator:
//
//	buf.DefaultAllocator = dewsing.New(pool)
//
// Set it before the first use of sing: buffers of its own allocator are not blocks, and are
// dropped (see [dewpond.DropStats.Foreign]).
type Allocator struct{ pool *dewpond.BytePool }

// New returns an Allocator on blocks of pool, whose classes should go up to 64 KiB.
func New(pool *dewpond.BytePool) Allocator { return Allocator{pool} }

// Get returns a buffer of size bytes, or nil, as sing does, unless size is 1 to 65536.
func (a Allocator) Get(size int) []byte {
	if size <= 0 || size > most {
		return nil
	}
	return a.pool.Get(size)
}

// Put gives a buffer back. It returns nil: sing panics at an error, but the pool counts what
// it refuses.
func (a Allocator) Put(b []byte) error {
	a.pool.Put(b)
	return nil
}

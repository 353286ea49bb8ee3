package dewarrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/dewpond/dewpond"
)

// alignment is what Arrow asks for of memory. A block of a class that is a multiple of it
// has it: Go cuts memory into objects of one size from the start of a page. So has a guarded one, for
// DEWPOND_GUARD, in a pool whose classes all are such.
const alignment = 64

// An Allocator is a [memory.Allocator] on blocks of a pool. All methods may be called by any
// number of goroutines at once.
type Allocator struct {
	pool  *dewpond.BytePool
	most  int  // the largest class
	dirty bool // memory is not zeroed
}

var _ memory.Allocator = (*Allocator)(nil)

// New makes a pool with these options, and an Allocator on it:
//
//	allocator, err := dewarrow.New(dewpond.BytePoolOptions{Name: "arrow"})
//	...
//	builder := array.NewInt64Builder(allocator)
//
// All classes must be multiples of 64. If there are none, they are those of
// [dewpond.DefaultClasses] that are. What exceeds the largest is allocated by a
// [memory.GoAllocator]. Without [dewpond.ZeroNever] all memory is zero.
func New(o dewpond.BytePoolOptions) (*Allocator, error) {
	if o.Classes == nil {
		for _, size := range dewpond.DefaultClasses() {
			if size%alignment == 0 {
				o.Classes = append(o.Classes, size)
			}
		}
	}
	for _, size := range o.Classes {
		if size%alignment != 0 {
			return nil, fmt.Errorf("dewarrow: Classes: %d is not a multiple of %d, as Arrow needs it", size, alignment)
		}
	}
	pool, err := dewpond.NewBytePool(o)
	if err != nil {
		return nil, err
	}
	return &Allocator{pool, o.Classes[len(o.Classes)-1], o.Zero == dewpond.ZeroNever}, nil
}

// Pool returns the pool, for its Stats, Trim and Close.
func (a *Allocator) Pool() *dewpond.BytePool { return a.pool }

// Allocate returns a slice of size bytes at a multiple of 64, unless the pool has an Allocator whose
// blocks are not.
func (a *Allocator) Allocate(size int) []byte {
	if size > a.most {
		return new(memory.GoAllocator).Allocate(size)
	}
	return a.pool.Get(size)
}

// Reallocate returns a slice of size bytes that begins with what b has, and takes b over.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		had := len(b)
		if b = b[:size]; size > had && !a.dirty {
			clear(b[had:])
		}
		return b
	}
	larger := a.Allocate(size)
	copy(larger, b)
	a.Free(b)
	return larger
}

// Free gives back what Allocate or Reallocate has returned.
func (a *Allocator) Free(b []byte) {
	if cap(b) <= a.most {
		a.pool.Put(b)
	}
}

// Package offheap makes a [dewpond.BytePool] on memory outside the Go heap. It is the
// same type, with a stricter contract:
//
//   - Put refuses every slice that is not exactly a block of this pool: a foreign slice of
//     any cap, a slice of the inside of a block, and a block that is not out, even if two
//     goroutines put it back at once.
//   - Close gives the memory up once no block is out. A later access to a block faults.
//   - A block that is never put back is lost. The collector cannot free it.
//   - No block may hold pointers to Go memory: the collector does not look there.
//
// With [dewpond.CheckAll] any access to a mapped block while it is idle faults, and so
// does any access right behind a block: see [ExplainFaults]. Each block then
// takes whole pages, and one page more, of [Options.Reserve].
//
// The benefits are a smaller heap for the collector to mark, and classes of any size.
// The costs are that the runtime's memory limit does not include the blocks
// ([Options.Coupled] makes up for that, and package pressure includes them), and that
// a heap without them is collected more often.
//
// On Linux blocks are mapped. On other systems, and under the race detector, which sees
// only the Go heap, they are pieces of Go memory of the same sizes, with the same
// contract. Then, and where an address has 32 bits, Get and Put take some tens of
// nanoseconds longer.
package offheap

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
)

// Options say how a pool uses mapped memory. The zero value is a usable default.
type Options struct {
	// Reserve is how many bytes of address space to reserve: the most that the pool can
	// ever have in use and idle together, less some that cutting into blocks loses. It
	// takes no memory until it is used, but a limit on address space (ulimit -v) counts
	// it, and a twelfth more for the pool's records of the blocks, which stay until the
	// pool is collected. If such a limit refuses it, the error says how much would fit.
	// When the blocks leave no room in it, Get takes memory from the Go heap and TryGet
	// returns an error; if room is on its way back to the system, both wait for that.
	// Default: 64 GiB, or 256 MiB where an address has 32 bits.
	Reserve int64

	// Coupled makes one memory limit hold for the heap and this pool together: while
	// the pool has memory, the limit of debug.SetMemoryLimit is lowered by the bytes
	// that the pool has committed ([dewpond.OffHeapStats.Committed]), to within 1 MiB. If
	// blocks are on the Go heap, and while there is no limit (GOMEMLIMIT), it does
	// nothing. A first limit that is set later counts from when the pools next commit
	// or give back 1 MiB. Default: false.
	//
	// All coupled pools of a process lower the limit together. They start from its
	// value when the first of them has committed 1 MiB, and restore that value when the
	// last has given up its memory: in Close, or with the last Put after Close. A pool
	// that was dropped with blocks out keeps its share.
	//
	// The limit is not lowered below a quarter of its value, nor below 16 MiB, so that
	// the collector does not run without a pause: with a twelfth of the limit live on
	// the heap it still works about as hard as with GOGC=100. Off-heap memory beyond
	// that makes the process larger than its limit, and Pressure high. Coupled does not
	// keep a pool from growing: MaxIdleBytes, AllocRate and Reserve bound it.
	//
	// If other code sets the limit meanwhile, its value stays, even when pools close,
	// and coupling ends for all pools, until one is made while none has memory. [Total]
	// says how far the limit is lowered, and whether it was lost.
	//
	// Leave Coupled false if other code watches the limit or sets it repeatedly, if the
	// limit was chosen with the off-heap memory already subtracted, or if the heap
	// alone needs more than what is left: then each collection frees less, and
	// collections follow one another.
	Coupled bool
}

// NewBytePool makes a pool whose blocks are outside the Go heap. It returns one error
// that names every invalid option. o.Memory must be nil. If o.Classes is nil, the pool
// has the classes of [DefaultClasses]; each class must be a multiple of 16. It has the type of [dewpond.NewBytePool], so that
// a variable can choose between the two.
func NewBytePool(o dewpond.BytePoolOptions) (*dewpond.BytePool, error) {
	return Options{}.NewBytePool(o)
}

// NewBytePool is like the function [NewBytePool], with the options m for the mapped memory.
func (m Options) NewBytePool(o dewpond.BytePoolOptions) (*dewpond.BytePool, error) {
	return newCoupledPool(o, m, &coupling)
}

func newCoupledPool(o dewpond.BytePoolOptions, m Options, c *coupler) (*dewpond.BytePool, error) {
	if o.Memory != nil {
		return nil, errors.New("offheap: Memory must be nil: for another Allocator use dewpond.NewBytePool")
	}
	if o.Classes == nil {
		o.Classes = DefaultClasses()
	}
	config := arena.Config{Reserve: m.Reserve, OnHeap: raceDetector}
	if m.Coupled {
		c.couple(&config)
	}
	a, err := arena.New(config)
	if err != nil {
		return nil, fmt.Errorf("offheap: memory of pool %q: %w", o.Name, err)
	}
	o.Memory = a.Owned() // a pool that becomes unreachable leaves idle blocks in its shards that are never freed
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return p, nil
}

// DefaultClasses returns the block sizes of a pool whose options name none: four in
// each doubling from 64 B to 1 MiB, and eight that hold a power of two and a header.
// The worst waste is 20 %.
func DefaultClasses() []int {
	classes := []int{576, 1152, 2304, 4608, 8704, 16896, 33280, 66048}
	for size := 64; size < 1<<20; size *= 2 {
		for step := range 4 {
			classes = append(classes, size+size/4*step)
		}
	}
	classes = append(classes, 1<<20)
	slices.Sort(classes)
	return classes
}

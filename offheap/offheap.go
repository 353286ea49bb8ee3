// Package offheap makes a BytePool on memory outside the Go heap. It is the same
// type, with a stricter contract:
//
//   - Put refuses every slice that is not exactly a block of this pool: one from
//     elsewhere whatever its cap, the inside of a block, and a block that is not out,
//     also where two goroutines put it back at once.
//   - Close gives the memory up once no block is out. A block used after that faults.
//   - A block that nobody puts back is lost. The collector does not have it.
//   - No block may hold pointers to Go memory: the collector does not look there.
//
// With CheckAll any touch of a mapped block faults while it is idle, and any of what is
// right behind a block: see dewpond.ExplainFaults. Each block then takes whole pages and
// one more of Options.Reserve.
//
// What it buys is a smaller heap to mark and classes of any size. What it costs:
// the runtime's memory limit does not see the blocks (Options.Coupled is for that;
// dewpond.Pressure sees them), and a heap without them is collected more often.
//
// On Linux blocks are mapped. Elsewhere, and under the race detector, which sees
// only the Go heap, they are pieces of Go memory of the same sizes, with the same
// contract; then, and where an address has 32 bits, Get and Put take some tens of
// nanoseconds longer.
package offheap

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
)

// Options say how a pool uses mapped memory. The zero value is a sane default.
type Options struct {
	// Reserve is how many bytes of address space to reserve: the most that the pool
	// can ever have out and idle together, with some lost to the cutting. It is no
	// memory until it is used, but a limit on address space (ulimit -v) counts it, and
	// a twelfth more for what the pool notes of the blocks, which stays until the pool
	// is collected. Where such a limit refuses it, the error says how much would fit.
	// Where blocks leave no room in it, Get takes from the Go heap and TryGet
	// returns an error; room that is on its way back to the system is waited for.
	// Default: 64 GiB, or 256 MiB where an address has 32 bits.
	Reserve int64

	// Coupled makes one memory limit hold for the heap and this pool together: while
	// the pool has memory, debug.SetMemoryLimit is what it was less what the pool has
	// committed (Stats.CommittedBytes), to within 1 MiB. Where blocks are on the Go
	// heap, and while there is no limit (GOMEMLIMIT), it does nothing. A first limit that
	// is set later counts from when the pools next commit or give back 1 MiB. Default:
	// false.
	//
	// All coupled pools of a process move the limit together. It is taken as it is when
	// the first of them has committed 1 MiB, and is that again when the last has given
	// up its memory: in Close, or with the last Put after it. A pool that was dropped
	// with blocks out keeps its share.
	//
	// The limit is not lowered to less than a quarter of what it was, nor below 16 MiB,
	// lest the collector run without a pause: with a twelfth of the limit alive on the
	// heap it still works about as hard as with GOGC=100. Off-heap memory beyond that
	// makes the process larger than its limit, and Pressure high. Nor does a pool ask anybody before it grows:
	// MaxIdleBytes, AllocLimit and Reserve bound it.
	//
	// Whoever else sets the limit meanwhile has the last word: theirs stays, also when
	// pools close, and coupling ends for all pools, until one is made when none has
	// memory. Total says how far the limit is lowered, and whether it was lost.
	//
	// Leave it out where something else watches the limit or sets it again and again,
	// where the limit was chosen with the off-heap memory already taken off, and where
	// the heap alone needs more than what is left: each collection frees less then, and
	// they follow one another.
	Coupled bool
}

// NewBytePool makes a pool whose blocks are outside the Go heap, or returns one
// error that names every option that cannot be meant. o.Memory must be nil;
// o.Classes nil means DefaultClasses of this package, and a class may be any
// multiple of 16 that o allows, whatever Go's own sizes are.
func NewBytePool(o dewpond.BytePoolOptions, m Options) (*dewpond.BytePool, error) {
	return newBytePool(o, m, &coupling)
}

func newBytePool(o dewpond.BytePoolOptions, m Options, c *coupler) (*dewpond.BytePool, error) {
	if o.Memory != nil {
		return nil, errors.New("offheap: Memory is given: leave it nil, or use dewpond.NewBytePool")
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
	o.Memory = a
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	// A pool that is forgotten leaves idle blocks in its shards, which nobody frees.
	runtime.AddCleanup(p, (*arena.Arena).Abandon, a)
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

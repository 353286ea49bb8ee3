// Package magazine is the engine of every pool: it keeps idle blocks for their
// next owner, in magazines, and knows nothing of what the blocks are.
//
// From the fast path down:
//
//  1. A shard (shards.go, slot.go) belongs to one P. For each class it holds two
//     magazines. Pop and Push below move one word in the loaded one, in a section
//     that nobody else can enter, without a lock or an atomic write.
//  2. When both of a shard's magazines are empty, or full, one of them is exchanged in
//     the class's transfer cache (transfer.go): one swap, in the same section, for up
//     to MaxRounds operations.
//  3. Where that has no magazine of the other kind, the depot has (exchange.go,
//     depot.go): a lock-free stack of full magazines and one of empty ones (stack.go).
//     Classes of few or large blocks have no magazines in the shards; their blocks lie
//     singly in the depot.
//  4. What may be idle is reserved before it is (bounds.go), so the bounds hold
//     at every moment.
//  5. Blocks in other shards are reached by replacing all shards and waiting
//     until nobody can be in the old ones (replace.go).
package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/percpu"
)

// Config is what an engine is made from. The caller has checked it.
type Config struct {
	Sizes           []int // bytes of a block, for each class, ascending
	MaxIdleBytes    int64 // 0: keep nothing
	MaxIdlePerClass int   // 0: no limit of its own

	// Direct keeps every block in the depots, where any Pop finds it: slower, but
	// Pop returns nil only if no block of the class was idle at some moment.
	Direct bool
}

const (
	// ShardBytes is the most that one shard holds of all classes together, in
	// bytes of places reserved. All shards of a pool together have at most a quarter
	// of MaxIdleBytes, so this counts on few processors.
	ShardBytes = 8 << 20

	// MagazineBytes is what a magazine comes to at most, unless it has 16 blocks or
	// less: see bounds.rounds.
	MagazineBytes = 128 << 10

	// MaxShardedSize is the largest class that is kept in shards. A larger block
	// takes so long to fill that the depot does not show.
	MaxShardedSize = 128 << 10
)

// An Engine keeps the idle blocks of one pool. All its methods may be called by
// any number of goroutines at once.
//
// A Push of a block synchronizes before the Pop that returns it.
type Engine struct {
	current atomics.Pointer[slot] // the first of the array in use
	stride  uintptr               // bytes of slots a shard
	procs   atomics.Uintptr       // shards of the array in use, or less: see replace

	none slot // stays empty

	reclaimable atomics.Bool // see Reclaim

	depots  []depot // by class
	sharded int     // classes below this one can have magazines in shards
	table   table
	bounds  bounds

	// mu serializes what replaces the array, and guards the fields below. It is
	// held over a grace period, by Trim over two. No block is refused, and no hit
	// waits, for it.
	mu    atomics.Mutex
	total []Counts // by class; what is folded of shards' counters
}

// Init prepares an engine without blocks. It is a method, not a constructor, so
// that a pool can hold its engine by value: a pointer to it would be one more load
// that each Get must wait for.
func (e *Engine) Init(c Config) {
	procs := percpu.Procs()
	e.depots = make([]depot, len(c.Sizes))
	e.total = make([]Counts, len(c.Sizes))
	e.bounds.maxBytes = c.MaxIdleBytes
	e.bounds.maxPerClass = int64(c.MaxIdlePerClass)
	for i, size := range c.Sizes {
		e.depots[i].size = size
		if size <= MaxShardedSize && !c.Direct {
			e.sharded = i + 1
		}
	}
	e.reclaimable.Store(true)
	e.stride = stride(e.sharded)
	a := e.newArray(sharded, procs)
	for i := range e.depots {
		e.depots[i].several = a.rounds[i] > 1
		e.depots[i].places = int(a.rounds[i])
	}
	a.settled.Store(true)
	e.current.Store(&a.slots[0])
	e.procs.Store(uintptr(procs))
}

// Pop returns an idle block of a class, or nil when it finds none: then the
// depot and the shard of this P have none, though another P's may, or Trim is under
// way.
func (e *Engine) Pop(class uint8) unsafe.Pointer {
	if int(class) < e.sharded {
		x := e.Enter()
		block := e.Slot(x, class+1).Take()
		x.Exit()
		if block != nil {
			return block
		}
	}
	return e.PopSlow(class)
}

// A Block is an idle block, by where it begins: the engine knows nothing else of it.
type Block = unsafe.Pointer

// A Result says what became of a block that was pushed.
type Result uint8

const (
	Kept       Result = iota // in a shard, or in the depot of a sharded engine
	KeptDirect               // in the depot of an engine that is gathered, or that Trim empties
	Wanted                   // not kept: somebody waits for it, see Wait
	Full                     // not kept: the bounds are reached
	Closed                   // not kept: the engine is closed
)

// Push gives the engine a block of a class. Unless it is kept it stays the
// caller's.
func (e *Engine) Push(class uint8, block unsafe.Pointer) Result {
	if int(class) < e.sharded {
		x := e.Enter()
		s := e.Slot(x, class+1)
		kept := s.Give(block) || s.GiveMore(block)
		x.Exit()
		if kept {
			return Kept
		}
	}
	return e.PushSlow(class, block)
}

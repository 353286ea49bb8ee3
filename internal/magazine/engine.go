// Package magazine is the engine of every pool. It keeps idle blocks in magazines for
// their next owner, and knows nothing of what the blocks contain.
//
// From the fast path down:
//
//  1. A shard (shards.go, slot.go) belongs to one P. For each class it holds two
//     magazines. [Engine.Pop] and [Engine.Push] move one word in the loaded one, in a
//     section that no other goroutine can enter, without a lock or an atomic write.
//  2. When both of a shard's magazines are empty, or both full, one of them is exchanged
//     in the class's transfer cache (transfer.go): one swap, in the same section, for up
//     to [MaxRounds] operations.
//  3. If the transfer cache has no magazine of the other kind, the depot is asked
//     (exchange.go, depot.go): a lock-free stack of full magazines and one of empty ones
//     (stack.go). Classes of few or large blocks have no magazines in the shards; their
//     blocks lie singly in the depot.
//  4. A place is reserved before a block in it becomes idle (bounds.go), so the bounds
//     hold at every moment.
//  5. Blocks for which there is no room go to a second tier, which the garbage collector
//     owns (tier.go). A Pop that finds nothing idle looks there.
//  6. Blocks in other shards are reached by replacing all shards and waiting until no
//     goroutine can be in the old ones (replace.go).
package magazine

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/perclass"
	"github.com/dewpond/dewpond/internal/percpu"
)

// Config is what an engine is made from. The caller has validated it.
type Config struct {
	Sizes           []int // bytes of a block, for each class, ascending
	MaxIdleBytes    int64 // 0: keep nothing
	MaxIdlePerClass int   // 0: no limit of its own

	// Beyond lets MaxIdleBytes follow what was out, within this Allowance of bytes: see demand.
	// nil: MaxIdleBytes is hard. The pool must then say what it makes and lets go. Unit is the
	// bytes of memory for each byte of Sizes, 0 for one.
	Beyond *Allowance
	Unit   int64

	// Tier has blocks for which there is no room go to a second tier, while it returns true: see
	// tier. nil: there is none. The engine asks it on slow paths; it must not call the engine.
	Tier func() bool

	// Aging says that decay calls Low as time passes.
	Aging bool

	// Sampled has each slot begin to count its hits at a random number, for callers that
	// choose some of them by it: see section.Slot and slot.Hits. Otherwise the first hits
	// of each new array, of which there are many, would be chosen always or never.
	Sampled bool

	// Shards has Init make the shards, and not the first use: then no goroutine can have seen an engine
	// without them, and nothing need wait until none can.
	Shards bool

	// Direct keeps every block in the depots, where any Pop finds it. That is slower,
	// but Pop returns nil only if there was a moment at which no block of the class was
	// idle.
	Direct bool
}

const (
	// ShardBytes is the most that one shard holds of all classes together, in bytes of
	// places reserved. All shards of a pool together have at most a quarter of
	// MaxIdleBytes, so ShardBytes matters only with few processors.
	ShardBytes = 8 << 20

	// MagazineBytes is the most that a magazine's blocks add up to, unless it has 16
	// blocks or fewer: see bounds.rounds.
	MagazineBytes = 128 << 10

	// MaxShardedSize is the largest class that is kept in shards. A larger block takes
	// so long to fill that the cost of the depot does not show.
	MaxShardedSize = 128 << 10
)

// An Engine keeps the idle blocks of one pool. All its methods are safe for concurrent
// use.
//
// A Push of a block synchronizes before the Pop that returns it.
type Engine struct {
	current atomics.Pointer[slot] // the first of the array in use
	stride  uintptr               // bytes of slots in a shard
	procs   atomics.Uintptr       // number of shards in the array in use, or fewer: see replace

	none slot // never has a block or a place

	reclaimable atomics.Bool // see Reclaim
	armed       atomics.Bool // see Arm; changes under mu
	sampled     bool         // Config.Sampled

	report report // see Report

	sizes   []int // of a block, by class
	depots  perclass.List[depot]
	sharded int // classes below this index can have magazines in shards
	table   table
	bounds  bounds
	demand  demand
	tier    tier

	// mu serializes the replacing of the array, and guards the fields below. It is held
	// over one grace period, by Trim over two. No hit waits for it, and no block is
	// refused because of it.
	mu        atomics.Mutex
	mostProcs int // the greatest GOMAXPROCS that an array was made for
}

// Init prepares an engine without blocks. It is a method, not a constructor, so that a
// pool can hold its engine by value: a pointer to it would be one more load on every
// Get.
func (e *Engine) Init(c Config) {
	e.sizes = c.Sizes
	e.bounds.maxBytes = c.MaxIdleBytes
	e.bounds.least.Store(c.MaxIdleBytes)
	e.bounds.maxPerClass = int64(c.MaxIdlePerClass)
	e.demand.init(c.Beyond, c.MaxIdleBytes, c.Unit)
	e.tier.open, e.tier.aging = c.Tier, c.Aging
	for i, size := range c.Sizes {
		if size <= MaxShardedSize && !c.Direct {
			e.sharded = i + 1
		}
	}
	e.reclaimable.Store(true)
	e.stride = stride(e.sharded)
	e.sampled = c.Sampled
	shards := 0 // they come with the first use: see enterGrown
	if c.Shards && e.sharded > 0 {
		shards = percpu.Procs()
	}
	a := e.newArray(sharded, shards)
	sizes, rounds := e.sizes, a.rounds
	e.depots.Init(len(sizes), func(class int, d *depot) {
		d.size, d.places, d.several = sizes[class], int(rounds[class]), rounds[class] > 1
	})
	if shards > 0 {
		e.depots.At(0) // which makes all
	}
	a.settled.Store(true)
	e.procs.Store(uintptr(shards))
	e.current.Store(&a.slots[0])
}

// Pop returns an idle block of a class, or nil when it finds none: then the depot and
// the shard of this P have none, though another P's shard may have one, or a Trim is in
// progress. The portable engine looks into others' shards too: see popElsewhere.
func (e *Engine) Pop(class uint8) unsafe.Pointer {
	if int(class) < e.sharded {
		x := e.Enter()
		block := e.Slot(x, slotAt(class)).Pop()
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
	KeptDirect               // in the depot of an engine that is in direct mode, or that Trim is emptying
	Wanted                   // not kept: a caller waits for it, see Wait
	NoRoom                   // not kept: the bounds are reached
	AfterClose               // not kept: the engine is closed
)

// Push gives the engine a block of a class. Unless the block is kept, it stays with the
// caller.
func (e *Engine) Push(class uint8, block unsafe.Pointer) Result {
	if int(class) < e.sharded {
		x := e.Enter()
		s := e.Slot(x, slotAt(class))
		kept := s.Give(block) || s.GiveMore(block)
		x.Exit()
		if kept {
			return Kept
		}
	}
	return e.PushSlow(class, block)
}

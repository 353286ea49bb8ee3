package magazine

import (
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/percpu"
)

// A mode says where an engine keeps its idle blocks.
type mode uint8

const (
	sharded  mode = iota // in the shards; in the depots what the shards do not hold
	direct               // all in the depots, where any goroutine can find them
	trimming             // all in the depots, where they stay until Trim takes them: see Trim
	closed               // nowhere
)

// A shard is the part of one P's shard that the fast path does not need.
type shard struct {
	// guard makes the portable engine's sections exclusive. It is held for a handful of
	// moves, or one exchange with a depot; no other lock is taken under it.
	guard sync.Mutex
	bytes int   // of places in all its magazines, at most the array's shardBytes
	hand  uint8 // the class that was last made to give way to another
	_     [64]byte
}

// An array is the set of shards that an engine uses at one time. It is replaced as a
// whole and never changes its mode or length, so both are constant for a section that
// has loaded it.
type array struct {
	mode mode

	// settled is set once the blocks of the array before this one are in the depots.
	// From then on, and not earlier, a direct engine has no block that a look into the
	// depots would miss.
	settled atomics.Bool

	// Both follow from procs, so that empty places in all the shards leave the pool at
	// least half of its bounds. They only shrink from one array to the next.
	shardBytes int      // at most ShardBytes
	rounds     []uint32 // by class; blocks of a full magazine, 1 if the shards have no magazines of the class

	procs     uint              // number of shards that have slots
	slots     []slot            // the first leads to this array
	shards    []shard           // at least one
	transfers []transfer        // by class
	left      atomics.Heuristic // bytes of places in all transfer caches
	counted   [][]counted       // by shard and class: what has been folded of the slots' counters
}

// stride returns the bytes of one shard's slots in an engine of so many sharded
// classes. Slot 0 is never filled: a size that has no class looks there and finds it
// empty, so the fast path need not test whether the class exists. After one slot for
// each class comes one more, which keeps neighbouring shards off each other's cache
// lines.
func stride(classes int) uintptr { return (uintptr(classes) + 2) * unsafe.Sizeof(slot{}) }

// newArray makes an empty array of so many shards. Without shards it has the slot that leads
// to it, and a guard.
func (e *Engine) newArray(m mode, shards int) *array {
	// The bounds are divided among as many as there ever could be: see array.rounds.
	e.mostProcs = max(e.mostProcs, shards, percpu.Procs())
	procs := e.mostProcs
	a := &array{
		mode:       m,
		shardBytes: e.bounds.shardBytes(procs),
		rounds:     make([]uint32, len(e.sizes)),
		procs:      uint(shards),
		slots:      make([]slot, max(1, shards*(e.sharded+2))),
		shards:     make([]shard, max(1, shards)),
		counted:    make([][]counted, shards),
	}
	if shards > 0 {
		a.transfers = make([]transfer, e.sharded)
	}
	for class := range a.rounds {
		a.rounds[class] = 1
		if class < e.sharded {
			a.rounds[class] = e.bounds.rounds(e.sizes[class], int(e.demand.unit), procs)
		}
	}
	for id := range a.counted {
		a.counted[id] = make([]counted, e.sharded)
		for class := range e.sharded {
			s := e.slotOf(a, uint(id), class)
			s.transfer, s.rounds = &a.transfers[class], uint8(a.rounds[class])
			if e.sampled {
				start := rand.Uint32()
				s.hits.low = uintptr(start)
				n := uint64(start)
				a.counted[id][class] = counted{hits: n, seen: n, cleared: n}
			}
		}
	}
	a.slots[0].array = a
	return a
}

// A section is the time in which a goroutine is the only user of one shard of one
// array. Code in a section only moves words: it does not allocate, block, or panic, and
// calls nothing but the collector's write barrier. A hit takes a few nanoseconds, an
// exchange of magazines some hundred, and one that must make way in a full shard a few
// microseconds at worst. On the pinned engine a section holds off the scheduler and
// every stop-the-world; on the portable one other sections wait for its lock.
//
// It cannot panic because no index in it can be out of range and no pointer nil while
// the invariants of slot hold: n and room are at most the capacity of loaded, and 0
// while loaded is nil; ids are below the array's length or not used, see Outgrown;
// classes come from the size table.
type section struct {
	id    int   // of the shard, if the array has one for this P
	first *slot // of the array
}

func (x section) array() *array { return x.first.array }

// shard returns the part of the section's shard that is not slots. The caller ensures
// that the section has a shard.
func (x section) shard() *shard { return &x.array().shards[x.id] }

// Outgrown reports whether the P is newer than the array and has no shard in it.
func (e *Engine) Outgrown(x section) bool { return uintptr(x.id) >= e.procs.Load() }

// Enter begins a section. The array must be loaded inside it: that is what lets replace
// wait for all sections that have seen the old one.
func (e *Engine) Enter() section {
	if percpu.Pinned {
		return section{percpu.Pin(), e.current.Load()} // in this order
	}
	return e.enterGuarded()
}

// EnterBeside is Enter for a goroutine that is in a section x of another engine: one
// pin serves for both. The goroutine must leave this section by ExitBeside, before x.
func (e *Engine) EnterBeside(x section) section {
	if percpu.Pinned {
		return section{x.id, e.current.Load()}
	}
	return e.enterGuarded()
}

// enterGuarded begins a section of the portable engine. A section that finds its array
// replaced after it has a guard starts again, so once replace has held each guard of the
// old array in turn, no goroutine is left in it. The zero Engine has no array, and a
// section of it no guard.
func (e *Engine) enterGuarded() section {
	preferred := uint(percpu.Pin())
	for {
		first := e.current.Load()
		if first == nil {
			return section{}
		}
		id := first.array.lockAny(preferred)
		if e.current.Load() == first {
			return section{int(id), first}
		}
		first.array.shards[id].guard.Unlock()
	}
}

// lockAny locks the first free guard from the preferred one on, or that one when all are
// held, and returns its shard.
func (a *array) lockAny(preferred uint) (id uint) {
	n := uint(len(a.shards))
	id = preferred % n
	for i := range n {
		if next := (id + i) % n; a.shards[next].guard.TryLock() {
			return next
		}
	}
	a.shards[id].guard.Lock()
	return id
}

// Exit ends a section.
func (x section) Exit() {
	if percpu.Pinned {
		percpu.Unpin()
		return
	}
	if x.first != nil {
		x.shard().guard.Unlock()
	}
}

// ExitBeside ends a section that EnterBeside began.
func (x section) ExitBeside() {
	if !percpu.Pinned && x.first != nil {
		x.shard().guard.Unlock()
	}
}

// OnlySlot is where the slot of the class begins, in an engine of one class.
const OnlySlot = SlotSize

// slotAt returns where the slot of a class begins in a shard, in bytes.
func slotAt(class uint8) uintptr { return (uintptr(class) + 1) * SlotSize }

// Slot returns the slot of a class in the section's shard, by where it begins: slotAt of the class,
// or 0 for a size that has no class. If the P is newer than the array, Slot returns a
// slot without blocks and without room.
func (e *Engine) Slot(x section, at uintptr) *slot {
	if e.Outgrown(x) {
		return &e.none
	}
	return e.OwnSlot(x, at)
}

// OwnSlot is Slot after the section has found, by Outgrown, that it has a shard. Asking
// again could give another answer: see ClearStale.
func (e *Engine) OwnSlot(x section, at uintptr) *slot {
	mustExist(x)
	return (*slot)(unsafe.Add(unsafe.Pointer(x.first), uintptr(x.id)*e.stride+at))
}

// slotOf is Slot for a caller that owns the shard, or reads its counters, without being
// in a section of it.
func (e *Engine) slotOf(a *array, id uint, class int) *slot {
	return &a.slots[int(id)*(e.sharded+2)+class+1]
}

// lock keeps sections of the portable engine out of a shard, so that its counters can
// be read.
func (a *array) lock(id uint) {
	if !percpu.Pinned {
		a.shards[id].guard.Lock()
	}
}

func (a *array) unlock(id uint) {
	if !percpu.Pinned {
		a.shards[id].guard.Unlock()
	}
}

// grace returns once no goroutine is in a section of the old arrays, which are no longer
// current.
//
// The argument, for the pinned engine: a section loads the array after Pin. A section
// that began before the swap may have loaded the old array, and percpu.Grace waits for
// it to end. One that begins later loads the new array, since the swap came first. For
// the portable engine see enterGuarded.
func grace(changes []change) {
	if percpu.Pinned {
		gracePeriod()
		return
	}
	for _, c := range changes {
		for i := range c.old.shards {
			c.old.shards[i].guard.Lock()
			c.old.shards[i].guard.Unlock() //lint:ignore SA2001 to have held it is the point
		}
	}
}

package magazine

import (
	"sync"
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

// A mode says where an engine keeps its idle blocks.
type mode uint8

const (
	sharded mode = iota // in the shards, and in the depots what they do not hold
	direct              // all in the depots, where any goroutine can find them
	closed              // nowhere
)

// A slot is one class in one shard. It belongs to the goroutine that is pinned
// to the shard's P (or holds the shard's guard), which reads and writes it
// without atomics. 64 bytes on 64-bit machines, so that the classes of a busy
// shard do not share cache lines more than they must.
type slot struct {
	loaded *magazine // blocks come from and go to this one; nil when n and room are 0
	n      uint32    // blocks in loaded
	room   uint32    // places reserved for loaded
	// hits and puts count the operations served here since the shard was made.
	// Their owner writes them plainly; a reader of statistics loads them while
	// he does: the one exception to typed atomics. They wrap on 32-bit machines,
	// so readers fold differences (see counts.go).
	hits, puts uintptr
	// previous is either full or empty, so that Gets and Puts that alternate at
	// a boundary swap it with loaded and stay off the depot. nil until needed.
	previous *magazine
	// array and procs are set in the first slot of an array only, which is no
	// class's slot but the way to the rest; procs is the number of shards.
	array *array
	procs uint
	_     [64 - 6*unsafe.Sizeof(uintptr(0)) - 8]byte
}

// swap makes the previous magazine the loaded one.
func (s *slot) swap() {
	m := s.previous
	if s.loaded != nil {
		s.loaded.n, s.loaded.room = s.n, s.room
	}
	s.previous = s.loaded
	s.loaded, s.n, s.room = m, m.n, m.room
}

// Has reports whether Take has a block to return.
func (s *slot) Has() bool { return s.n != 0 }

// Take pops a block. The caller has seen that there is one: 0 < n <= room, so
// loaded is not nil. Its place keeps pointing to it until the next Give or until
// the magazine leaves the shard: clearing it here would cost a sixth of a Get and
// Put. So a block that its owner loses may be collected a little later.
func (s *slot) Take() unsafe.Pointer {
	s.n--
	s.hits++
	return *s.item(s.n)
}

// item is &s.loaded.items[i] for 0 <= i < MaxRounds, without the checks that i is
// in range and loaded is not nil: neither may panic in a section, and they show.
func (s *slot) item(i uint32) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(s.loaded),
		unsafe.Offsetof(s.loaded.items)+uintptr(i)*unsafe.Sizeof(s.loaded.items[0])))
}

// HasRoom reports whether Give has a place for a block.
func (s *slot) HasRoom() bool { return s.n < s.room }

// Give pushes a block. The caller has seen that there is room: n < room.
func (s *slot) Give(block unsafe.Pointer) {
	*s.item(s.n) = block
	s.n++
	s.puts++
}

// A shard is what the fast path does not need of one P's shard.
type shard struct {
	// guard makes the portable engine's sections exclusive. Held for a handful
	// of moves, or one exchange with a depot; nothing else is locked under it.
	guard sync.Mutex
	bytes int   // what the places of all its magazines come to, at most shardBytes
	hand  uint8 // the class that was last made to give way to another
	_     [64]byte
}

// An array is the set of shards that an engine uses at one time. It is replaced
// as a whole and never changes its mode or length, so a section that has loaded
// it knows both for as long as it runs.
type array struct {
	mode mode

	// settled is set once the blocks of the array before this one are in the
	// depots: from then on, and not earlier, a direct engine has no block that a
	// look into the depots would miss.
	settled atomicBool

	procs   uint   // shards
	slots   []slot // the first is the way to this array
	shards  []shard
	counted [][]counted // by shard and class: what has been folded of the slots' counters
}

// stride returns the bytes of one shard's slots in an engine of so many sharded
// classes. Number 0 is never filled: sizes that have no class look there, and find
// it empty like any other, so nobody asks whether the class exists. Then comes one
// for each class, and one that keeps neighbours off each other's cache lines.
func stride(classes int) uintptr { return (uintptr(classes) + 2) * unsafe.Sizeof(slot{}) }

// newArray makes an empty array of procs shards.
func newArray(m mode, procs, classes int) *array {
	a := &array{
		mode:    m,
		procs:   uint(procs),
		slots:   make([]slot, procs*(classes+2)),
		shards:  make([]shard, procs),
		counted: make([][]counted, procs),
	}
	for id := range a.counted {
		a.counted[id] = make([]counted, classes)
	}
	a.slots[0].array, a.slots[0].procs = a, a.procs
	return a
}

// A section is the time in which a goroutine is the only user of one shard of
// one array. Code in a section only moves words: it does not allocate, block,
// call out or panic, and takes well under 100 ns, because on the pinned engine it
// holds off the scheduler and every stop-the-world, and on the portable one
// others wait for its lock. No index in it is checked by more than a mask, no
// pointer in it can be nil where the invariants of slot hold.
type section struct {
	first *slot // of the array
	id    uint  // of the shard, if the array has one for this P
}

func (x section) array() *array { return x.first.array }

// shard returns what belongs to the section besides slots. It has some.
func (x section) shard() *shard { return &x.array().shards[x.id] }

// outgrown reports that the P is newer than the array and has no shard in it.
func (x section) outgrown() bool { return x.id >= x.first.procs }

// Enter begins a section. The array must be loaded inside it: that is what lets
// replace wait for all who have seen the old one.
func (e *Engine) Enter() section {
	if percpu.Pinned {
		id := percpu.Pin()
		return section{e.current.Load(), uint(id)}
	}
	return e.enterGuarded()
}

// enterGuarded begins a section of the portable engine: the first free guard
// from the hint on, or the hint's own when all are held. A section that finds
// its array replaced after it has the guard starts again, so once replace has
// held each guard of the old array in turn, nobody is left in it.
func (e *Engine) enterGuarded() section {
	hint := uint(percpu.Pin())
	for {
		first := e.current.Load()
		a := first.array
		id := hint % a.procs
		for i := range a.procs {
			if a.shards[(id+i)%a.procs].guard.TryLock() {
				id = (id + i) % a.procs
				goto locked
			}
		}
		a.shards[id].guard.Lock()
	locked:
		if e.current.Load() == first {
			return section{first, id}
		}
		a.shards[id].guard.Unlock()
	}
}

// Exit ends a section.
func (x section) Exit() {
	if percpu.Pinned {
		percpu.Unpin()
		return
	}
	x.shard().guard.Unlock()
}

// Slot returns the slot of a class in the section's shard, by number: the class
// plus 1, or 0 for a size that has none. Where the P is newer than the array it
// returns a slot without blocks and without room.
func (e *Engine) Slot(x section, number uint8) *slot {
	if x.outgrown() {
		return &e.none
	}
	return (*slot)(unsafe.Add(unsafe.Pointer(x.first),
		uintptr(x.id)*e.stride+uintptr(number)*unsafe.Sizeof(slot{})))
}

// grace returns once nobody is in a section of a, which is no longer current.
//
// The argument, for the pinned engine: a section loads the array after Pin. One
// that began before the swap may have loaded the old array, and percpu.Grace
// waits for it to end. One that begins after the swap loads the new array, since the swap
// came first. For the portable engine see enterGuarded.
func (e *Engine) grace(a *array) {
	if percpu.Pinned {
		gracePeriod()
		return
	}
	for i := range a.shards {
		a.shards[i].guard.Lock()
		a.shards[i].guard.Unlock() //lint:ignore SA2001 to have held it is the point
	}
}

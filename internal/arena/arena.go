// Package arena allocates blocks of exact sizes on memory outside the Go heap, where
// the collector neither scans nor counts them. It is the [memory.Ledger] of package
// offheap, and the only package that asks the system for memory.
//
// From a block up to the system:
//
//  1. A block has one of the states of [memory.State]. The states of a whole range are in
//     a table beside it (table.go), where the pool finds them without the arena's help.
//  2. A span (span.go) is a run of granules of 64 KiB, cut into blocks of one size. A span
//     lives from its first block until Decommit finds all of its blocks free. If checked
//     mode asks for it, the blocks lie apart (isolate.go).
//  3. An address range (space.go) is reserved once, without access. It becomes accessible
//     from its start on, never shrinks, and is cut into spans first fit, so that spans in
//     use stay together. Addresses are used again, for any size.
//  4. The system's calls are in system_linux.go. On other systems, and with
//     Config.OnHeap, each span is a piece of the Go heap instead (heap.go): slower to look
//     up, and the collector takes what Decommit releases.
//
// Alloc and Free take a mutex for some tens of nanoseconds, and Alloc may wait for the
// system. Owns, Issue and Return take none on mapped memory. The pool calls them only
// for what it does not do by itself: large blocks, and telling why a slice is refused.
package arena

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/memory"
)

const (
	// Multiple divides every block size, MinSize is the smallest and MaxSize the
	// largest.
	Multiple = memory.Multiple
	MinSize  = memory.MinBlock
	MaxSize  = memory.MaxBlock

	// granule is the unit of spans: at least a page of every system.
	granule      = 1 << granuleShift
	granuleShift = 16

	// A leaf covers 64 MiB of address space: 1024 granules.
	leafShift = 26
	leafSize  = 1 << (leafShift - granuleShift)
)

// DefaultReserve is the value of Config.Reserve that 0 stands for: 64 GiB of address
// space, or 256 MiB where an address has 32 bits.
const DefaultReserve int64 = 256 << 20 << (8 * (^uint(0) >> 63))

var (
	// ErrFull is wrapped by Alloc's error when the reserved range has no room for a
	// span of that size.
	ErrFull = errors.New("the reserved address space is full")

	// ErrClosed is what Alloc returns after Close.
	ErrClosed = errors.New("the arena is closed")
)

// Config is what an arena is made from. The zero value is a usable default.
type Config struct {
	// Reserve is how many bytes of address space to reserve, rounded up to 64 KiB: the
	// most that the arena can ever hold. It takes no memory until it is used, but a
	// limit on address space (ulimit -v) counts it, and 5/64 more for the states of
	// blocks (table.go). 0 means DefaultReserve.
	Reserve int64

	// OnHeap takes memory from the Go heap even if the system can map it, so that the
	// race detector, which sees the Go heap only, sees the blocks' bytes.
	OnHeap bool

	// Gauge counts what the arena has mapped, in addition to memory.OffHeap. It may be
	// nil.
	Gauge *memory.Gauge

	// Changed is called after Gauge may have changed, and often when it has not, with
	// no lock held, by the goroutine that allocates or frees memory. It may be nil.
	Changed func()
}

// An Arena allocates blocks of memory. All its methods are safe for concurrent use.
type Arena struct {
	// These fields are what Owns, Issue and Return read. They never change.
	base   uintptr // where the range begins
	size   uintptr // bytes of the range; 0: on the heap
	leaves []atomic.Pointer[leaf]
	blocks memory.Blocks // of the range; if it has no table, each span has its own
	heap   *heap         // nil: mapped

	gauge   *memory.Gauge // used in account.go; these never change either
	changed func()

	// decommitting is held from before Decommit takes spans in hand until they are
	// back, so only one goroutine does so at a time, and one that needs the spans waits
	// for it. It is a mutex because that goroutine may be in another testing/synctest
	// bubble. It is locked before mu.
	decommitting sync.Mutex

	// mu guards the fields below, and those fields of spans that say so. It is held for
	// list operations, and for system calls only when a range becomes accessible, gets
	// its fences or is unmapped: Decommit releases it during its own.
	mu       sync.Mutex
	space    space
	sizes    map[int]*sizeList
	isolated bool  // layouts are isolated
	inUse    int   // blocks that are not free
	bytes    int64 // their sizes
	spans    int
	busy     bool // Decommit has spans in hand
	closed   bool
	counted  counted

	lost *atomics.Witness // unmaps the table; nil: there is none
}

var _ memory.Ledger = (*Arena)(nil)

// counted is the part of Usage that has no other field.
type counted struct {
	committed   int64 // changed by Arena.committed alone
	decommitted int64
	refused     uint64
}

// A leaf finds the span of each granule; nil if it has none.
type leaf [leafSize]atomic.Pointer[span]

// A sizeList is the spans of one block size that have a free block, by ascending
// address: Alloc takes from the first, so that the last ones become empty.
type sizeList struct {
	layout layout
	spans  []*span
}

// New reserves an address range. The arena keeps it until Close.
func New(c Config) (*Arena, error) { return newArena(c, platform()) }

func newArena(c Config, sys system) (*Arena, error) {
	reserve := c.Reserve
	switch {
	case reserve == 0:
		reserve = DefaultReserve
	case reserve < 0 || uint64(reserve) > uint64(^uint(0)>>1)&^(granule-1):
		return nil, fmt.Errorf("arena: Reserve %d: give bytes of address space, or 0 for %d", reserve, DefaultReserve)
	}
	granules := int((reserve-1)>>granuleShift) + 1
	a := &Arena{sizes: make(map[int]*sizeList), gauge: c.Gauge, changed: c.Changed}
	a.space.init(sys, granules)
	if c.OnHeap || !sys.maps() {
		a.heap = newHeap()
		return a, nil
	}
	if err := a.space.reserve(); err != nil {
		return nil, fmt.Errorf("arena: reserving %d bytes of address space: %w; %s", int64(granules)<<granuleShift, err, a.space.advice())
	}
	a.base = addressOf(a.space.memory)
	a.size = uintptr(len(a.space.memory))
	if a.space.table.exists() {
		a.blocks = memory.NewBlocks(a.base, a.space.table.states())
		a.space.table.unmapAfter(a)
	}
	a.leaves = make([]atomic.Pointer[leaf], (a.size-1)>>leafShift+1)
	a.mapped(int64(a.size))
	return a, nil
}

// Alloc returns an idle block of len and cap size, all zero. size is a multiple of 16
// up to 64 MiB. Its errors wrap ErrFull, ErrClosed or the system's own.
func (a *Arena) Alloc(size int) ([]byte, error) {
	if size < MinSize || size > MaxSize || size%Multiple != 0 {
		return nil, fmt.Errorf("arena: a block of %d bytes: give a multiple of %d, from %d to %d", size, Multiple, MinSize, MaxSize)
	}
	s, slot, dirty, err := a.takeFreed(size)
	if err != nil {
		return nil, fmt.Errorf("arena: a block of %d bytes: %w", size, err)
	}
	b := s.block(slot)
	if dirty {
		clear(b)
	}
	state, whenOut := s.state(slot)
	state.Add(whenOut) // no other goroutine has the block yet
	return b, nil
}

// takeFreed is take, but if there is no room it first gives idle spans to the system:
// spans of other sizes, and those that a Decommit already has in hand. Waiting for that
// is better than refusing. So it returns ErrFull only if blocks that are not free, or
// spans that the system has just refused to take, leave no room.
func (a *Arena) takeFreed(size int) (s *span, slot uint32, dirty bool, err error) {
	for last := false; ; {
		var inHand bool
		s, slot, dirty, inHand, err = a.take(size)
		switch {
		case !errors.Is(err, ErrFull):
			return s, slot, dirty, err
		case inHand:
			a.awaitDecommit()
		case last:
			return nil, 0, false, err
		default:
			n, _ := a.Decommit()
			last = n == 0 // but another Decommit may have ended since take
		}
	}
}

// take finds a free block and reserves it for the caller, who must then set its state.
// If it returns an error, inHand says whether a Decommit had spans in hand at that
// moment.
func (a *Arena) take(size int) (s *span, slot uint32, dirty, inHand bool, err error) {
	defer a.report() // before the block is used
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, 0, false, false, ErrClosed
	}
	list := a.sizes[size]
	if list == nil {
		list = &sizeList{layout: layoutOf(size)}
		if a.isolated {
			list.layout = isolatedLayoutOf(size)
		}
		a.sizes[size] = list
	}
	if len(list.spans) == 0 {
		if s, err = a.newSpan(list.layout); err != nil {
			return nil, 0, false, a.busy, err
		}
		list.insert(s)
	}
	s = list.spans[0]
	slot, dirty = s.take()
	if !dirty {
		a.committed(s.wrote(slot))
	}
	if s.full() {
		list.remove(s)
	}
	a.inUse++
	a.bytes += int64(size)
	return s, slot, dirty, false, nil
}

// newSpan makes a span whose blocks are all free and all zero.
func (a *Arena) newSpan(l layout) (*span, error) {
	first, err := a.space.take(l.granules)
	if err != nil {
		return nil, err
	}
	s := newSpan(l, first)
	if a.heap != nil {
		s.attach(a.heap.alloc(l.granules))
	} else {
		from := first << granuleShift
		to := from + l.granules<<granuleShift
		s.attach(a.space.memory[from:to:to])
	}
	s.blocks = a.blocks
	if !a.space.table.exists() {
		// As many states as if the last block lay among blocks side by side.
		before := (l.at(l.count-1) + l.size - 1) / l.size
		s.blocks = memory.NewBlocks(s.base, make([]memory.State, memory.StatesOf(before+1, l.size)))
	}
	if a.isolated {
		s.fence(a.space.sys)
	}
	a.enter(s)
	return s, nil
}

// enter lets find find a span. leave undoes that.
func (a *Arena) enter(s *span) {
	a.spans++
	a.index(s, s)
}

func (a *Arena) leave(s *span) {
	a.spans--
	a.index(s, nil)
}

func (a *Arena) index(at, to *span) {
	if a.heap != nil {
		a.heap.index(at, to)
		return
	}
	for g := at.first; g < at.first+at.granules; g++ {
		place := &a.leaves[g/leafSize]
		l := place.Load()
		if l == nil {
			l = new(leaf)
			place.Store(l)
		}
		l[g%leafSize].Store(to)
	}
}

// Free takes back an idle block. A slice that is no block, or a block that is out or
// free, is left as it is and counted in Usage.Refused. Free never waits for the system,
// unless it ends a Close.
func (a *Arena) Free(block []byte) {
	s, slot := a.find(block)
	defer a.report()
	a.mu.Lock()
	defer a.mu.Unlock()
	if s == nil || !s.remove(slot) {
		a.counted.refused++
		return
	}
	wasFull := s.full()
	s.give(slot)
	if wasFull {
		a.sizes[s.size].insert(s)
	}
	a.inUse--
	a.bytes -= int64(s.size)
	// If the system refuses, the range stays, and another Close reports it.
	_ = a.unmapLocked()
}

// Owns reports whether b starts where a block starts that is not free, and has its cap.
func (a *Arena) Owns(b []byte) bool {
	s, slot := a.find(b)
	return s != nil && !s.free(slot)
}

// find returns the span of the block that b starts with and whose cap it has, and the
// block's place in the span; or nil.
func (a *Arena) find(b []byte) (*span, uint32) {
	at := addressOf(b)
	var s *span
	if offset := at - a.base; offset < a.size {
		if l := a.leaves[offset>>leafShift].Load(); l != nil {
			s = l[offset>>granuleShift%leafSize].Load()
		}
	} else if a.heap != nil {
		s = a.heap.find(at)
	}
	if s == nil || s.size != cap(b) {
		return nil, 0
	}
	slot, ok := s.slot(uint32(at - s.base))
	if !ok {
		return nil, 0
	}
	return s, slot
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func (l *sizeList) insert(s *span) {
	at, _ := slices.BinarySearchFunc(l.spans, s.base, bySpanBase)
	l.spans = slices.Insert(l.spans, at, s)
}

func (l *sizeList) remove(s *span) {
	if at, ok := slices.BinarySearchFunc(l.spans, s.base, bySpanBase); ok {
		l.spans = slices.Delete(l.spans, at, at+1)
	}
}

func bySpanBase(s *span, base uintptr) int {
	if s.base < base {
		return -1
	}
	if s.base > base {
		return 1
	}
	return 0
}

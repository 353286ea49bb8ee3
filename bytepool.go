package dewpond

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/learn"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A BytePool hands out blocks of bytes and takes them back for reuse.
// It keeps idle blocks across garbage collections, within its bounds, until
// [BytePool.Trim], [BytePool.Close] or decay releases them. Make a pool with
// [NewBytePool].
//
// The zero BytePool is also ready to use: from its first use it has the default
// options. Its Get and Put take a little longer than those of a pool made by NewBytePool:
// https://github.com/dewpond/dewpond/blob/main/docs/results.md#the-zero-value.
//
// A BytePool must not be copied. All its methods may be called by any number of
// goroutines at once. A Put of a block synchronizes before the Get that returns it.
//
// The caller of Get owns the block until Put. After Put no caller may use it: a pool
// cannot see that a slice is still in use, or that it is put back twice while
// its block is out again. The ownership document of the repository lists which misuse
// is refused and which is not:
// https://github.com/dewpond/dewpond/blob/main/docs/ownership.md.
type BytePool struct {
	// The fields that Get and Put read come first, in one cache line.
	classes     *sizeclass.Table // which pools of the same classes share; nil in the zero BytePool
	blocks      memory.Blocks    // the ledger's
	alignment   uint8            // a block begins where these bits of the address are 0, but see guard
	onPut       blockWork
	onGet       blockWork
	initialized bool   // by NewBytePool; false in the zero BytePool
	sampleMask  uint32 // see lot
	engine      magazine.Engine

	source   Allocator         // nil: the Go heap
	ledger   memory.Ledger     // source, if it is a Ledger; else nil
	fallback *memory.Fallbacks // blocks of the Go heap that replace the source's when it fails
	elements *elements         // what the blocks consist of, if the pool is a SlicePool's; else nil

	name  string
	entry *registry.Entry // in livePools

	handles magazine.Engine // idle handles of leases, one class of size 1

	first learn.First // size of a Buffer's first block

	decay  decay.Decayer
	gate   admission.Gate
	checks *checks
	count  counts

	bodyPools bodyPools
	shared    bool // it is Default's
	standIn   standIn[BytePool]

	parts  *apart[*BytePool] // nil but in the binary of a test; also that of which this is a part
	bubble uint64            // whose part this is

	zero  ZeroPolicy
	guard *guarded // nil: no block is guarded
	bare  string   // why not

	exhausted error // what a call returns that is refused now: see answer
}

// Get and Put read the pool's first cache line, which includes the engine's first three
// words. This does not compile if a field pushes those words out of the line.
const _ = 64 - (unsafe.Offsetof(BytePool{}.engine) + 3*unsafe.Sizeof(uintptr(0)))

// A Class has the place of its slot. This does not compile if slots have another size.
var _ = [1]struct{}{}[magazine.SlotSize-sizeclass.SlotSize]

// A blockWork says what Put does to a block before the engine gets it, or what Get does to a
// block from the engine. It sums up the pool's options, so that the fast path needs one
// comparison.
type blockWork uint8

const (
	clearBlock blockWork = 1 << iota
	trackState           // Put: ask the Allocator whether it owns the block; Get: note that the block is out
	watchSome            // CheckSampled
	watchAll             // CheckAll
	askBudget            // Put: ask whether the block is charged, and whether the Budget has room
	resetBlock           // Put: call elements.reset

	keepAsIs blockWork = 0
	watch              = watchSome | watchAll
)

// NewBytePool makes a pool. If options are invalid it returns one error that names each
// of them.
func NewBytePool(o BytePoolOptions) (*BytePool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := new(BytePool)
	entry := reserve(p, o.Name)
	if keepApart() && o.mayWait() {
		p.entry, p.name = entry, entry.Name()
		p.parts = new(apart[*BytePool])
		p.parts.begin(func(bubble uint64) *BytePool {
			part := &BytePool{parts: p.parts, bubble: bubble}
			part.init(o.in(bubble), nil, entry)
			return part
		})
	} else {
		p.init(o, nil, entry)
	}
	publish(entry)
	p.armIfDue()
	return p, nil
}

// MustBytePool is like [NewBytePool], but panics if the options are invalid. It
// simplifies the initialization of global variables.
func MustBytePool(o BytePoolOptions) *BytePool {
	p, err := NewBytePool(o)
	if err != nil {
		panic(err)
	}
	return p
}

// init makes a BytePool of valid options, whose name is that of the entry. e is what its
// blocks consist of, if the pool is a SlicePool's, and else nil.
func (p *BytePool) init(o BytePoolOptions, e *elements, entry *registry.Entry) {
	p.initialized = true
	p.classes = sizeclass.Shared(o.Classes)
	p.zero = o.Zero
	p.source = o.Memory
	p.fallback = new(memory.Fallbacks) // an Allocator that fails is the only reason for one
	p.elements = e
	p.checks = blockChecks(o, e)
	p.count.class.Init(len(o.Classes), nil)
	p.first.Init(p.classes)
	p.onPut, p.onGet = p.checks.work(), p.checks.work()
	if o.Memory != nil {
		p.onPut |= trackState
	}
	if p.ledger, _ = o.Memory.(memory.Ledger); p.ledger != nil {
		p.onGet |= trackState
		p.blocks = p.ledger.Blocks()
	}
	if o.Budget != nil {
		p.onPut |= askBudget
	}
	if e != nil && e.reset != nil {
		p.onPut |= resetBlock
	} else if o.Zero == ZeroOnPut {
		p.onPut |= clearBlock
	}
	if o.Zero == ZeroOnGet || p.onPut&clearBlock != 0 && p.onGet&watchAll != 0 && !e.areSealed() { // there is poison in it
		p.onGet |= clearBlock
	}
	sizes := o.Classes // what a block counts, in the bounds and in the Budget
	if o.Memory == nil && e == nil {
		sizes = sizeclass.Allocated(o.Classes)
	}
	p.beGuarded(o)
	idle, follows := o.idle()
	p.engine.Init(magazine.Config{
		Sizes:           sizes,
		MaxIdleBytes:    idle - p.checks.quarantined(),
		MaxIdlePerClass: max(0, o.MaxIdlePerClass),
		Beyond:          beyondIf(follows),
		Tier:            tierUnless(o.NoSecondTier || idle == 0 || o.Memory != nil || o.Budget != nil || p.checks != nil),
		Aging:           o.IdleTimeout > 0,
		Sampled:         p.onGet&watchSome != 0,
	})
	if p.checks.everything() {
		p.engine.EnterDirect() // permanently
	}
	p.handles.Init(magazine.Config{Sizes: []int{1}, MaxIdleBytes: idleHandles, Direct: p.checks.everything()})
	var settle func()
	if p.ledger != nil || p.checks != nil {
		settle = p.settle
	}
	if p.checks != nil {
		p.checks.Keeper = (*blockKeeper)(p)
	}
	unit := int64(1)
	if o.Memory != nil {
		unit = 0
	}
	trim, settle, shed := p.checks.errands(p.trimInTurn, settle, p.gate.Shed)
	p.decay.Init(processTicker(), o.IdleTimeout, trim, settle,
		decay.Part{Idle: &p.engine, Sizes: sizes, Unit: unit, Shed: shed},
		decay.Part{Idle: &p.handles, Sizes: []int{1}, Shed: func(class uint8, n int) { p.handles.Shed(class, n, forgetHandle) }})
	p.decay.Asks(spilled, func() { p.count.collections.Add(1) })
	p.entry, p.name = entry, entry.Name()
	p.exhausted = exhausted("pool %q is exhausted: no block is idle, and AllocRate or the Budget allows no new one now", p.name)
	p.gate.Init(admission.Config{
		Name: p.name, Owner: (*owner)(p), Engine: &p.engine, Sizes: sizes, AllocRate: o.AllocRate,
		Budget: o.Budget.admission(), Heap: p.source == nil, Direct: p.checks.everything(),
	})
	if p.checks != nil {
		p.checks.pool = p.name
		p.sampleMask = uint32(p.checks.sampleMask)
	}
	if p.guard != nil {
		p.guard.pool = p.name
	}
	p.gate.Join() // from here on its other pools may look at this one
}

// Get returns a slice of n bytes. Its cap is the smallest class that holds n bytes, and
// it begins at an address that is a multiple of 16.
// The bytes are zero unless the pool's policy is [ZeroNever]. If n is larger than the
// largest class, Get allocates a slice that is not pooled. Get is never
// refused: past [BytePoolOptions.AllocRate] it still allocates, and counts that in
// [Stats.OverAllocRate]. It panics if n is negative.
//
// Get(0) returns an empty slice that is not nil and has cap 0. It takes no block, and is
// not counted. For a slice to append to, use Get(n)[:0], or start with nil and
// [BytePool.Append].
//
//go:nosplit
func (p *BytePool) Get(n int) []byte {
	if uint(n) > sizeclass.MaxSmall {
		return p.getMore(n)
	}
	classes := p.classes
	for classes == nil { // the zero BytePool: its stand-in, if there is one yet, is as fast
		other := p.standIn.pool.Load()
		if other == nil {
			return p.getSlow(n)
		}
		p, classes = other, other.classes
	}
	class := classes.OfSmall(uint(n))
	if uint(n) > class.Size() { // none, or the next
		return p.getSlow(n)
	}
	// engine.Pop, inlined by hand (cost 333 of 80): it saves one call of five. nosplit
	// saves the check for stack space; no function called from here needs much stack.
	engine := (*magazine.Engine)(unsafe.Add(unsafe.Pointer(p), unsafe.Offsetof(p.engine))) // p is not nil: &p.engine would ask again
	x := engine.Enter()
	if engine.Outgrown(x) {
		x.Exit()
		return p.getSlow(n)
	}
	slot := engine.OwnSlot(x, class.Slot())
	block := slot.Take()
	if block == nil {
		x.Exit()
		return p.getMore(n)
	}
	if p.onGet == keepAsIs {
		x.Exit()
		// A Class's size has 18 bits, so this checks nothing.
		return (*[1 << 18]byte)(block)[:n:class.Size()]
	}
	number := slot.Hits()
	x.Exit()
	switch p.onGet {
	case watchSome:
		// The mask, and not ||, saves those that are not marked a branch.
		if p.lot(number)&p.sampleMask&check.Unmarked(uintptr(block)) == 0 {
			p.prepare(block, class, number, n)
		}
	case trackState: // p.note, inlined by hand (cost 211 of 80)
		if state := p.blocks.Find(uintptr(block), class.Size()); state != nil {
			issue(state, memory.WhenOut(uintptr(block), class.Size()))
			runtime.KeepAlive(p)
			break
		}
		fallthrough
	default:
		p.prepare(block, class, number, n)
	}
	return (*[1 << 18]byte)(block)[:n:class.Size()]
}

// getMore is Get for sizes above MaxSmall, and for a slot that Take found empty.
func (p *BytePool) getMore(n int) []byte {
	if classes := p.classes; classes != nil && uint(n) <= sizeclass.MaxLarge {
		class := classes.OfLarge(uint(n))
		if uint(n) <= sizeclass.MaxSmall {
			class = classes.OfSmall(uint(n))
		}
		if uint(n) > class.Size() { // none, or the next
			return p.getSlow(n)
		}
		x := p.engine.Enter() // engine.Pop, inlined by hand (cost 333 of 80), for the number
		slot := p.engine.Slot(x, class.Slot())
		block := slot.Pop()
		number := slot.Hits()
		x.Exit()
		if block != nil {
			if p.onGet != keepAsIs {
				p.prepare(block, class, number, n)
			}
			return (*[1 << 18]byte)(block)[:n:class.Size()]
		}
	}
	return p.getSlow(n)
}

// blockAlignment is the alignment of every block, in bytes.
const blockAlignment = 16

// prepare makes an idle block ready for the caller of Get, who has asked for n bytes. number
// is the shard's number of this hit.
func (p *BytePool) prepare(block unsafe.Pointer, class sizeclass.Class, number uintptr, n int) {
	b := unsafe.Slice((*byte)(block), class.Size())
	if p.onGet&watch != 0 {
		p.checks.Unmark(uintptr(block))
		if p.lot(number)&p.sampleMask == 0 {
			p.checks.Sample.Asked.Add(int64(n))
			p.startWatch(b)
		}
	}
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// lot returns a number by which the block of a slot's hit is to be watched or not: those that
// are 0 in the bits of sampleMask are, one in sampleMask+1, as if at random. If it were every so
// many, and requests made as many Gets each, all that are watched would be of one place of a
// request, and the other places never.
func (p *BytePool) lot(number uintptr) uint32 {
	h := uint32(number) * 0x9e3779b1 // Knuth's multiplicative hash, with the upper bits mixed into the lower
	h = (h ^ h>>15) * 0x85ebca6b
	return h ^ h>>13
}

// noteAsked counts the size of a Get that may not have come through prepare, if it is chosen.
func (p *BytePool) noteAsked(n int) {
	if n > 0 && p.checks.chosen() {
		p.checks.Sample.Asked.Add(int64(n))
	}
}

// getSlow is Get when the shard has no idle block for it, which holds for every size without
// a class, and for a zero BytePool before its first use.
func (p *BytePool) getSlow(n int) []byte {
	switch {
	case n == 0:
		return noBytes[:]
	case !p.initialized:
		return p.actual().Get(n)
	}
	class, ok := p.classFor("Get", n)
	p.noteAsked(n)
	if !ok {
		return p.oversize(n)
	}
	return p.sampled(p.getBlock(class)[:n])
}

// getBlock returns a block that is ready for a caller.
func (p *BytePool) getBlock(class uint8) []byte {
	block := p.engine.PopSlow(class)
	if block == nil && p.engine.Reclaim(class) {
		block = p.engine.PopSlow(class)
	}
	if b := p.readySlice(class, block); b != nil {
		return b
	}
	overRate, overBudget := p.gate.Overrun(class)
	if overRate {
		p.count.overRate.Add(1)
	}
	if overBudget {
		p.count.overBudget.Add(1)
	}
	b, err := p.allocate(class, p.gate.Uncharge)
	if err != nil {
		// The Allocator failed, and Get must return memory. This block is not the Allocator's,
		// so its Put will be refused and the collector frees it.
		p.count.class.At(class).misses.Add(1)
		p.count.class.At(class).fallbacks.Add(1)
		b = make([]byte, p.classes.Size(class))
		p.fallback.Add(dataOf(b), addressOf(b))
	}
	return b
}

// Put gives a block back, whatever the slice's length. The caller must no longer use
// it. Put ignores a slice of cap 0, such as nil. It refuses, and counts in [Stats], what
// cannot be a block of this pool:
//
//   - a slice whose cap is not the size of a class, or that does not begin at a multiple
//     of 16 (Dropped.Foreign);
//   - a slice whose cap is more than the largest class (Dropped.Oversize);
//   - off the heap, a slice that is not exactly one of the pool's blocks
//     (Dropped.Foreign), and a block that is not out (Dropped.Double);
//   - in a pool with a [Budget], a slice that the pool has not handed out
//     (Dropped.Foreign).
//
// A block that the pool has no room for (Dropped.Full) belongs to the garbage collector, and a Get may take
// it until it is freed: see [BytePoolOptions.NoSecondTier]. Put drops every block while the
// pool's Budget is overdrawn (Dropped.Full), and every block after [BytePool.Close]
// (Dropped.Closed).
//
//go:nosplit
func (p *BytePool) Put(b []byte) {
	n := uint(cap(b))
	if n > sizeclass.MaxSmall {
		p.putLarge(b)
		return
	}
	classes := p.classes
	for classes == nil { // see Get
		other := p.standIn.pool.Load()
		if other == nil {
			p.putSlow(b)
			return
		}
		p, classes = other, other.classes
	}
	class := classes.OfSmall(n)
	if class.Size() != n || uint(addressOf(b))&uint(p.alignment) != 0 {
		p.putSlow(b)
		return
	}
	// What few pools need is a call, so that p stays in one register for all others. As a switch
	// like Get's, this takes 4 % of a Get and Put more with ZeroNever, and 8 % more with
	// CheckSampled and ZeroOnPut (BenchmarkGetPut, BenchmarkSampled).
	if p.onPut != keepAsIs {
		if work := p.onPut &^ clearBlock; work == watchSome {
			if check.Watched(addressOf(b)) {
				p.putSlow(b)
				return
			}
		} else if work != 0 {
			if !p.tryClean(b[:n]) {
				p.putSlow(b)
				return
			}
			goto give
		}
		if p.onPut&clearBlock != 0 {
			clear(b[:n])
		}
	}
give:
	block := unsafe.Pointer(unsafe.SliceData(b))
	// engine.Push, inlined by hand (cost 410 of 80). Give passes ownership of the block
	// to the engine.
	at := class.Slot()
	x := p.engine.Enter()
	slot := p.engine.Slot(x, at)
	if slot.Give(block) {
		x.Exit()
		return
	}
	kept := slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.overflow(at, block)
	}
}

// putLarge is Put for caps above MaxSmall.
func (p *BytePool) putLarge(b []byte) {
	n := uint(cap(b))
	if n > sizeclass.MaxLarge || p.classes == nil {
		p.putSlow(b)
		return
	}
	class := p.classes.OfLarge(n)
	if class.Size()^n|uint(addressOf(b))&uint(p.alignment) != 0 || !p.tryClean(b[:n]) {
		p.putSlow(b)
		return
	}
	block := unsafe.Pointer(unsafe.SliceData(b))
	x := p.engine.Enter() // engine.Push, inlined by hand (cost 410 of 80)
	slot := p.engine.Slot(x, class.Slot())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.overflow(class.Slot(), block)
	}
}

// tryClean makes a block ready for its next owner, as Put does. If it returns false the
// block needs putSlow, and tryClean has not touched it.
func (p *BytePool) tryClean(b []byte) bool {
	if p.onPut&(watchAll|askBudget) != 0 || p.onPut&watchSome != 0 && check.Watched(addressOf(b)) {
		return false
	}
	if p.onPut&trackState != 0 {
		// If several goroutines Put one block, one Put is accepted and from here on
		// owns the block. putSlow classifies the others.
		state := p.blocks.Find(addressOf(b), uint(len(b)))
		if state == nil || !state.Return(memory.WhenOut(addressOf(b), uint(len(b)))) {
			return false
		}
	}
	if p.onPut&clearBlock != 0 {
		clear(b)
	}
	return true
}

// noBytes is what a Get of 0 bytes returns.
var noBytes [0]byte

// overflow is the end of Put when the shard has no room in the slot at this place. If it were
// inlined, Put would be larger.
//
//go:noinline
func (p *BytePool) overflow(at uintptr, block unsafe.Pointer) {
	if at == 0 { // cap 0
		return
	}
	if p.engine.Armed() && !p.guard.Due() {
		p.engine.Disarm(p.guard.Due)
	}
	p.gate.PutSlow(sizeclass.IndexAt(at), block)
}

// putSlow is Put for what does not simply go into the shard: blocks that are watched, blocks
// of a pool with a Budget, or with an Allocator that has no table of its blocks, slices that are
// no blocks of this pool or are not out, and all that a zero BytePool gets before its first
// use.
func (p *BytePool) putSlow(b []byte) {
	switch {
	case cap(b) == 0:
		return
	case !p.initialized:
		if p = p.partFor(b); p != nil {
			p.Put(b)
		}
		return
	}
	if p.mayBeGuarded(b) {
		own, done := p.putGuarded(b, false)
		if own != nil {
			p.putOwn(own)
		}
		if done || own != nil {
			return
		}
	}
	if p.onPut&^clearBlock == askBudget && uint(cap(b)) <= sizeclass.MaxSmall {
		if class := p.classes.OfSmall(uint(cap(b))); class != 0 && class.Size() == uint(cap(b)) {
			p.putCharged(class, b[:cap(b)])
			return
		}
	}
	class, ok := p.classes.Exact(cap(b))
	switch {
	case cap(b) > p.classes.Largest():
		p.count.droppedOversize.Add(1)
		p.gate.UnregisterLarge(dataOf(b), cap(b))
		return
	case !ok, p.misaligned(b): // ScopeSlice relies on this
		p.count.droppedForeign.Add(1)
		if p.onPut&watchAll != 0 {
			p.checks.reportStranger(addressOf(b), cap(b))
		}
		if p.guard != nil {
			if misuse := p.guard.Inside(b); misuse != nil {
				p.guard.Report(*misuse)
			}
		}
		return
	}
	p.putBlock(class, b)
}

// putBlock is the end of Put for a slice that looks like a block of a class. It reports
// whether the pool accepts it as one.
func (p *BytePool) putBlock(class uint8, b []byte) (accepted bool) {
	watched := false
	if p.onPut&watch != 0 {
		if accepted, watched = p.putChecked(b); !accepted {
			return false
		}
	}
	if p.onPut&(trackState|askBudget) != 0 && !p.accepts(class, b) {
		return false
	}
	p.putAccepted(class, b[:cap(b)], watched)
	return true
}

// putAccepted gives a block that the pool has accepted to its next owner. The caller alone
// has the block.
func (p *BytePool) putAccepted(class uint8, b []byte, watched bool) {
	if watched {
		p.putWatched(class, b)
		return
	}
	p.clean(b)
	p.gate.Put(class, blockOf(b))
}

// misaligned reports whether no block can begin where a slice begins. Before elements with
// pointers Go puts a word of its own.
func (p *BytePool) misaligned(b []byte) bool {
	return addressOf(b)%blockAlignment != 0 && !p.elements.havePointers()
}

// clean makes a block that Put has accepted ready for its next owner.
func (p *BytePool) clean(b []byte) {
	switch {
	case p.onPut&clearBlock != 0:
		clear(b)
	case p.onPut&resetBlock != 0:
		p.elements.reset(b)
	}
}

// putCharged is the fast part of putSlow: a small heap block of a pool with a Budget.
func (p *BytePool) putCharged(class sizeclass.Class, b []byte) {
	if !p.gate.Knows(class.Index(), addressOf(b)) {
		p.count.droppedForeign.Add(1)
		return
	}
	if p.onPut != askBudget {
		clear(b)
	}
	block := blockOf(b)
	if p.gate.Overdrawn() {
		p.gate.Full(class.Index(), block)
		return
	}
	x := p.engine.Enter() // engine.Push, inlined by hand (cost 410 of 80)
	slot := p.engine.Slot(x, class.Slot())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.gate.PutSlow(class.Index(), block)
	}
}

// PutWritten is like [BytePool.Put], for a block in which nothing was written but b: only that is cleared,
// and not the whole block, which for a receive buffer of 64 KiB with a packet in it is most of the work.
//
// The pool trusts its caller: what was written behind b, up to its cap, is what the next owner reads. With
// [CheckAll] the pool looks there, and reports and clears what it finds: [misuse.WriteBeyond]. It makes no
// difference with a policy other than [ZeroOnPut], and in a pool that is sampled, off the heap or of a Budget,
// which clears the block as Put does.
func (p *BytePool) PutWritten(b []byte) {
	if addressOf(b)%blockAlignment == 0 {
		if p.onPut&watchAll != 0 && p.zero != ZeroNever {
			p.checks.WrittenBeyond(addressOf(b), b)
		}
		p.putUsed(b)
		return
	}
	p.Put(b)
}

// putUsed is Put for a block whose owners could not write beyond its length. It clears
// only up to there.
func (p *BytePool) putUsed(b []byte) {
	size := uint(cap(b))
	if p.onPut != clearBlock || size > sizeclass.MaxLarge {
		p.Put(b)
		return
	}
	class := p.classes.OfLarge(size)
	if size <= sizeclass.MaxSmall {
		class = p.classes.OfSmall(size)
	}
	if class.Size()^size|uint(uint8(addressOf(b))&p.alignment) != 0 {
		p.Put(b)
		return
	}
	clear(b)
	block := unsafe.Pointer(unsafe.SliceData(b))
	x := p.engine.Enter() // engine.Push, inlined by hand (cost 410 of 80)
	slot := p.engine.Slot(x, class.Slot())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.overflow(class.Slot(), block)
	}
}

// TryGet is like [BytePool.Get], but returns an error that names the pool and wraps [ErrExhausted]
// if no block of the class is idle anywhere in the pool and the pool's AllocRate or [Budget] does
// not allow it to allocate one now. Before a Budget refuses, its pools release as many idle blocks as
// needed, if that helps. Above the largest class AllocRate does not apply. If n is more than any memory
// can hold, the error names the pool and n. A length that another machine has sent may still be
// more than this one has, which ends the process: bound it, or give the pool a Budget. Off the heap
// the system may refuse memory: then the error wraps the system's error. After
// [BytePool.Close] TryGet returns [ErrClosed]. TryGet(0) needs no block, so nothing but
// Close refuses it: see Get. It panics if n is negative.
//
// The first refusal in a while takes tens of microseconds, because it stops the world to gather
// the idle blocks of other processors in one place, once for all pools of the Budget. Such a pool
// then keeps all idle blocks there, which makes every Get and Put a little slower, until a tenth of a
// second has passed without a refusal.
func (p *BytePool) TryGet(n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGetUncounted("TryGet", n)
	return b, p.answer(n, err)
}

// GetContext is like [BytePool.TryGet], but instead of returning [ErrExhausted] it waits
// until a block of the class is put back, until AllocRate and the [Budget] allow it to
// allocate (any Put to any pool of the Budget may give it room), or until ctx is done. In
// the last case it returns an error that names the pool, and wraps ErrExhausted and the error
// of ctx. Waiting calls are served in the order in which they arrived, across all pools of a
// Budget. If a call need not wait, it does not look at ctx. Close ends every wait with
// [ErrClosed]. GetContext does not wait for a block that is larger than the whole Budget, but
// returns an error that wraps ErrExhausted.
//
// Blocks that their owners have lost stay charged to the Budget until a garbage collection
// finds them. A call that waits for a second without one starts one.
//
// A caller that needs several blocks at once must not collect them one by one: two that each
// hold one of the last two blocks, and wait for another, wait for each other. They should
// call [BytePool.GetBatch].
//
// In the binary of a test each bubble of [testing/synctest] has an AllocRate, a Budget and waits of
// its own. Off the heap, while a call waits in a bubble, the pool and all pools of its Budget
// belong to that bubble: a call from outside the bubble that would wake it, or wait
// beside it, panics.
func (p *BytePool) GetContext(ctx context.Context, n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGetUncounted("GetContext", n)
	if err == ErrExhausted {
		b, err = p.wait(ctx, n)
	}
	return b, p.answer(n, err)
}

// wait is GetContext after TryGet was refused.
func (p *BytePool) wait(ctx context.Context, n int) (b []byte, err error) {
	class, ok := p.classes.Index(n)
	if err := p.beyondBudget(1, p.charge(n)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // TryGet has looked for it everywhere
		return nil, waitErrorOf(p.name, err)
	}
	if !ok {
		if err := p.gate.WaitBytes(ctx, n); err != nil {
			return nil, waitErrorOf(p.name, err)
		}
		return p.chargedOversize(n)
	}
	blocks, err := p.gate.Wait(ctx, class, 1, nil)
	switch {
	case err != nil:
		return nil, waitErrorOf(p.name, err)
	case len(blocks) > 0:
		b = p.readySlice(class, blocks[0])
	default:
		if b, err = p.allocate(class, p.returnOne); err != nil {
			return nil, err
		}
	}
	return p.sampled(b[:n]), nil
}

// returnOne gives back the permission to allocate a block that could not be made.
func (p *BytePool) returnOne(class uint8) { p.gate.Return(class, 1) }

// answer ends a call for n bytes that may be refused: it counts any error except ErrClosed, and else notes
// what was asked for. It returns the error for the caller, in which ErrExhausted has the pool's name.
func (p *BytePool) answer(n int, err error) error {
	switch err {
	case nil:
		p.noteAsked(n)
		return nil
	case ErrClosed:
		return err
	}
	p.count.refused.Add(1)
	if err != ErrExhausted {
		return err
	}
	if never := p.beyondBudget(1, p.charge(n)); never != nil {
		return never
	}
	return p.exhausted
}

// charge returns how many bytes a Budget is charged for n bytes.
func (p *BytePool) charge(n int) int {
	if class, ok := p.classes.Index(n); ok {
		return p.gate.Size(class)
	}
	return n
}

// beyondBudget returns an error if the whole Budget is less than count blocks that are charged size bytes
// each, and nil if there is no Budget.
func (p *BytePool) beyondBudget(count, size int) error {
	budget := p.gate.Budget()
	if budget == nil || int64(count) <= min(budget.Limit(), math.MaxInt)/int64(size) {
		return nil
	}
	if count == 1 {
		return exhausted("a block of %d bytes for pool %q is more than its Budget of %d will ever have", size, p.name, budget.Limit())
	}
	return exhausted("%d blocks of %d bytes for pool %q are more than its Budget of %d will ever have", count, size, p.name, budget.Limit())
}

// tryGetUncounted is TryGet without counting a refusal, because GetContext may wait instead.
func (p *BytePool) tryGetUncounted(method string, n int) ([]byte, error) {
	class, ok := p.classFor(method, n)
	if ok && n > 0 {
		if b := p.reuse(class); b != nil {
			return p.sampled(b[:n]), nil
		}
	}
	switch {
	case p.engine.Closed():
		return nil, ErrClosed
	case n == 0:
		return noBytes[:], nil
	case !ok:
		return p.tryOversize(n)
	}
	b, err := p.allocateOrReuse(class)
	if err != nil {
		return nil, err
	}
	return p.sampled(b[:n]), nil
}

// allocateOrReuse returns a fresh block if AllocRate and the Budget allow it and the
// Allocator has memory, and otherwise an idle block of any shard.
func (p *BytePool) allocateOrReuse(class uint8) ([]byte, error) {
	block, permit, err := p.gate.TryGet(class)
	if permit {
		return p.allocateOrReuseIdle(class)
	}
	return p.readySlice(class, block), err
}

// allocateOrReuseIdle is allocateOrReuse with a permit of the gate.
func (p *BytePool) allocateOrReuseIdle(class uint8) ([]byte, error) {
	b, err := p.allocate(class, p.returnOne)
	if err == nil || err == ErrClosed {
		return b, err
	}
	if p.checks != nil {
		p.checks.Flush()
	}
	if block, e := p.gate.Idle(class); e != ErrExhausted {
		return p.readySlice(class, block), e
	}
	return nil, err
}

// getIfAllowed returns a block for n bytes, or nil where AllocRate, the Budget or the Allocator allows none
// now. Unlike TryGet it does not gather the idle blocks of other processors.
func (p *BytePool) getIfAllowed(n int) []byte {
	class, ok := p.classes.Index(n)
	switch {
	case n == 0:
		return noBytes[:]
	case !ok:
		return nil
	}
	b := p.reuse(class)
	if b == nil && p.gate.Allow(class, 1) {
		b, _ = p.allocate(class, p.returnOne)
	}
	if b == nil {
		return nil
	}
	p.noteAsked(n)
	return p.sampled(b[:n])
}

// isTooLarge reports whether a block of size bytes is two or more classes larger than n bytes need, or more
// than twice as large. What no class holds needs what it has.
func (p *BytePool) isTooLarge(size, n int) bool {
	class, ok := p.classes.Index(n)
	if next := int(class) + 1; next < p.classes.Len() && size > p.classes.Size(uint8(next)) {
		return true
	}
	return ok && size > 2*p.classes.Size(class)
}

// classFor returns the class for a size that a caller asked for, or false if the size is
// above the largest class.
func (p *BytePool) classFor(method string, n int) (class uint8, ok bool) {
	if n < 0 {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative", method, n, p.name))
	}
	return p.classes.Index(n)
}

// reuse returns an idle block of the class, or nil if it finds none.
func (p *BytePool) reuse(class uint8) []byte {
	return p.readySlice(class, p.engine.Pop(class))
}

// readySlice returns an idle block as a slice that is ready for a caller, and nil for nil.
func (p *BytePool) readySlice(class uint8, block unsafe.Pointer) []byte {
	b := p.sliceOf(class, block)
	if b != nil {
		p.makeReady(b)
	}
	return b
}

// sliceOf turns a block of the engine into a slice, and nil into nil.
func (p *BytePool) sliceOf(class uint8, block unsafe.Pointer) []byte {
	if block == nil {
		return nil
	}
	return unsafe.Slice((*byte)(block), p.classes.Size(class))
}

// makeReady makes an idle block ready for a caller. It must run on the caller's goroutine,
// because checked mode records the stack.
func (p *BytePool) makeReady(b []byte) {
	p.watchIfChosen(b)
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// note tells the Ledger, if there is one, that a block is out.
func (p *BytePool) note(b []byte) {
	if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil {
		issue(state, memory.WhenOut(addressOf(b), uint(cap(b))))
	} else if p.ledger != nil {
		p.ledger.Issue(b)
	}
	// If the pool were collected before the Ledger has the block as out, the block's
	// memory would be freed with the pool: see offheap.NewBytePool.
	runtime.KeepAlive(p)
}

// allocate makes a fresh block for a caller. The gate has charged the miss. If there is
// no block, refund is called.
func (p *BytePool) allocate(class uint8, refund func(class uint8)) ([]byte, error) {
	b, err := p.fresh(class, refund)
	if err == nil {
		p.count.class.At(class).misses.Add(1)
		p.engine.Missed(class, 1)
		p.watchIfChosen(b)
		p.note(b)
	}
	return b, err
}

// fresh makes a block that is all zero. The gate has charged it. If the Allocator fails,
// refund is called.
func (p *BytePool) fresh(class uint8, refund func(class uint8)) (b []byte, err error) {
	size := p.classes.Size(class)
	if p.source == nil {
		b = p.make(p.guard.room(class, size))[:size:size]
		p.gate.Register(class, blockOf(b))
		return b, nil
	}
	done := false
	defer func() { // also if the Allocator panics
		if !done {
			refund(class)
		}
	}()
	b, err = p.source.Alloc(size)
	switch {
	case err != nil && p.engine.Closed(): // Close ends the Allocator after the engine
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("dewpond: a block of %d bytes for pool %q: %w", size, p.name, err)
	case len(b) != size || cap(b) != size || addressOf(b)%blockAlignment != 0:
		panic(fmt.Sprintf("dewpond: the Allocator of pool %q returned %d bytes with cap %d at %#x for a block of %d bytes: a block has its size as length and cap and begins at a multiple of %d",
			p.name, len(b), cap(b), addressOf(b), size, blockAlignment))
	}
	done = true
	return b, nil
}

// make makes memory on the Go heap that is all zero.
func (p *BytePool) make(n int) []byte {
	if p.elements != nil {
		return p.elements.make(n)
	}
	return make([]byte, n)
}

// makeLarge is make for a size that may be larger than any memory. Then it returns an error.
func (p *BytePool) makeLarge(n int) (b []byte, err error) {
	defer func() {
		if b == nil {
			err = tooLong("a slice of %s for pool %q: %v", p.elements.text(n), p.name, recover())
		}
	}()
	return p.make(n), nil
}

// oversize makes a slice above the largest class for Get, which the Budget does not
// refuse.
func (p *BytePool) oversize(n int) []byte {
	b, err := p.makeLarge(n)
	if err != nil {
		panic(err.Error())
	}
	if p.gate.OverrunBytes(n) {
		p.count.overBudget.Add(1)
	}
	p.gate.RegisterLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b
}

// tryOversize is oversize if the Budget has room for the slice or there is no Budget.
func (p *BytePool) tryOversize(n int) ([]byte, error) {
	if !p.gate.TryBytes(n) {
		return nil, ErrExhausted
	}
	return p.chargedOversize(n)
}

// chargedOversize is oversize for a slice that the gate has charged. If no memory holds it, it returns an error.
func (p *BytePool) chargedOversize(n int) ([]byte, error) {
	b, err := p.makeLarge(n)
	if err != nil {
		p.gate.UnchargeBytes(n)
		return nil, err
	}
	p.gate.RegisterLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b, nil
}

// accepts asks the Allocator, or on the heap the Budget, whether a slice is a block that a
// caller may give back, and counts the Put as dropped if it is not. If it is, a Ledger
// has the block as idle from then on.
func (p *BytePool) accepts(class uint8, b []byte) bool {
	if p.source == nil {
		if p.gate.Knows(class, addressOf(b)) {
			return true
		}
	} else if p.ledger == nil {
		if p.source.Owns(b) {
			return true
		}
	} else if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil && state.Return(memory.WhenOut(addressOf(b), uint(cap(b)))) {
		return true
	} else if owned, accepted := p.ledger.Return(b); accepted {
		return true
	} else if owned {
		p.count.droppedDouble.Add(1)
		return false
	}
	if p.fallback.Remove(dataOf(b), addressOf(b)) {
		p.count.droppedFallback.Add(1)
	} else {
		p.count.droppedForeign.Add(1)
	}
	return false
}

// GetBatch is like [BytePool.GetContext] for several blocks at once: it sets every element of
// blocks to a slice of n bytes, each on a block of its own. It gets all of them or none: if it
// returns an error, every element is nil. The caller owns the blocks, and gives each back with
// [BytePool.Put]. Without elements GetBatch does nothing and returns nil.
//
// Callers that need several blocks and wait for them must get all of them by one call of
// GetBatch: while a call waits, its caller must hold no block of the pool or of another pool
// of its [Budget]. Then every call is served, whatever other callers ask for, as soon as they
// have put back enough. Calls of GetBatch and GetContext are served in the order in which they
// arrived: what is put back is collected for a call that came first, even if it would serve a
// later one.
//
// A batch must be possible: if it is larger than the whole Budget, GetBatch returns at once an
// error that wraps [ErrExhausted]. So it does if [BytePoolOptions.AllocRate] is fewer than
// len(blocks) misses a second and the call cannot be served now: it might wait forever.
// GetBatch panics if n is negative. If n is 0 it needs no blocks, as Get.
//
// A block that a call has collected counts as in use. If the call then returns an error, the
// block counts as put back.
func (p *BytePool) GetBatch(ctx context.Context, blocks [][]byte, n int) error {
	p = p.actual()
	class, ok := p.classFor("GetBatch", n)
	clear(blocks)
	if len(blocks) == 0 {
		return nil
	}
	b := batch{pool: p, class: class, large: !ok, n: n, size: p.charge(n), blocks: blocks}
	err := p.answer(n, b.get(ctx))
	if err == nil {
		for range blocks[1:] {
			p.noteAsked(n)
		}
		if ok {
			p.sampledBatch(blocks)
		}
	}
	return err
}

// Grow returns b with room for another n bytes, as [slices.Grow] does. If b's cap is too
// small, Grow copies b's bytes to a larger block of this pool and puts b's block back.
// b may be nil. Grow panics if n is negative.
func (p *BytePool) Grow(b []byte, n int) []byte {
	if n < 0 || len(b)+n < 0 {
		panic(fmt.Sprintf("dewpond: Grow by %d bytes from %d on pool %q: the size is negative or overflows", n, len(b), p.Name()))
	}
	if n <= cap(b)-len(b) {
		return b
	}
	return moved(p, b, append(p.Get(len(b) + n)[:0], b...))
}

// Append appends x to b, as the built-in append does. If b's cap is too small, Append
// copies b's bytes to a larger block of this pool and puts b's block back. b may be nil,
// and x may be part of b.
func (p *BytePool) Append(b []byte, x ...byte) []byte { return appended(p, b, x) }

// ReadAll reads from r until [io.EOF] or another error, and returns what it has read: in a
// block, or above the largest class in a slice that is not pooled, as [io.ReadAll] does.
// The caller owns it, and puts it back even if it is empty. An io.EOF is not returned.
// With any other error ReadAll also returns what it has read before, which the caller puts
// back too:
//
//	body, err := pool.ReadAll(r)
//	defer pool.Put(body)
//
// If r has a method Len, as a [strings.Reader] has, ReadAll takes one block for all that r
// has. Otherwise it begins with 512 bytes and takes a block of twice the size whenever one
// is full: it does not trust what somebody else says of r's length, such as the N of an
// [io.LimitedReader] or a Content-Length. A caller that trusts it uses [BytePool.Get] and
// [io.ReadFull].
//
// r must not keep the slices that it reads into. If r panics, the block goes back.
func (p *BytePool) ReadAll(r io.Reader) (b []byte, err error) {
	p = p.actual()
	size, largest := learn.Least, p.classes.Largest()
	if n := lenOf(r); n == largest {
		size = n
	} else if n > 0 {
		size = n + 1 // for the Read that returns io.EOF
	}
	b = p.Get(size)[:0]
	done := false
	defer func() {
		if !done {
			p.Put(b)
		}
	}()
	for err == nil {
		room := b[len(b):cap(b)]
		switch {
		case len(room) > 0:
		case cap(b) == largest: // what is larger is not pooled: look first whether there is more
			room = make([]byte, 1)
		default:
			full := b
			b = nil // Grow puts it back, also if that panics
			b = p.Grow(full, len(full))
			room = b[len(b):cap(b)]
		}
		var n int
		n, err = r.Read(room)
		if n < 0 || n > len(room) {
			panic(fmt.Sprintf("dewpond: ReadAll: Read returned %d for %d bytes", n, len(room)))
		}
		if len(b) < cap(b) {
			b = b[:len(b)+n]
		} else if n > 0 {
			full := b
			b = nil
			b = append(p.Grow(full, len(full)), room[:n]...)
		}
	}
	done = true
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// Adopt is like [BytePool.Put] for a slice that did not come from Get: one that append has
// moved out of its block, or one that somebody else has made. Its cap is cut to the
// largest class that fits, and the pool owns it from then on. The caller must own b
// alone, b must begin where its memory was allocated, and that must be memory of Go: a
// part of a larger slice would keep all of it alive, and its bytes would have two owners.
//
// What is cut stays alive with the block. So that MaxIdleBytes bounds that too, the pool retains fewer
// bytes, by what was cut from the blocks that it has adopted, but at least the part that is left of the
// block that lost most: three quarters for 1024 of a cap of 1365. As idle blocks are released, so is what
// was cut, unless the pool has a bound of its own. (With [CheckAll] up to 1 MiB more of what was cut stays
// alive, with the blocks in quarantine.)
//
// What the pool adopts counts as [Stats.Adopted] and as a Put, but was never in use. The
// block that b has replaced stays in use until it is put back too. Where that block is lost
// when b replaces it, use a [BodyPool].
//
// Adopt ignores a slice of cap 0. It refuses, and counts in Stats, what cannot become a
// block: a slice whose cap is more than the largest class (Dropped.Oversize), less than
// the smallest class, or more than twice the class that it would be cut to, and one that
// does not begin at a multiple of 16 (Dropped.Foreign). It drops what Put would drop, and
// what the pool's [Budget] has no room for (Dropped.Full). A pool with an [Allocator], as those
// off the heap, adopts nothing: there Adopt is Put. A pool with a Budget or [CheckAll]
// knows its own blocks, and there Adopt of one of them is Put too, also if its cap was cut;
// other pools adopt it, which leaves InUseBytes too high.
func (p *BytePool) Adopt(b []byte) {
	if p = p.partFor(b); p != nil {
		p.adoptOrPut(b, false)
	}
}

// adoptOrPut is Adopt or, if b is a body, Put of a BodyPool.
func (p *BytePool) adoptOrPut(b []byte, body bool) {
	class, ok := p.classes.Floor(cap(b))
	switch {
	case cap(b) == 0:
		return
	case cap(b) > p.classes.Largest(), p.source != nil:
		p.Put(b)
		return
	case p.mayBeGuarded(b):
		own, done := p.putGuarded(b, true)
		if done {
			return
		}
		if own != nil {
			b = own[:0:min(cap(b), cap(own))]
		}
	}
	switch {
	case !ok, cap(b) > 2*p.classes.Size(class), p.misaligned(b):
		p.count.droppedForeign.Add(1)
		return
	}
	if own, ok := p.own(class, b); ok {
		if cap(b) > p.classes.Size(own) && p.onPut&watchAll == 0 { // its cap was cut when it was adopted
			p.count.droppedForeign.Add(1)
			return
		}
		if !body {
			p.putBlock(own, p.sliceOf(own, blockOf(b)))
			return
		}
		p.engine.Came(own, 1) // BodyPool.Put has said that a block is gone
		if p.putBlock(own, p.sliceOf(own, blockOf(b))) {
			p.count.class.At(own).unmatched.Add(1)
		} else {
			p.engine.Gone(own, 1)
		}
		return
	}
	if p.watches(b) {
		p.count.droppedForeign.Add(1)
		if p.onPut&watchAll != 0 {
			p.checks.reportStranger(addressOf(b), cap(b))
		}
		return
	}
	size := p.classes.Size(class)
	if cap(b) > size {
		p.engine.CutFrom(class, cap(b))
	}
	b = b[:size:size]
	if !p.gate.Adopt(class, blockOf(b)) {
		p.count.class.At(class).unmatched.Add(1)
		return
	}
	watched := p.onPut&watchAll != 0
	if watched && p.checks.Adopt(addressOf(b), b) != check.Accepted {
		// Another goroutine has just adopted it.
		p.gate.Disown(class, blockOf(b))
		p.count.droppedDouble.Add(1)
		return
	}
	p.count.class.At(class).adopted.Add(1)
	p.engine.Came(class, 1)
	p.putAccepted(class, b, watched)
}

// own returns the class of the pool's block that begins where b does, if the pool can tell. It
// is that of b's cap or a larger one: who returns a body may have cut its cap.
func (p *BytePool) own(class uint8, b []byte) (own uint8, ok bool) {
	if p.onPut&watchAll != 0 {
		if size, ok := p.checks.SizeAt(addressOf(b)); ok {
			return p.classes.Index(size)
		}
	}
	if p.onPut&askBudget != 0 {
		return p.gate.Find(blockOf(b), class)
	}
	return 0, false
}

// watches reports whether a slice shares bytes with a watched block of the pool.
func (p *BytePool) watches(b []byte) bool {
	return (p.onPut&watchAll != 0 || p.onPut&watchSome != 0 && check.Watched(addressOf(b))) && p.checks.Overlaps(addressOf(b), cap(b))
}

// Bodies returns a [BodyPool] on blocks of this pool. It panics if the pool has an [Allocator], as
// those off the heap: a block that a body outgrows would be lost to it.
func (p *BytePool) Bodies() *BodyPool {
	p = p.actual()
	if p.source != nil {
		panic(fmt.Sprintf("dewpond: Bodies of pool %q: its blocks are not on the Go heap, and append would lose those that a body outgrows", p.name))
	}
	bodies := &BodyPool{blocks: p}
	if p.checks.everything() {
		bodies.maker = check.Here()
	}
	bodies.fits.Init(p.classes)
	p.bodyPools.add(bodies)
	return bodies
}

// Buffer returns an empty [Buffer] on blocks of this pool. The Buffer takes no block
// before the first write. A Buffer that does not escape its caller costs no allocation,
// one that escapes costs one: the Buffer itself is never pooled, so a stale pointer to
// it never becomes a pointer to another owner's Buffer. Where that allocation shows, as it
// may if a small body is written through an [io.Writer], keep Buffers in a [Pool]:
//
//	var buffers = dewpond.MustPool(dewpond.PoolOptions[dewpond.Buffer]{New: pool.Buffer, Reset: (*dewpond.Buffer).Release})
//
// Its Put releases the Buffer.
func (p *BytePool) Buffer() *Buffer {
	return &Buffer{pool: p.actual()} // a nil pool panics here; the Buffer would take nil for Default()
}

// TryBuffer is like [BytePool.Buffer], but what writes to the Buffer is refused the block
// that it needs where [BytePool.TryGet] returns an error, and returns that error. While
// such a Buffer grows it holds the old block too.
func (p *BytePool) TryBuffer() *Buffer { return &Buffer{pool: p.actual(), try: true} }

// Scope returns a [Scope] on blocks of this pool. The Scope takes no block before the
// first piece. A Scope that does not escape its caller costs no allocation, one that
// escapes costs one: the Scope itself is never pooled, so a closed Scope stays closed.
func (p *BytePool) Scope() *Scope {
	return &Scope{pool: p.actual()} // a nil pool panics here
}

// Lease is like [BytePool.Get], but returns a [Lease]: [Lease.Release] gives the block
// back. A lease of 0 bytes has no block, and is released as any other. It panics unless n
// is below 4 GiB.
func (p *BytePool) Lease(n int) Lease {
	if uint64(n) > math.MaxUint32 {
		p.refuseLease("Lease", n)
	}
	return p.getLeased(n)
}

// LeaseContext is like [BytePool.GetContext], but returns a [Lease]: [Lease.Release]
// gives the block back. It returns an error too if n is 4 GiB or more.
func (p *BytePool) LeaseContext(ctx context.Context, n int) (Lease, error) {
	p = p.actual()
	if err := p.tooLongToLease("LeaseContext", n); err != nil {
		return Lease{}, err
	}
	b, err := p.GetContext(ctx, n)
	if err != nil {
		return Lease{}, err
	}
	return p.newLease(b), nil
}

// LeaseOf makes a [Lease] of b, a block of this pool that the caller owns. The Lease owns
// it from then on: its last [Lease.Release] puts b back, so the caller must not. Bytes
// returns b with its length and its cap.
//
// LeaseOf does not look whether b is a block. If [BytePool.Put] refuses it, the last
// Release drops it and counts that as Put does, and until then the Lease works within b's
// cap. LeaseOf panics unless b is shorter than 4 GiB.
func (p *BytePool) LeaseOf(b []byte) Lease {
	if uint64(len(b)) > math.MaxUint32 {
		p.refuseLease("LeaseOf", len(b))
	}
	return p.home(b).newLease(b)
}

func (p *BytePool) refuseLease(method string, n int) {
	panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: give 0 to %d bytes", method, n, p.Name(), uint32(math.MaxUint32)))
}

// tooLongToLease returns an error if no Lease can have n bytes.
func (p *BytePool) tooLongToLease(method string, n int) error {
	switch {
	case n < 0:
		p.refuseLease(method, n)
	case uint64(n) <= math.MaxUint32:
		return nil
	}
	return p.answer(n, tooLong("%s(%d) on pool %q: give 0 to %d bytes", method, n, p.name, uint32(math.MaxUint32)))
}

// newLease returns the lease of the first owner of a slice, which may be a block.
func (p *BytePool) newLease(b []byte) Lease {
	h := p.handle()
	h.setData(dataOf(b))
	h.class = 0
	if size := uint(cap(b)); size <= sizeclass.MaxSmall && uint8(addressOf(b))&p.alignment == 0 {
		if class := p.classes.OfSmall(size); class != 0 && class.Size() == size {
			h.class = class
			if p.classes.OfSmall(uint(len(b))) == class {
				return h.lease(len(b), capOfClass)
			}
		}
	}
	h.setSize(uintptr(cap(b)))
	return h.lease(len(b), capOfSlice)
}

// getLeased is Get into a handle. If this P's shards have both a block and a handle, it
// takes them in one pinned section.
func (p *BytePool) getLeased(n int) Lease {
	var h *handle
	if uint(n) <= sizeclass.MaxSmall && p.classes != nil {
		class := p.classes.OfSmall(uint(n))
		if uint(n) > class.Size() { // none, or the next
			return p.newLease(p.getSlow(n))
		}
		x := p.engine.Enter() // engine.Pop twice, inlined by hand (cost 333 of 80)
		y := p.handles.EnterBeside(x)
		block := p.engine.Slot(x, class.Slot()).Pop()
		if block != nil {
			h = (*handle)(p.handles.Slot(y, magazine.OnlySlot).Pop())
		}
		y.ExitBeside()
		x.Exit()
		if block != nil {
			if p.onGet != keepAsIs {
				p.makeReady(unsafe.Slice((*byte)(block), class.Size()))
				p.noteAsked(n)
			}
			if h == nil {
				h = p.handle()
			}
			if h.data.Load() != (*byte)(block) { // h.setData, inlined by hand (cost 81 of 80)
				h.data.Store((*byte)(block))
			}
			h.class = class
			return h.lease(n, capOfClass)
		}
	}
	p = p.actual()
	return p.newLease(p.getSlow(n))
}

// putLeased puts back a root and the block that it holds.
func (p *BytePool) putLeased(h *handle) {
	block, class := unsafe.Pointer(h.data.Load()), h.class
	if class == 0 || p.onPut&^clearBlock != 0 || h.word.Load() == 0 {
		size := class.Size()
		if class == 0 {
			size = uint(h.size.Load())
		}
		h.noteRelease(h.word.Load() - generationUnit)
		h.recycle()
		p.Put(unsafe.Slice((*byte)(block), size))
		return
	}
	if class.Size() > staleBytes {
		h.data.Store(nil)
	}
	if p.onPut != keepAsIs {
		clear(unsafe.Slice((*byte)(block), class.Size()))
	}
	x := p.engine.Enter() // engine.Push twice, inlined by hand (cost 410 of 80)
	y := p.handles.EnterBeside(x)
	slot := p.engine.Slot(x, class.Slot())
	kept := slot.Give(block) || slot.GiveMore(block)
	// The handle of a small block goes on pointing to it, which saves setData a store.
	handles := p.handles.Slot(y, magazine.OnlySlot)
	if kept && (handles.Give(unsafe.Pointer(h)) || handles.GiveMore(unsafe.Pointer(h))) {
		y.ExitBeside()
		x.Exit()
		return
	}
	y.ExitBeside()
	x.Exit()
	h.recycle()
	if !kept {
		p.overflow(class.Slot(), block)
	}
}

// handle returns an unused handle.
func (p *BytePool) handle() *handle {
	if h := (*handle)(p.handles.Pop(0)); h != nil {
		return h
	}
	h := &handle{pool: p}
	h.word.Store(ownedBit)
	return h
}

// putHandle gives back an unused handle.
func (p *BytePool) putHandle(h *handle) {
	p.handles.Push(0, unsafe.Pointer(h))
	p.decay.Kept()
}

// Prewarm allocates count blocks for Gets of size bytes, so that the first of
// those Gets hit. The blocks count neither as misses nor against
// [BytePoolOptions.AllocRate]. If the pool's bounds have no room for all of them,
// Prewarm keeps those that fit and returns an error that says how many it kept. After
// [BytePool.Close] it returns [ErrClosed]. A size of 0 needs no blocks.
func (p *BytePool) Prewarm(size, count int) error {
	p = p.actual()
	class, ok := p.classFor("Prewarm", size)
	switch {
	case !ok:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the largest class is %s; give Classes a larger one",
			p.elements.count(size), count, p.name, p.elements.text(p.classes.Largest()))
	case count < 0:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the count is negative", p.elements.count(size), count, p.name)
	}
	if p.engine.Closed() { // even if count is 0
		return ErrClosed
	}
	if size == 0 {
		return nil
	}
	for i := range count {
		if p.engine.Closed() { // whatever the Budget says
			return ErrClosed
		}
		if !p.gate.Charge(class) {
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: its Budget of %d bytes has room for %d blocks of %d bytes",
				p.elements.count(size), count, p.name, p.gate.Budget().Limit(), i, p.classes.Size(class))
		}
		b, err := p.fresh(class, p.gate.Uncharge)
		if err != nil {
			return err
		}
		switch p.gate.Add(class, blockOf(b)) {
		case magazine.NoRoom:
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: room for %d blocks of %d bytes; raise MaxIdleBytes or MaxIdlePerClass",
				p.elements.count(size), count, p.name, i, p.classes.Size(class))
		case magazine.AfterClose:
			return ErrClosed
		}
	}
	return nil
}

// Trim lets go of every block that was idle when Trim was called and still is, on all
// processors, and returns how many bytes those blocks have. Blocks that are put back
// during Trim, or that leave the quarantine of a checked pool, may stay. Off the heap
// Trim then returns the memory that no block uses to the system.
//
// Trim stops the world twice, each time for tens of microseconds, and for longer if
// other goroutines stop it too; where nothing is idle it does not. Until that is over every
// Get finds nothing idle and allocates, which may be thousands of times, and TryGet and GetContext wait if
// AllocRate does not let them allocate. Concurrent Trims of many pools take longer for
// all of them: trim one pool after another.
func (p *BytePool) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	p.engine.LeaveTier()
	released = p.checks.trimQuarantine(false, &l) + p.gate.Trim(&l, &p.handles)
	if p.ledger != nil {
		// If the system refuses, the memory stays in Stats.OffHeap.Committed, and the next
		// Decommit tries again.
		_, _ = p.ledger.Decommit()
	}
	return released
}

// trimInTurn is Trim as called by decay. It reports false and does nothing where the pool is in use and has a second
// tier: what its next Gets would allocate instead brings more GC cycles, and two of them empty that tier.
func (p *BytePool) trimInTurn() bool {
	if p.engine.InUse() {
		return false
	}
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.name, func(release func(uint8, unsafe.Pointer)) { p.engine.Trim(release, &p.handles) }, p.free(&l))
	p.gate.GrantBytesInReach()
	return true
}

// free returns a function that lets go of a block that the engine no longer holds. After
// its calls, p.gate.GrantBytesInReach must be called, and then l.End.
func (p *BytePool) free(l *late.List) func(class uint8, block unsafe.Pointer) {
	return func(class uint8, block unsafe.Pointer) { p.gate.Drop(class, block, l) }
}

// Close lets go of every idle block. From then on the pool keeps nothing: Get allocates,
// TryGet, GetContext and Prewarm return [ErrClosed], and Put drops. Close ends all
// waits. Blocks that are out stay valid. A second Close does nothing.
//
// The pool [Default] is not closed, for all packages of the program share it: Close returns
// an error and does nothing. Its idle blocks go by Trim.
//
// Off the heap Close also releases the pool's memory and address space. It cannot do
// that while blocks are out, or while a timer is about to let some go. In that case
// Close, and every further Close, returns an error that says how many blocks there are,
// and the Put of the last one releases the memory. Using a block after that faults. Get
// then allocates on the Go heap, and counts [OffHeapStats.Fallback].
func (p *BytePool) Close() error {
	if p.parted() {
		return p.parts.Close()
	}
	p = p.actual()
	if p.shared {
		return fmt.Errorf("dewpond: Close of pool %q: all packages of the program share it; Trim lets its idle blocks go", p.name)
	}
	p.gate.MustReach()
	p.decay.Stop()
	var l late.List
	defer l.End()
	defer livePools.Remove(p.entry)
	defer p.gate.End()
	p.checks.trimQuarantine(true, &l)
	p.gate.Close(&l, &p.handles)
	if p.checks != nil && !p.checks.heap {
		p.checks.Leaks(0, time.Time{}, &l) // off the heap no collection finds them
		if !p.checks.All() {
			p.checks.End() // and no collection makes the checks forget them
		}
	}
	if p.ledger != nil {
		if err := p.ledger.Close(); err != nil {
			return fmt.Errorf("dewpond: Close of pool %q: %w", p.name, err)
		}
	}
	return nil
}

// settle is called by decay after blocks were let go, by decay itself or by other calls.
func (p *BytePool) settle() {
	if p.checks != nil {
		p.checks.Flush()
		p.reportOld()
	}
	if p.ledger != nil {
		_, _ = p.ledger.Decommit() // as Trim does
	}
}

// Name returns the pool's name in statistics: the name in its options, followed by a
// number if an older live pool has that name.
func (p *BytePool) Name() string {
	if p.parted() {
		return p.name
	}
	return p.actual().name
}

// A count in Stats that must never decrease is a sum of counters that only grow. Such a
// sum is never smaller than before, even if the counters change while they are read.

// Stats returns the pool's statistics. It takes microseconds and does not slow down other
// calls.
func (p *BytePool) Stats() Stats {
	if p.parted() {
		return p.parts.Stats()
	}
	p = p.actual()
	s := Stats{
		Name:          p.name,
		Engine:        percpu.Engine(),
		Bubbles:       bubblesShared(),
		Refused:       p.count.refused.Load(),
		OverAllocRate: p.count.overRate.Load(),
		OverBudget:    p.count.overBudget.Load(),
		Oversize:      p.count.oversize.Load(),
		Dropped: DropStats{
			Oversize: p.count.droppedOversize.Load(),
			Foreign:  p.count.droppedForeign.Load(),
			Double:   p.count.droppedDouble.Load(),
			Fallback: p.count.droppedFallback.Load(),
		},
		DoubleReleases: p.count.doubleReleases.Load(),
		Classes:        make([]ClassStats, p.classes.Len()),
	}
	quarantined := p.checks.quarantineCounts(p.classes.Len())
	var unused classCounts
	for i, c := range p.engine.Counts() {
		own := &unused
		if made := p.count.class.Made(); made != nil {
			own = &made[i]
		}
		passed, trimmed := p.gate.Counts(uint8(i)), own.trimmed.Load()
		cs := ClassStats{
			Size:   p.classes.Size(uint8(i)),
			Hits:   c.Hits + c.Recovered + passed.Handed,
			Misses: own.misses.Load(),
			Puts:   c.Puts + passed.Puts + own.puts.Load(),
			Idle:   c.Idle,
		}
		if quarantined != nil {
			cs.Idle += quarantined[i]
		}
		cs.Gets = cs.Hits + cs.Misses

		s.Gets += cs.Gets
		s.Hits += cs.Hits
		s.Misses += cs.Misses
		s.Puts += cs.Puts
		s.Recovered += c.Recovered
		s.Dropped.Full += passed.Full
		s.Dropped.Closed += passed.Closed
		s.Trimmed += c.Released + trimmed
		s.IdleBytes += int64(cs.Idle) * int64(cs.Size)
		s.ReleasedBytes += int64(c.Released+trimmed) * int64(cs.Size)
		fallbacks := own.fallbacks.Load()
		s.OffHeap.Fallback += fallbacks
		adopted := own.adopted.Load()
		s.Adopted += adopted
		gets, puts := cs.Gets-own.bodies.Load()-fallbacks, cs.Puts-adopted-own.unmatched.Load()
		cs.InUse = int(max(0, int64(gets-puts)))
		s.InUseBytes += int64(cs.InUse) * int64(cs.Size)
		s.Classes[i] = cs
	}
	s.InUseBytes += p.bodyPools.inUse()
	s.Collections = p.count.collections.Load()
	s.OldestIdle = p.decay.Oldest()
	s.OverheadBytes = p.overhead()
	s.Shards = shardStats(&p.engine, p.classes.Size)
	s.Gets += s.Oversize
	s.Puts += s.Dropped.Oversize + s.Dropped.Foreign + s.Dropped.Double + s.Dropped.Fallback
	if p.checks != nil {
		s.Violations = p.checks.count.Load()
		s.Sampled = p.checks.sampled()
	}
	p.guardStats(&s)
	s.Waits, s.WaitDuration = p.gate.Waits()
	if budget := p.gate.Budget(); budget != nil {
		s.Budget.Name, s.Budget.Limit, s.Budget.Used = budget.Name(), budget.Limit(), budget.Used()
		s.Budget.Excess = max(0, s.Budget.Used-s.Budget.Limit)
	}
	if p.ledger != nil {
		u := p.ledger.Usage()
		s.OffHeap.Reserved, s.OffHeap.Committed, s.OffHeap.Decommitted = u.Reserved, u.Committed, u.Decommitted
	}
	return s
}

// overhead returns the bytes that the pool has in addition to its blocks.
func (p *BytePool) overhead() int64 {
	return p.engine.Overhead() + p.handles.Overhead() + int64(unsafe.Sizeof(*p))
}

// reportLeaks is dewtest.ReportLeaks.
func (p *BytePool) reportLeaks() int {
	if p.parted() {
		return p.parts.reportLeaks()
	}
	p = p.actual()
	return p.checks.reportLeaks() + p.bodyPools.reportLeaks(p.checks)
}

// watchIfChosen starts to watch a block that a caller gets, if it is chosen. It must be called
// before the block is cleared, because it looks at the poison.
func (p *BytePool) watchIfChosen(b []byte) {
	if p.checks == nil {
		return
	}
	p.checks.Unmark(addressOf(b))
	if p.checks.chosen() {
		p.startWatch(b)
	}
}

// startWatch starts to watch a block that a caller gets.
func (p *BytePool) startWatch(b []byte) {
	c := p.checks
	panics := true
	defer func() {
		if panics { // in a report: no caller gets the block
			p.note(b)
			p.Put(b)
		}
	}()
	c.Get(addressOf(b), b, c.heap)
	panics = false
	if c.leak > 0 {
		p.decay.Loosened() // so that a tick looks how long the block has been out
	}
}

// reportOld reports the blocks that have been out for longer than LeakAfter.
func (p *BytePool) reportOld() {
	if c := p.checks; c.leak > 0 {
		var l late.List
		defer l.End()
		if _, left := c.Leaks(c.leak, time.Now(), &l); left > 0 {
			p.decay.Loosened()
		}
	}
}

// putChecked asks the checks about a slice whose cap is the size of a class. It reports
// whether Put goes on, and whether the block is watched.
func (p *BytePool) putChecked(b []byte) (goOn, watched bool) {
	c := p.checks
	switch c.Put(addressOf(b), cap(b)) {
	case check.Accepted:
		return true, true
	case check.Refused:
		p.count.droppedDouble.Add(1)
		return false, false
	}
	if !c.All() {
		return true, false
	}
	if p.fallback.Remove(dataOf(b), addressOf(b)) {
		p.count.droppedFallback.Add(1)
		return false, false
	}
	p.count.droppedForeign.Add(1)
	c.reportStranger(addressOf(b), cap(b))
	return false, false
}

// putWatched is the end of Put for a watched block.
func (p *BytePool) putWatched(class uint8, b []byte) {
	if p.elements.areSealed() {
		p.resetWatched(class, b)
	}
	p.checks.Retire(checkedBlock(class, b))
}

// resetWatched makes a watched block ready for its next owner, who must find what Reset has
// left: it cannot be poisoned.
func (p *BytePool) resetWatched(class uint8, b []byte) {
	panics := true
	defer func() {
		if panics { // in Reset: the block has no owner now
			var l late.List
			defer l.End()
			p.checks.Seal(addressOf(b), b)
			p.checks.lastLook(checkedBlock(class, b), &l)
		}
	}()
	p.clean(b)
	panics = false
}

func (p *BytePool) ownChecks() []*checks {
	if p.parted() {
		return p.parts.ownChecks()
	}
	return []*checks{p.checks}
}

func (p *BytePool) appendEngines(all []*magazine.Engine) []*magazine.Engine {
	if p.parted() {
		return p.parts.appendEngines(all)
	}
	return append(all, &p.engine, &p.handles)
}

// parted reports whether parts do the work of the pool.
func (p *BytePool) parted() bool { return !p.initialized && p.parts != nil }

// home returns the part of the pool to which a slice of the caller's goes: for a block of a Budget
// from outside that is outside, and the caller's own else.
func (p *BytePool) home(b []byte) *BytePool {
	here := p.actual()
	if here.parts != nil && !here.knows(b) && here.parts.outside.knows(b) {
		return here.parts.outside
	}
	return here
}

// partFor is home for Put. What comes from another bubble must not go back to it: then partFor
// counts the Put, and returns nil.
func (p *BytePool) partFor(b []byte) *BytePool {
	home := p.home(b)
	if home.parts == nil || home.knows(b) {
		return home
	}
	for _, other := range home.parts.bubbles.All(func() {}) {
		if other.knows(b) {
			other.count.droppedForeign.Add(1)
			return nil
		}
	}
	return home
}

// knows reports whether b is a block of the pool, which only one with a Budget can tell.
func (p *BytePool) knows(b []byte) bool {
	class, ok := p.classes.Exact(cap(b))
	return ok && p.onPut&askBudget != 0 && p.gate.Knows(class, addressOf(b))
}

// actual returns the pool that does the work: p itself, or its stand-in if p is the zero
// BytePool, or the caller's part of it. It is inlined: it costs a pool made by a constructor one comparison.
func (p *BytePool) actual() *BytePool {
	if p.initialized {
		return p
	}
	return p.other()
}

//go:noinline
func (p *BytePool) other() *BytePool {
	if p.parts != nil {
		return p.parts.here()
	}
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *BytePool { return MustBytePool(BytePoolOptions{}) })
}

// An owner is a BytePool as admission.Owner, for its gate.
type owner BytePool

// Free lets go of a block that the pool no longer has.
func (o *owner) Free(class uint8, block magazine.Block, l *late.List) {
	p := (*BytePool)(o)
	b := p.sliceOf(class, block)
	p.checks.lastLook(checkedBlock(class, b), l)
	if p.source != nil {
		defer l.Catch()
		p.source.Free(b)
	}
}

// Loosened tells decay that blocks were let go, so that it calls settle.
func (o *owner) Loosened() { o.decay.Loosened() }

// Kept tells decay that a block has become idle, so that it looks at the pool.
func (o *owner) Kept() { o.decay.Kept() }

// A blockKeeper is a BytePool as check.Keeper, for its checks.
type blockKeeper BytePool

func (k *blockKeeper) Count(class uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.class.At(class).puts.Add(1)
		k.decay.Loosened() // so that a tick ends the block's quarantine
	case check.Trimmed:
		k.count.class.At(class).trimmed.Add(1)
	}
}

func (k *blockKeeper) Keep(block check.Block, counted bool) {
	p, class, b := (*BytePool)(k), block.Class, block.Bytes
	if !p.checks.All() && p.onPut&clearBlock != 0 && !p.elements.areSealed() {
		clear(b) // removes the poison
	}
	if counted {
		p.gate.Requeue(class, blockOf(b))
	} else {
		p.gate.Put(class, blockOf(b))
	}
}

func (k *blockKeeper) Free(b check.Block, l *late.List) { k.gate.Drop(b.Class, blockOf(b.Bytes), l) }

// A batch is one call of GetBatch. The elements of blocks are, in this order, idle blocks that
// are not yet ready for the caller, blocks that are, and nil.
type batch struct {
	pool    *BytePool
	class   uint8
	large   bool // no class holds n bytes
	n       int
	size    int // bytes that are charged for each
	blocks  [][]byte
	idle    int
	ready   int
	charged int // how many may still be allocated
}

func (b *batch) get(ctx context.Context) error {
	p := b.pool
	if p.engine.Closed() {
		return ErrClosed
	}
	if b.n == 0 { // needs no blocks
		for i := range b.blocks {
			b.blocks[i] = noBytes[:]
		}
		return nil
	}
	if err := p.beyondBudget(len(b.blocks), b.size); err != nil {
		return err
	}
	defer b.undo() // what is left after an error, or when a report or Allocator panics
	if err := b.collect(ctx); err != nil {
		return err
	}
	for b.charged > 0 {
		if err := b.allocate(); err != nil {
			return err
		}
	}
	for b.idle > 0 {
		block := b.takeIdle()
		last := b.idle + b.ready // so that there is no gap if makeReady panics; then it has put the block back
		b.blocks[b.idle], b.blocks[last] = b.blocks[last], nil
		p.makeReady(block)
		b.blocks[last] = block[:b.n]
		b.ready++
	}
	b.ready = 0 // the caller has them
	return nil
}

// collect gets as many idle blocks and permissions to allocate as the batch needs.
func (b *batch) collect(ctx context.Context) (err error) {
	p, all := b.pool, len(b.blocks)
	for !b.large && b.idle < all {
		block := p.sliceOf(b.class, p.engine.Pop(b.class))
		if block == nil {
			break
		}
		b.blocks[b.idle] = block
		b.idle++
	}
	switch missing := all - b.idle; {
	case missing == 0:
		return nil
	case b.large:
		if !p.gate.TryBytes(all * b.size) {
			err = waitErrorOf(p.name, p.gate.WaitBytes(ctx, all*b.size))
		}
	case !p.gate.Allow(b.class, missing):
		err = b.wait(ctx)
	}
	if err == nil {
		b.charged = all - b.idle
	}
	return err
}

// wait collects idle blocks and permissions by the gate, to which it passes what is there.
func (b *batch) wait(ctx context.Context) error {
	ctx.Done() // if ctx is nil it panics here, while the batch still has its blocks
	p, all := b.pool, len(b.blocks)
	var found []magazine.Block
	for b.idle > 0 {
		found = append(found, blockOf(b.takeIdle()))
	}
	found, err := p.gate.Wait(ctx, b.class, all, found)
	for _, block := range found {
		b.blocks[b.idle] = p.sliceOf(b.class, block)
		b.idle++
	}
	if err != ErrExhausted {
		return waitErrorOf(p.name, err)
	}
	return exhausted("of %d blocks for pool %q not all are idle, and its AllocRate never allows that many misses at once", all, p.name)
}

// allocate uses one permission to allocate.
func (b *batch) allocate() error {
	b.charged--
	var block []byte
	var err error
	if b.large {
		block, err = b.pool.chargedOversize(b.n)
	} else {
		block, err = b.pool.allocateOrReuseIdle(b.class)
	}
	if err != nil {
		return err
	}
	b.blocks[b.idle+b.ready] = block[:b.n]
	b.ready++
	return nil
}

// takeIdle takes the last of the idle blocks out of the batch. There must be one.
func (b *batch) takeIdle() (block []byte) {
	b.idle--
	block, b.blocks[b.idle] = b.blocks[b.idle], nil
	return block
}

// undo gives back everything that the call has, also if a report panics.
func (b *batch) undo() { late.Finish(b.undoSome) }

// undoSome gives back some of what the call has.
func (b *batch) undoSome() (more bool) {
	p := b.pool
	switch {
	case b.charged > 0:
		n := b.charged
		b.charged = 0
		if b.large {
			p.gate.UnchargeBytes(n * b.size)
		} else {
			p.gate.Return(b.class, n)
		}
	case b.ready > 0:
		b.ready--
		at := b.idle + b.ready
		block := b.blocks[at]
		b.blocks[at] = nil
		p.Put(block)
	case b.idle > 0:
		p.gate.Put(b.class, blockOf(b.takeIdle()))
	default:
		return false
	}
	return true
}

// moved puts back s, whose elements are now in grown, and returns grown. If the Put
// panics, in an Allocator's Free, in Reset or in a report, no caller gets grown, so moved puts
// it back too.
func moved[T any](p interface{ Put([]T) }, s, grown []T) []T {
	returned := false
	defer func() {
		if !returned {
			p.Put(grown)
		}
	}()
	p.Put(s)
	returned = true
	return grown
}

func appended(p *BytePool, b, x []byte) []byte {
	if len(x) <= cap(b)-len(b) {
		return append(b, x...)
	}
	n := withRoom(b, len(x), p.actual().classes.Largest())
	return moved(p, b, append(append(p.Get(n)[:0], b...), x...))
}

// withRoom returns for how many elements an Append of more elements to s gets a slice.
// Above the largest class it leaves room, as append does: otherwise each of many small
// appends would copy everything.
func withRoom[T any](s []T, more, largest int) int {
	n := len(s) + more
	if n > largest {
		return max(n, cap(s)+cap(s)/4)
	}
	return n
}

// lenOf returns how many bytes a reader says that it has in memory, or 0 if it does not
// say so.
func lenOf(r io.Reader) int {
	if l, ok := r.(interface{ Len() int }); ok {
		if n := l.Len(); n < math.MaxInt-bytes.MinRead {
			return max(0, n)
		}
	}
	return 0
}

// A standIn does the work of a zero pool. It is a pool with default options, which the
// first use of the zero pool makes. Get and Put of small sizes go on with the stand-in where
// they find that the pool is zero. Other methods call it from their first line or, if that
// would slow down pools made by a constructor, from their slow path: the fast path finds
// nothing in a zero engine.
//
// Only the pointer here is ever written in a zero pool. So no goroutine can see a pool
// that is half made, or skip the clearing in Put, on any machine: a goroutine that loads
// the pointer sees all that was stored before it, and one that does not see it yet sees
// zeros, which lead to the lock.
type standIn[P any] struct {
	pool atomic.Pointer[P]

	// mu is held while the stand-in is made, so that only one is: a second one would
	// show in Pools and take the name.
	mu sync.Mutex
}

// make returns the stand-in, which it makes if there is none. If newPool panics, so does
// every use of the zero pool.
func (s *standIn[P]) make(newPool func() *P) *P {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool.Load() == nil {
		s.pool.Store(newPool())
	}
	return s.pool.Load()
}

// dataOf returns the pointer that a handle has to a block.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockOf is dataOf in the type that the engine uses.
func blockOf(b []byte) magazine.Block { return unsafe.Pointer(unsafe.SliceData(b)) }

// addressOf is dataOf as a number, which does not keep the block alive.
func addressOf(b []byte) uintptr { return addressAt(unsafe.SliceData(b)) }

func addressAt(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

// issue is state.Issue, or one plain store if that is enough: see memory.OrderedStores.
func issue(state *memory.State, whenOut uint32) {
	var _ [4]byte = [unsafe.Sizeof(*state)]byte{}
	if memory.OrderedStores {
		*(*uint32)(unsafe.Pointer(state)) = whenOut
		return
	}
	state.Issue(whenOut)
}

var defaultPool = sync.OnceValue(func() *BytePool {
	p := MustBytePool(BytePoolOptions{Name: "default"})
	p.shared = true
	return p
})

// Default returns a pool for code that is given none. It has the default options and the
// name "default". All packages of the program share it, so its Close returns an error and
// does nothing.
func Default() *BytePool { return defaultPool() }

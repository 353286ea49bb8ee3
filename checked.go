package dewpond

import (
	"log/slog"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/memory"
)

// checks is the part of a BytePool or a Pool that checked mode needs. It is nil with
// CheckOff.
//
// With CheckAll every block is watched from its first Get on. It stays watched while it
// is idle, in quarantine and then in the engine, and has poison in it. When it is handed
// out again or let go, the checks look whether the poison has changed.
//
// Idle blocks of a Ledger that is a memory.Guard are protected in addition: any read or
// write of them faults, and ExplainFaults says whose they were.
//
// With CheckSampled one Get in so many has its block watched, and only until the block
// leaves quarantine.
type checks struct {
	*check.Watch
	*reports
	sampleMask uint64        // one Get in sampleMask+1 has its block watched
	heap       bool          // the blocks are on the Go heap
	leak       time.Duration // LeakAfter; 0: no limit
	looked     func()        // for tests: called when Stats has read what is in quarantine
}

// quarantineBytes bounds a pool's quarantine, which is a part of its MaxIdleBytes.
const quarantineBytes = 1 << 20

// quarantined returns the size of the quarantine in bytes. The engine must keep as many
// fewer, so that both together stay within MaxIdleBytes.
func (c *checks) quarantined() int64 {
	if c == nil {
		return 0
	}
	return int64(c.Quarantine.Bytes)
}

// blockChecks returns the checks of a BytePool, or nil if nothing is to be checked. The
// options are valid.
func blockChecks(o BytePoolOptions, e *elements) *checks {
	c := newChecks(o.Check, o.OnViolation, len(o.Classes), e.areSealed())
	if c == nil {
		if o.LeakAfter > 0 && o.Check == CheckOff {
			uselessLeakAfter.Do(func() {
				slog.Warn("dewpond: the option LeakAfter does nothing without Check", "pool", o.Name)
			})
		}
		return nil
	}
	c.heap, c.leak = o.Memory == nil, o.LeakAfter
	if c.heap {
		c.advice = "To see the write itself, have the pool off the heap, where it faults: dewtest.NewOffHeapBytePool."
	}
	if g, ok := o.Memory.(memory.Guard); ok && c.All() && g.Isolate() {
		c.Guard = g
	}
	// Calls that are refused or wait do not find blocks in quarantine.
	if o.AllocLimit == 0 && o.Budget == nil && o.MaxIdlePerClass == 0 {
		c.Quarantine.Bytes = int(min(quarantineBytes, o.MaxIdleBytes/4))
	}
	return c
}

// uselessLeakAfter logs once that a pool has the option LeakAfter but no checks.
var uselessLeakAfter = new(sync.Once)

// newChecks returns checks without a quarantine for a pool on the Go heap, or nil if the
// effective mode is CheckOff. Objects are sealed, blocks poisoned. The mode is valid.
func newChecks(mode CheckMode, on func(Violation), classes int, objects bool) *checks {
	mode, every := mode.effective()
	if mode == CheckOff {
		return nil
	}
	r := &reports{on: on}
	c := &checks{
		Watch:      check.NewWatch(mode == CheckAll, objects, classes, r.report),
		reports:    r,
		sampleMask: uint64(every) - 1,
		heap:       true,
	}
	if c.All() {
		c.sampleMask = 0
	}
	return c
}

// everything reports whether every block is watched. If so, the engine keeps all idle
// blocks in its depots: a shard's slots go on pointing to a block that they gave out,
// which would keep it alive, so that its leak would not be found.
func (c *checks) everything() bool { return c != nil && c.All() }

// modes returns what Get and Put have to do for the checks.
func (c *checks) modes() mode {
	switch {
	case c == nil:
		return keepAsIs
	case c.All():
		return watchAll
	}
	return watchSome
}

// chosen reports whether the block or object that a caller gets now is to be watched.
func (c *checks) chosen() bool { return c != nil && rand.Uint64()&c.sampleMask == 0 }

// watch starts to watch a block that a caller gets, if it is chosen. It must be called
// before the block is cleared, because it looks at the poison.
func (p *BytePool) watch(b []byte) {
	if p.checks.chosen() {
		p.watchThis(b)
	}
}

// watchThis starts to watch a block that a caller gets.
func (p *BytePool) watchThis(b []byte) {
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
	c.stranger(addressOf(b), cap(b))
	return false, false
}

// stranger reports a Put of a slice that is not a block of the pool, and names the pool that
// watches it.
func (c *checks) stranger(at uintptr, size int) {
	v := c.Stranger(at, size)
	if v.Kind == check.ForeignPut {
		for _, p := range livePools.Live() {
			other := p.watching()
			if other == nil {
				continue
			}
			if block := other.Around(at); block != nil {
				v.Holder, v.Got, v.Put, v.Age = p.Name(), block.Got, block.Put, block.Age
				break
			}
		}
	}
	c.report(v)
}

// watching returns the checks of a pool, or nil.
func (p *BytePool) watching() *checks { return p.checks }

func (p *Pool[T]) watching() *checks { return p.checks }

func (p *SlicePool[T]) watching() *checks { return p.pool.checks }

// putWatched is the end of Put for a watched block.
func (p *BytePool) putWatched(class uint8, b []byte) {
	if p.elements.areSealed() {
		p.resetWatched(class, b)
	}
	p.checks.Retire(watched(class, b))
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
			p.checks.unwatch(watched(class, b), &l)
		}
	}()
	p.clean(b)
	panics = false
}

// watched returns a block in the form that the checks use.
func watched(class uint8, b []byte) check.Block {
	return check.Block{At: addressOf(b), Class: class, Bytes: b}
}

// A blockKeeper is a BytePool as check.Keeper, for its checks.
type blockKeeper BytePool

func (k *blockKeeper) Count(class uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.class[class].puts.Add(1)
		k.decay.Loosened() // so that a tick ends the block's quarantine
	case check.Trimmed:
		k.count.class[class].trimmed.Add(1)
	}
}

func (k *blockKeeper) Keep(block check.Block, counted bool) {
	p, class, b := (*BytePool)(k), block.Class, block.Bytes
	if !p.checks.All() && p.onPut&clearBlock != 0 {
		clear(b) // removes the poison
	}
	if counted {
		p.gate.Requeue(class, blockOf(b))
	} else {
		p.gate.Put(class, blockOf(b))
	}
}

func (k *blockKeeper) Free(b check.Block, l *late.List) { k.gate.Drop(b.Class, blockOf(b.Bytes), l) }

// trimQuarantine is check.Watch.Empty if there are checks. It returns the bytes that were
// let go.
func (c *checks) trimQuarantine(end bool, l *late.List) (released int64) {
	if c != nil {
		_, released = c.Empty(end, l)
	}
	return released
}

// inQuarantine returns how many blocks of each class are in quarantine. Stats calls it
// before it reads the engine's counts: see check.Watch.Held.
func (c *checks) inQuarantine(classes int) (held []int) {
	if c == nil {
		return nil
	}
	for class := range classes {
		held = append(held, c.Held(uint8(class)))
	}
	if c.looked != nil {
		c.looked()
	}
	return held
}

// unwatch checks a block that the pool lets go for the last time, if it is watched.
func (c *checks) unwatch(b check.Block, l *late.List) {
	if c != nil {
		c.Unwatch(b, l)
	}
}

// A checkedOwner is what the checks know of a handle's owner. One that a Retain made has
// it from the beginning, and one that has the block from a Get from its Release on, because
// what made it is the block's.
type checkedOwner struct {
	generation uint32
	*check.Owner
}

// noteRetain tells the checks of a handle's new owner, made by Retain.
func (h *handle) noteRetain() {
	c, at := h.pool.checks, addressAt(h.root.data.Load())
	if c == nil || !check.Watched(at) {
		return
	}
	if o := c.Retained(at); o != nil {
		h.checked.Store(&checkedOwner{uint32(h.word.Load() >> 32), o})
	}
}

// noteRelease tells the checks that a handle's owner releases. word is the handle's in the
// generation of that owner.
func (h *handle) noteRelease(word uint64) {
	c := h.pool.checks
	if c == nil {
		return
	}
	generation := uint32(word >> 32)
	if o := h.checked.Load(); o != nil && o.generation == generation {
		c.Released(o.Owner)
		return
	}
	if at := addressAt(h.data.Load()); c.All() || check.Watched(at) {
		h.checked.Store(&checkedOwner{generation, c.ReleasedFirst(at)})
	}
}

// reportAgain reports a second Release.
func (l Lease) reportAgain() {
	c := l.h.pool.checks
	if !c.chosen() {
		return
	}
	var owner *check.Owner
	if o := l.h.checked.Load(); o != nil && o.generation == l.mark&^capBits {
		owner = o.Owner
	}
	c.ReleasedAgain(owner, int(l.n))
}

// A Pool's checks see an object as the bytes of its T. These cannot be poisoned, because
// Reset has made them ready for the next owner. So the checks keep a copy instead, and
// compare it when the object leaves. A Pool cannot know which objects it has handed
// out, so it adopts a foreign object that is put back.

// objectChecks returns the checks of a Pool, or nil if nothing is to be checked. The
// options are valid.
func objectChecks[T any](o PoolOptions[T], size int64) *checks {
	c := newChecks(o.Check, o.OnViolation, 1, true)
	if c == nil {
		return nil
	}
	c.objects = reflect.TypeFor[T]()
	if o.Limit == 0 { // with a Limit, calls would miss what is in quarantine
		c.Quarantine.Bytes = int(size * min(quarantineBytes/size, int64(o.MaxIdle)/4, check.QuarantineBlocks))
	}
	return c
}

// watch starts to watch an object that a caller gets, if it is chosen, and returns the
// object. It does all of that itself, because each frame of its stack costs.
func (p *Pool[T]) watch(v *T) *T {
	if !p.checks.chosen() {
		return v
	}
	panics := true
	defer func() {
		if panics { // in a report: no caller gets the object
			p.Put(v)
		}
	}()
	b := bytesOf(v)
	p.checks.Get(addressOf(b), b, true)
	panics = false
	return v
}

// putWatched is Put if the object is watched, and reports whether it is.
func (p *Pool[T]) putWatched(v *T) bool {
	c, b := p.checks, bytesOf(v)
	var verdict check.Verdict
	switch {
	case c.All():
		verdict = c.Adopt(addressOf(b), b)
	case check.Watched(addressOf(b)):
		verdict = c.Put(addressOf(b), len(b))
	default:
		return false
	}
	switch verdict {
	case check.Unknown:
		return false
	case check.Refused:
		p.count.droppedDouble.Add(1)
		return true
	}
	if p.limited() {
		defer p.out.Release()
	}
	panics := true
	defer func() {
		if panics { // in Keep, Reset or Drop: the object has no owner now
			var l late.List
			defer l.End()
			p.seal(v)
			p.checks.unwatch(watchedObject(v), &l)
		}
	}()
	ready := p.cleaned(v)
	panics = false
	if ready {
		c.Retire(watchedObject(v))
	}
	return true
}

// seal records the present contents of an object that the checks know to be idle.
func (p *Pool[T]) seal(v *T) {
	if p.checks != nil {
		b := bytesOf(v)
		p.checks.Seal(addressOf(b), b)
	}
}

// watchedObject returns an object in the form that the checks use.
func watchedObject[T any](v *T) check.Block { return watched(0, bytesOf(v)) }

// An objectKeeper is a Pool as check.Keeper, for its checks.
type objectKeeper[T any] struct{ *Pool[T] }

func (k objectKeeper[T]) Count(_ uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.puts.Add(1)
		k.decay.Loosened() // so that a tick ends the object's quarantine
	case check.Trimmed:
		k.count.trimmed.Add(1)
	}
}

func (k objectKeeper[T]) Keep(b check.Block, counted bool) {
	v := objectOf[T](b.Bytes)
	if counted {
		k.settled(v, k.add(v))
	} else {
		k.pushSlow(v)
	}
}

func (k objectKeeper[T]) Free(b check.Block, l *late.List) { k.discardLate(objectOf[T](b.Bytes), l) }

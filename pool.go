package dewpond

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/semaphore"
)

// A Pool hands out objects of one type and takes them back for reuse.
// It keeps idle objects across garbage collections, within [PoolOptions.MaxIdle], until
// [Pool.Trim], [Pool.Close] or decay releases them. Make a pool with [NewPool].
//
// The zero Pool is also ready to use, for every T for which NewPool accepts the zero
// [PoolOptions] (a T of more than 4 KiB must have a Reset method): from its first use it has
// the default options. With another T each use panics. Its Get and Put take a little
// longer than those of a pool made by NewPool:
// https://github.com/dewpond/dewpond/blob/main/docs/results.md#the-zero-value.
//
// In the binary of a test a Pool of objects with pointers keeps bubbles of [testing/synctest] apart, and
// keeps nothing in one:
// https://github.com/dewpond/dewpond/blob/main/docs/ownership.md#in-a-testingsynctest-bubble.
//
// A Pool must not be copied. All its methods may be called by any number of goroutines
// at once. A Put of an object synchronizes before the Get that returns it.
//
// The caller of Get owns the object until Put. After Put no caller may use it. Unless
// [PoolOptions.Check] is set, a pool cannot see that an object is still in use, or that
// it is put back twice.
type Pool[T any] struct {
	// The fields that Get and Put read come first, in one cache line.
	onPut  objectWork
	reset  func(*T) // or one that sets it to zero
	checks *checks
	engine magazine.Engine // of one class; its blocks are *T, each of size 1

	name  string
	entry *registry.Entry // in livePools

	new  func() *T // nil: new(T)
	keep func(*T) bool
	drop func(*T)
	size int64 // of an object, in bytes: of T, but for package dewsync

	decay decay.Decayer

	out       semaphore.Semaphore // counts the objects that are out, if there is MaxOut
	exhausted error               // of a TryGet when these are as many as MaxOut
	count     objectCounts

	standIn standIn[Pool[T]]

	parts  *objectParts[T] // nil but in the binary of a test; also that of which this is a part
	bubble uint64          // whose part this is
}

// An objectWork says what Put does to an object before the engine gets it. It sums up
// the pool's options, so that the fast path needs one comparison.
type objectWork uint8

const (
	askStandIn objectWork = iota // this is the zero Pool, or one with parts: call its stand-in or the caller's part
	setZero
	callReset
	askKeep   // call keep, then reset
	countOut  // there is MaxOut; then keep if it is set, and reset
	askChecks // the object may be watched; then all of the above
	askParts  // the object may be another part's; then all of the above
)

// NewPool makes a pool. If options are invalid it returns one error that names each of
// them.
func NewPool[T any](o PoolOptions[T]) (*Pool[T], error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := new(Pool[T])
	entry := reserve(p, o.Name)
	if keepApart() && mayBelong(o.objectType()) {
		p.entry, p.name = entry, entry.Name()
		p.parts = p.newParts(o)
	} else {
		p.init(o, entry)
	}
	publish(entry)
	return p, nil
}

// init makes a Pool of valid options, whose name is that of the entry.
func (p *Pool[T]) init(o PoolOptions[T], entry *registry.Entry) {
	p.keep, p.reset, p.new, p.drop = o.Keep, o.Reset, o.New, o.Drop
	if p.reset == nil {
		p.reset = clearObject[T]
	}
	p.entry, p.name = entry, entry.Name()
	p.size = o.size()
	p.checks = objectChecks(o, p.size)
	p.out.Init(o.MaxOut, p.Name)
	if o.MaxOut > 0 {
		p.exhausted = exhausted("pool %q is exhausted: as many objects are in use as its MaxOut of %d allows", p.name, o.MaxOut)
	}
	switch {
	case p.parts != nil:
		p.onPut = askParts
	case p.checks != nil:
		p.onPut = askChecks
	case o.MaxOut > 0:
		p.onPut = countOut
	case o.Keep != nil:
		p.onPut = askKeep
	case o.Reset != nil:
		p.onPut = callReset
	default:
		p.onPut = setZero
	}
	idle, follows := o.idle()
	p.engine.Init(magazine.Config{
		Sizes:        []int{1},
		MaxIdleBytes: idle - p.checks.quarantined()/p.size,
		Beyond:       beyondIf(follows),
		Tier:         tierUnless(o.NoSecondTier || idle == 0 || o.Drop != nil || p.checks != nil),
		Unit:         p.size,
		Aging:        o.IdleTimeout > 0,
		Shards:       o.object.object != nil, // of package dewsync, which makes a pool when that is in use
		// A limited pool keeps all idle objects in the depot, where every Get finds
		// them. So it makes an object only if none is idle, and has no more than MaxOut,
		// apart from those that Drop has not finished with.
		Direct: p.limited() || p.checks.everything(),
	})
	var settle func()
	if p.checks != nil {
		p.checks.Keeper = objectKeeper[T]{p}
		settle = p.settle
	}
	trim, settle, shed := p.checks.errands(p.trimInTurn, settle, p.shed)
	object := o.objectType()
	p.decay.Init(processTicker(), o.IdleTimeout, trim, settle, decay.Part{Idle: &p.engine, Sizes: []int{1}, Unit: p.size, Shed: shed, More: func() bool { return pointerIn(object) != nil }})
	p.decay.Asks(spilled, func() { p.count.collections.Add(1) })
	if p.checks != nil {
		p.checks.pool = p.name
	}
}

// MustPool is like [NewPool], but panics if the options are invalid. It simplifies the
// initialization of global variables.
func MustPool[T any](o PoolOptions[T]) *Pool[T] {
	p, err := NewPool(o)
	if err != nil {
		panic(err)
	}
	return p
}

// Get returns an object that was put back, or a new one from [PoolOptions.New]. It is
// never refused: beyond [PoolOptions.MaxOut] it still hands out objects, and counts them
// in [Stats.OverMaxOut]. It panics if New returns nil.
//
//go:nosplit
func (p *Pool[T]) Get() *T {
	for p.onPut == askStandIn { // the zero Pool: its stand-in, if there is one yet, is as fast
		other := p.standIn.pool.Load()
		if other == nil {
			return p.getSlow()
		}
		p = other
	}
	// engine.Pop, inlined by hand (cost 333 of 80). In a limited pool it finds nothing,
	// because all idle objects are in the depot.
	x := p.engine.Enter()
	if v := p.engine.Slot(x, magazine.OnlySlot).Take(); v != nil {
		x.Exit()
		if p.checks == nil {
			return (*T)(v)
		}
		return p.watchIfChosen((*T)(v))
	}
	x.Exit()
	return p.getSlow()
}

func (p *Pool[T]) limited() bool { return p.out.Limit() > 0 }

// getSlow is Get when the shard has no object, as always in a pool with MaxOut.
func (p *Pool[T]) getSlow() *T {
	if p.onPut == askStandIn {
		return p.actual().Get()
	}
	if p.limited() && !p.out.AcquireAnyway() {
		p.count.overMaxOut.Add(1)
	}
	v := p.engine.PopSlow(0)
	if v == nil && p.engine.Reclaim(0) {
		v = p.engine.PopSlow(0)
	}
	if v != nil {
		return p.watchIfChosen((*T)(v))
	}
	return p.allocate()
}

// TryGet is like [Pool.Get], but if [PoolOptions.MaxOut] objects are in use it returns an error that
// names the pool and wraps [ErrExhausted]. After [Pool.Close] it returns [ErrClosed].
func (p *Pool[T]) TryGet() (*T, error) {
	p = p.actual()
	if p.limited() && !p.out.TryAcquire() {
		if p.engine.Closed() {
			return nil, ErrClosed
		}
		p.count.refused.Add(1)
		return nil, p.exhausted
	}
	return p.acquired()
}

// GetContext is like [Pool.TryGet], but instead of returning [ErrExhausted] it waits
// until an object is put back or ctx is done. In the latter case it returns an error that
// names the pool, and wraps ErrExhausted and the error of ctx. Waiting calls are served in
// the order in which they arrived. If a call need not wait, it does not look at ctx. Close
// ends every wait with [ErrClosed].
//
// In the binary of a test each bubble of [testing/synctest] has its own MaxOut and waits, if T
// has pointers. Else, while a call waits in a bubble, the pool belongs to that bubble: a
// call from outside the bubble that would wake it, or wait beside it, panics.
func (p *Pool[T]) GetContext(ctx context.Context) (*T, error) {
	p = p.actual()
	if p.limited() {
		if err := p.out.Acquire(ctx); err != nil {
			if p.engine.Closed() { // even if ctx is done too
				return nil, ErrClosed
			}
			p.count.refused.Add(1)
			return nil, waitErrorOf(p.name, err)
		}
	}
	return p.acquired()
}

// acquired returns an object for a caller that the semaphore has counted.
func (p *Pool[T]) acquired() (*T, error) {
	if v := p.engine.Pop(0); v != nil {
		return p.watchIfChosen((*T)(v)), nil
	}
	if p.engine.Closed() {
		if p.limited() { // Get goes on counting after Close
			p.out.Release()
		}
		return nil, ErrClosed
	}
	return p.allocate(), nil
}

// allocate returns a new object for a caller that the semaphore has counted. If New
// panics, nothing is counted.
func (p *Pool[T]) allocate() *T {
	v := p.freshCounted()
	return p.watchIfChosen(v) // gives the object back if it panics
}

// freshCounted is fresh with the bookkeeping of a miss.
func (p *Pool[T]) freshCounted() (v *T) {
	defer func() {
		if v != nil {
			p.count.misses.Add(1)
			p.engine.Missed(0, 1)
		} else if p.limited() {
			p.out.Release()
		}
	}()
	return p.fresh()
}

// fresh makes an object by New, or by new(T) if New is nil.
func (p *Pool[T]) fresh() *T {
	if p.new == nil {
		return new(T)
	}
	v := p.new()
	if v == nil {
		panic(fmt.Sprintf("dewpond: New of pool %q returned nil", p.name))
	}
	return v
}

// Put gives an object back: it calls [PoolOptions.Keep], then [PoolOptions.Reset]. The
// caller must no longer use the object. Put ignores nil. An object that the pool does
// not retain goes to [PoolOptions.Drop]: one that Keep refuses ([DropStats.ByKeep]),
// one that MaxIdle has no room for ([DropStats.Full]), and every object after
// [Pool.Close] ([DropStats.Closed]). Without Drop, one that MaxIdle has no room for belongs to the
// garbage collector, and a Get may take it until it is freed: see [PoolOptions.NoSecondTier]. If [PoolOptions.Check] is set, Put refuses an
// object that is idle ([DropStats.Double]), and leaves it as it is.
func (p *Pool[T]) Put(v *T) {
	if v == nil {
		return
	}
	for p.onPut == askStandIn { // see Get
		p = p.actual()
	}
	// Both halves end in engine.Push, inlined by hand (cost 410 of 80). If they shared it,
	// the first half, which most pools take, would cost an eighth of a Get and Put more.
	if p.onPut == setZero {
		clearObject(v)
		x := p.engine.Enter()
		slot := p.engine.Slot(x, magazine.OnlySlot)
		if slot.Give(unsafe.Pointer(v)) {
			x.Exit()
			return
		}
		kept := slot.GiveMore(unsafe.Pointer(v))
		x.Exit()
		if !kept {
			p.pushSlow(v)
		}
		return
	}
	// What many pools need is here, in the order of how many: calls of asked and tryClean
	// for a Keep made a Get and Put of such a pool a fifth longer (BenchmarkPool).
	if p.onPut == callReset {
		p.reset(v)
	} else if p.onPut != askKeep {
		if !p.asked(v) {
			return
		}
	} else if p.keep(v) {
		p.reset(v)
	} else {
		p.refused(v)
		return
	}
	x := p.engine.Enter()
	slot := p.engine.Slot(x, magazine.OnlySlot)
	if slot.Give(unsafe.Pointer(v)) {
		x.Exit()
		return
	}
	kept := slot.GiveMore(unsafe.Pointer(v))
	x.Exit()
	if !kept {
		p.pushSlow(v)
	}
}

// asked does what Put has to do in a pool with more than Keep and Reset to call. It
// reports whether Put is to keep the object.
func (p *Pool[T]) asked(v *T) bool {
	if p.onPut == askStandIn {
		p.actual().Put(v)
		return false
	}
	if p.onPut == askParts && p.putElsewhere(v) {
		return false
	}
	if p.checks != nil && p.putWatched(v) {
		return false
	}
	if p.limited() {
		p.putLimited(v)
		return false
	}
	return p.tryClean(v)
}

// putLimited is Put in a pool with MaxOut. The object counts as out until another
// caller can get it, or until Keep, Reset or Drop has panicked.
func (p *Pool[T]) putLimited(v *T) {
	defer p.out.Release()
	if p.tryClean(v) {
		p.pushSlow(v)
	}
}

// tryClean makes the object ready for its next owner, and reports whether Keep accepts it.
func (p *Pool[T]) tryClean(v *T) bool {
	if p.keep != nil && !p.keep(v) {
		p.refused(v)
		return false
	}
	p.reset(v)
	return true
}

// clearObject sets an object to zero. It does not assign to a large object, because the
// compiler would build the zero value on the stack.
func clearObject[T any](v *T) {
	if unsafe.Sizeof(*v) > 256 {
		clear(unsafe.Slice(v, 1))
		return
	}
	var zero T
	*v = zero
}

// refused lets go of an object that Keep refuses.
func (p *Pool[T]) refused(v *T) {
	p.count.puts.Add(1)
	p.count.droppedByKeep.Add(1)
	p.engine.Gone(0, 1)
	p.seal(v) // with its present contents: Reset has not been called
	p.discard(v)
}

// pushSlow is engine.PushSlow for an object that is ready for its next owner.
func (p *Pool[T]) pushSlow(v *T) {
	r := p.engine.PushSlow(0, unsafe.Pointer(v))
	if r == magazine.NoRoom || r == magazine.AfterClose {
		p.count.puts.Add(1)
	}
	p.settled(v, r)
}

// add is engine.Add: an object that it keeps does not count as a Put.
func (p *Pool[T]) add(v *T) magazine.Result { return p.engine.Add(0, unsafe.Pointer(v)) }

// settled acts on the engine's answer to an object it was given.
func (p *Pool[T]) settled(v *T, r magazine.Result) {
	switch r {
	case magazine.Kept, magazine.KeptDirect:
		p.decay.Kept()
	case magazine.NoRoom:
		p.count.droppedFull.Add(1)
		p.engine.Gone(0, 1)
		if !p.engine.Spill(0, unsafe.Pointer(v)) {
			p.discard(v)
		}
	case magazine.AfterClose:
		p.count.droppedClosed.Add(1)
		p.discard(v)
	}
}

// discard drops an object that the engine does not hold.
func (p *Pool[T]) discard(v *T) {
	var l late.List
	defer l.End()
	p.discardLate(v, &l)
}

// discardLate is discard for a caller that lets go of several objects and then calls l.End.
func (p *Pool[T]) discardLate(v *T, l *late.List) {
	p.checks.lastLook(p.checkedObject(v), l)
	if p.drop != nil {
		p.drop(v)
	}
}

// Prewarm makes count objects, so that the first Gets hit. They do not count as
// misses. If [PoolOptions.MaxIdle] has no room for all of them, Prewarm keeps those that
// fit, drops one, and returns an error that says how many it kept. After [Pool.Close] it
// returns [ErrClosed].
func (p *Pool[T]) Prewarm(count int) error {
	p = p.actual()
	if count < 0 {
		return fmt.Errorf("dewpond: Prewarm(%d) on pool %q: the count is negative", count, p.name)
	}
	if p.parts != nil && p.bubble != p.parts.home && p.bubble != 0 && !p.engine.Closed() {
		return nil // a bubble's part keeps nothing
	}
	for i := range count {
		if p.engine.Closed() {
			return ErrClosed
		}
		v := p.fresh()
		switch p.add(v) {
		case magazine.Kept, magazine.KeptDirect:
			p.engine.Came(0, 1)
			p.decay.Kept()
		case magazine.NoRoom:
			p.discard(v)
			return fmt.Errorf("dewpond: Prewarm(%d) on pool %q: room for %d objects; raise MaxIdle", count, p.name, i)
		case magazine.AfterClose:
			p.discard(v)
			return ErrClosed
		}
	}
	return nil
}

// Trim lets go of every object that was idle when Trim was called and still is, on all
// processors, and returns how many bytes those objects have, counting only the size of
// T. Objects that are put back during Trim, or that leave the quarantine of a checked
// pool, may stay.
//
// Trim stops the world twice, each time for tens of microseconds, and for longer if
// other goroutines stop it too; where nothing is idle it does not. Until that is over every Get finds nothing idle. (A pool
// with MaxOut keeps all its objects in one place, and its Trim does not stop the world.)
func (p *Pool[T]) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	p.engine.LeaveTier()
	return p.checks.trimQuarantine(false, &l) + p.engine.Trim(p.free(&l))*p.size
}

// trimInTurn is Trim as called by decay: see [BytePool.trimInTurn].
func (p *Pool[T]) trimInTurn() bool {
	if p.elsewhere() || p.engine.InUse() {
		return false
	}
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.name, func(release func(uint8, unsafe.Pointer)) { p.engine.Trim(release) }, p.free(&l))
	return true
}

// shed lets go of up to n objects that have been idle for long.
func (p *Pool[T]) shed(class uint8, n int) {
	if p.elsewhere() {
		return
	}
	var l late.List
	defer l.End()
	p.engine.Shed(class, n, p.free(&l))
}

// settle ends the quarantine of what is in it. It is called by decay, for a pool with checks.
func (p *Pool[T]) settle() {
	if !p.elsewhere() { // else what leaves the quarantine is dropped where it must not be
		p.checks.Flush()
	}
}

// Close lets go of every idle object. From then on the pool keeps nothing: Get makes
// new objects, TryGet, GetContext and Prewarm return [ErrClosed], and Put drops. Close
// ends all waits. Objects that are out stay valid. A second Close does nothing.
func (p *Pool[T]) Close() error {
	if p = p.made(); p.parted() {
		return p.parts.Close()
	}
	p.out.MustReach()
	p.decay.Stop()
	var l late.List
	defer l.End()
	defer livePools.Remove(p.entry)
	defer p.out.Close(ErrClosed)     // also if Drop panics
	defer p.engine.Close(p.free(&l)) // also if trimQuarantine panics
	p.checks.trimQuarantine(true, &l)
	return nil
}

// free returns a function that lets go of an object that the engine held. After its
// calls, l.End must be called.
func (p *Pool[T]) free(l *late.List) func(class uint8, v unsafe.Pointer) {
	return func(_ uint8, v unsafe.Pointer) { p.discardLate((*T)(v), l) }
}

// Name returns the pool's name in statistics: the name in its options, followed by a
// number if an older live pool has that name.
func (p *Pool[T]) Name() string { return p.made().name }

// Stats returns the pool's statistics. Bytes are the number of objects times the size of
// T, without what the objects point to. Stats takes microseconds and does not slow down
// other calls.
func (p *Pool[T]) Stats() Stats {
	if p = p.made(); p.parted() {
		return p.parts.Stats()
	}
	quarantined := p.checks.quarantineCounts(1) // before the engine's counts: see check.Watch.InQuarantine
	c := p.engine.Counts()[0]
	recovered := c.Recovered + p.count.recovered.Load()
	trimmed := p.count.trimmed.Load()
	c.Released += trimmed
	s := Stats{
		Name:       p.name,
		Engine:     percpu.Engine(),
		Bubbles:    bubblesShared(),
		Guard:      GuardStats{Setting: "off (" + p.unguarded() + ")"},
		Hits:       c.Hits + recovered,
		Recovered:  recovered,
		Misses:     p.count.misses.Load(),
		Refused:    p.count.refused.Load(),
		OverMaxOut: p.count.overMaxOut.Load(),
		Dropped: DropStats{
			Full:   p.count.droppedFull.Load(),
			ByKeep: p.count.droppedByKeep.Load(),
			Closed: p.count.droppedClosed.Load(),
			Double: p.count.droppedDouble.Load(),
		},
		Trimmed:       c.Released,
		Collections:   p.count.collections.Load(),
		ReleasedBytes: int64(c.Released) * p.size,
	}
	if p.checks != nil {
		c.Idle += quarantined[0]
		s.Violations = p.checks.count.Load()
		s.Sampled = p.checks.sampled()
	}
	s.Waits, s.WaitDuration = p.out.Waits()
	s.OldestIdle = p.decay.Oldest()
	s.OverheadBytes = p.overhead()
	s.Shards = shardStats(&p.engine, func(uint8) int { return int(p.size) })
	s.IdleBytes = int64(c.Idle) * p.size
	s.Gets = s.Hits + s.Misses
	s.Puts = c.Puts + p.count.puts.Load()
	out := max(0, int64(s.Gets-s.Puts))
	s.InUseBytes = out * p.size
	s.Puts += s.Dropped.Double
	s.Classes = []ClassStats{{Size: int(p.size), Gets: s.Gets, Hits: s.Hits, Misses: s.Misses, Puts: s.Puts, Idle: c.Idle, InUse: int(out)}}
	return s
}

// objectCounts has the counts of the slow paths of a Pool.
type objectCounts struct {
	misses, refused, overMaxOut               atomic.Uint64
	puts, recovered                           atomic.Uint64 // those that the engine does not count, each once
	droppedFull, droppedByKeep, droppedClosed atomic.Uint64
	droppedDouble, trimmed                    atomic.Uint64 // in checked mode; trimmed: in quarantine
	collections                               atomic.Uint64
}

// overhead returns the bytes that the pool has in addition to its objects.
func (p *Pool[T]) overhead() int64 { return p.engine.Overhead() + int64(unsafe.Sizeof(*p)) }

func (p *Pool[T]) reportLeaks() int {
	if p = p.made(); p.parted() {
		return p.parts.reportLeaks()
	}
	return p.checks.reportLeaks()
}

// watchIfChosen starts to watch an object that a caller gets, if it is chosen, and returns the
// object. It does all of that itself, because each frame of its stack costs.
func (p *Pool[T]) watchIfChosen(v *T) *T {
	if p.checks == nil {
		return v
	}
	b := p.bytesOf(v)
	p.checks.Unmark(addressOf(b))
	if !p.checks.chosen() {
		return v
	}
	panics := true
	defer func() {
		if panics { // in a report: no caller gets the object
			p.Put(v)
		}
	}()
	p.checks.Get(addressOf(b), b, true)
	panics = false
	return v
}

// putWatched is Put if the object is watched, and reports whether it is.
func (p *Pool[T]) putWatched(v *T) bool {
	switch p.verdict(v) {
	case check.Unknown:
		return false
	case check.Refused:
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
			p.checks.lastLook(p.checkedObject(v), &l)
		}
	}()
	ready := p.tryClean(v)
	panics = false
	if ready {
		p.checks.Retire(p.checkedObject(v))
	}
	return true
}

// verdict is what the checks say of a Put, which counts if they refuse it.
func (p *Pool[T]) verdict(v *T) (verdict check.Verdict) {
	c, b := p.checks, p.bytesOf(v)
	switch {
	case c.All():
		verdict = c.Adopt(addressOf(b), b)
	case check.Watched(addressOf(b)):
		verdict = c.Put(addressOf(b), len(b))
	default:
		return check.Unknown
	}
	if verdict == check.Refused {
		p.count.droppedDouble.Add(1)
	}
	return verdict
}

// seal records the present contents of an object that the checks know to be idle.
func (p *Pool[T]) seal(v *T) {
	if p.checks != nil {
		b := p.bytesOf(v)
		p.checks.Seal(addressOf(b), b)
	}
}

func (p *Pool[T]) ownChecks() []*checks {
	if p.parted() {
		return p.parts.ownChecks()
	}
	return []*checks{p.checks}
}

func (p *Pool[T]) arm() {} // the collector reads objects, so none is guarded

func (p *Pool[T]) appendEngines(all []*magazine.Engine) []*magazine.Engine {
	if p.parted() {
		return p.parts.appendEngines(all)
	}
	return append(all, &p.engine)
}

// parted reports whether parts do the work of the pool.
func (p *Pool[T]) parted() bool { return p.onPut == askStandIn && p.parts != nil }

// made returns the pool that NewPool has made: p itself, or its stand-in if p is the zero Pool.
func (p *Pool[T]) made() *Pool[T] {
	if p.onPut != askStandIn || p.parts != nil {
		return p
	}
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *Pool[T] { return MustPool(PoolOptions[T]{object: objectOptions{lazy: true}}) })
}

// actual returns the pool that does the work: p itself, or the caller's part of it; and if p is
// the zero Pool, its stand-in or a part of that.
func (p *Pool[T]) actual() *Pool[T] {
	if p.onPut != askStandIn {
		return p
	}
	return p.other()
}

//go:noinline
func (p *Pool[T]) other() *Pool[T] {
	if p = p.made(); p.parted() {
		return p.parts.here()
	}
	return p
}

// bytesOf and objectOf convert between an object and the bytes that the checks see. The
// bytes keep the object alive, and what it points to.
func (p *Pool[T]) bytesOf(v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), p.size) }

func objectOf[T any](b []byte) *T { return (*T)(unsafe.Pointer(unsafe.SliceData(b))) }

// checkedObject returns an object in the form that the checks use.
func (p *Pool[T]) checkedObject(v *T) check.Block { return checkedBlock(0, p.bytesOf(v)) }

// A Pool's checks see an object as the bytes of its T. These cannot be poisoned, because
// Reset has made them ready for the next owner. So the checks keep a copy instead, and
// compare it when the object leaves. A Pool cannot know which objects it has handed
// out, so it adopts a foreign object that is put back.

// objectChecks returns the checks of a Pool, or nil if nothing is to be checked. The
// options are valid.
func objectChecks[T any](o PoolOptions[T], size int64) *checks {
	if o.object.unwatched {
		return nil
	}
	c := newChecks(o.Check, o.OnViolation, 1, true)
	if c == nil {
		return nil
	}
	c.objects = o.objectType()
	c.Layout = check.LayoutOf(c.objects)
	c.MayLose = o.object.object != nil // of package dewsync

	if idle, _ := o.idle(); o.MaxOut == 0 { // with MaxOut, calls would miss what is in quarantine
		c.Quarantine.Bytes = int(size * min(quarantineBytes/size, idle/4, check.QuarantineBlocks))
	}
	return c
}

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

// Package dewsync keeps objects of a type that only the running program knows in a
// Pool[hooks.Word]. It makes them itself, and their owners may lose them: that is no leak.
// What it needs of a Pool is here. A program without it links no such pool.

// objectOptions describe objects that are no T. The zero value describes those that are.
type objectOptions struct {
	object    reflect.Type
	unwatched bool // the checks must not look at an object
	lazy      bool // a pool that is made where it is first used, which says nothing of whose it is
}

func (o *PoolOptions[T]) describe(object reflect.Type, watched, used bool) {
	o.object = objectOptions{object: object, unwatched: !watched, lazy: used}
}

// objectType returns the type of the objects.
func (o PoolOptions[T]) objectType() reflect.Type {
	if o.object.object != nil {
		return o.object.object
	}
	return reflect.TypeFor[T]()
}

// size returns the size of an object, in bytes. It is never 0.
func (o PoolOptions[T]) size() int64 { return int64(max(1, o.objectType().Size())) }

// unguarded says why no object is guarded. For a slice of bytes in package dewsync, Get would have to hand out a
// copy on pages of its own, of the same length, cap and bytes. That Put does not look into what it keeps would not
// forbid it: an engine that stays armed until the copy is back sends each Put the slow way, where it can be
// looked at. But the array is the program's, and all that the pool has is the word that leads to it. It may be a
// file's or C's, which a copy is not, and which a finalizer of the *[]byte gives back; the kernel or a map may know
// it by its address; direct I/O may need its alignment; its cap may reach into its neighbours in one array, whose
// bytes the way back would undo. None of that can be asked for. A BytePool makes its blocks, so it may exchange them.
func (p *Pool[T]) unguarded() string {
	if reflect.TypeFor[T]() == reflect.TypeFor[hooks.Word]() {
		return "its memory is the program's own, which is not exchanged"
	}
	return "its objects are not guarded"
}

func setWordHooks() {
	hooks.Describe = func(options any, object reflect.Type, watched, used bool) {
		options.(interface {
			describe(reflect.Type, bool, bool)
		}).describe(object, watched, used)
	}
	hooks.Engine = func(pool any) any {
		p := pool.(livePool)
		if pool.(wordPool).parted() || p.ownChecks()[0] != nil {
			return (*magazine.Engine)(nil)
		}
		return p.appendEngines(nil)[0]
	}
	hooks.Idle = func(pool any) *hooks.Word { return pool.(wordPool).idle() }
	hooks.Fresh = func(pool any, object *hooks.Word) { pool.(wordPool).lendFresh(object) }
	hooks.Count = func(pool any, c hooks.Calls) { pool.(wordPool).countCalls(c) }
	hooks.MayCache = func() func() bool {
		if mode, _ := CheckOff.effective(); mode != CheckOff {
			return nil
		}
		return tierUnless(false)
	}
}

// A wordPool is a Pool[hooks.Word].
type wordPool interface {
	idle() *hooks.Word
	lendFresh(*hooks.Word)
	countCalls(hooks.Calls)
	parted() bool
}

// idle returns an idle object, or nil if it finds none.
func (p *Pool[T]) idle() *T {
	p = p.actual()
	v := (*T)(p.engine.PopSlow(0))
	if v == nil && p.engine.Reclaim(0) {
		v = (*T)(p.engine.PopSlow(0))
	}
	if v != nil {
		p.watchIfChosen(v)
	}
	return v
}

// lendFresh counts an object that its caller has made because there was none idle.
func (p *Pool[T]) lendFresh(v *T) {
	if p = p.actual(); p.bubble != 0 {
		p.parts.born(v, p.bubble)
	}
	p.count.misses.Add(1)
	p.engine.Missed(0, 1)
	p.watchIfChosen(v)
}

// countCalls counts calls that the engine has not seen. The bound does not follow them.
func (p *Pool[T]) countCalls(c hooks.Calls) {
	if p = p.made(); p.parted() { // all that is cached is outside of bubbles
		p = p.parts.outside
	}
	p.count.recovered.Add(c.Recovered)
	p.count.misses.Add(c.Missed)
	p.count.puts.Add(c.Puts)
	p.engine.Wanted(0, int(c.Missed))
}

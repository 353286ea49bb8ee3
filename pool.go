package dewpond

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/semaphore"
)

// A Pool hands out objects of one type and takes them back for their next owner.
// It keeps them across garbage collections, within MaxIdle, until Trim or Close.
// Make one with NewPool. The zero Pool works too, where NewPool would without options:
// from its first use on it has the default ones, and its Get and Put take 2.4 times as
// long as those of one that was made, 1.8 times as long as a zero sync.Pool's
// (BenchmarkZeroValue). A Pool must not be copied.
//
// All methods may be called by any number of goroutines at once. A Put of an
// object synchronizes before the Get that returns it.
//
// The caller of Get owns the object until Put, and nobody afterwards: a pool
// cannot see that an object is still in use, nor that it is put back twice, unless it
// Checks.
type Pool[T any] struct {
	// What Get and Put read of the pool itself comes first, in one cache line.
	onPut  objectStep
	reset  func(*T) // nil: set to zero
	checks *checks
	engine magazine.Engine // of one class; its blocks are *T, each of size 1

	name  string
	entry *registry.Entry // in livePools

	new  func() *T // nil: new(T)
	keep func(*T) bool
	drop func(*T)
	size int64 // of T, in bytes

	decay decay.Decayer

	out   semaphore.Semaphore // where onPut is countOut
	count objectCounts

	standIn standIn[Pool[T]]
}

// An objectStep is what Put does to an object before the engine gets it: the pool's
// options, boiled down to the one comparison that the fast path has time for.
type objectStep uint8

const (
	askStandIn objectStep = iota // this is the zero Pool
	setZero
	callReset
	askKeep   // and then what reset says
	countOut  // there is a Limit; and then what keep and reset say
	askChecks // it may be watched; and then what all the others say
)

// NewPool makes a pool. It panics on options that cannot be meant, and names each.
func NewPool[T any](o PoolOptions[T]) *Pool[T] {
	o, err := o.withDefaults()
	if err != nil {
		panic(err)
	}
	p := &Pool[T]{keep: o.Keep, reset: o.Reset, new: o.New, drop: o.Drop}
	p.size = int64(unsafe.Sizeof(*new(T)))
	p.checks = objectChecks(o, p.size)
	p.out.Init(o.Limit, p.Name)
	switch {
	case p.checks != nil:
		p.onPut = askChecks
	case o.Limit > 0:
		p.onPut = countOut
	case o.Keep != nil:
		p.onPut = askKeep
	case o.Reset != nil:
		p.onPut = callReset
	default:
		p.onPut = setZero
	}
	p.engine.Init(magazine.Config{
		Sizes:        []int{1},
		MaxIdleBytes: int64(o.MaxIdle) - p.checks.quarantined()/p.size,
		// An object is made only where none is idle, so a limited pool makes no more
		// than may be out, but for those that Drop still has in hand.
		Direct: p.limited() || p.checks.everything(),
	})
	var settle func()
	if p.checks != nil {
		p.checks.Keeper = objectKeeper[T]{p}
		settle = p.checks.Flush
	}
	p.decay.Init(o.IdleTimeout, haste, settle, decay.Part{Idle: &p.engine, Classes: 1, Shed: p.shed, Trim: p.trimReserved})
	p.entry = reserve(p, o.Name)
	p.name = p.entry.Name()
	if p.checks != nil {
		p.checks.pool = p.name
	}
	publish(p.entry)
	return p
}

// Get returns an object that was put back, or one from New. It is never refused:
// what it hands out beyond Limit is counted in OverLimit. It panics if New returns
// nil.
//
//go:nosplit
func (p *Pool[T]) Get() *T {
	// This is engine.Pop, opened up: see BytePool.Get. In a limited pool it finds
	// nothing, for all objects are in the depot.
	x := p.engine.Enter()
	if v := p.engine.Slot(x, 1).Take(); v != nil {
		x.Exit()
		if p.checks == nil {
			return (*T)(v)
		}
		return p.watch((*T)(v))
	}
	x.Exit()
	return p.getSlow()
}

func (p *Pool[T]) limited() bool { return p.out.Limit() > 0 }

// getSlow is Get where the shard has no object, or the pool has a Limit.
func (p *Pool[T]) getSlow() *T {
	if p.onPut == askStandIn {
		return p.actual().Get()
	}
	if p.limited() && !p.out.AcquireAnyway() {
		p.count.overLimit.Add(1)
	}
	if v := p.engine.Pop(0); v != nil {
		return p.watch((*T)(v))
	}
	return p.made()
}

// TryGet is Get, but where Limit objects are out it returns ErrExhausted. After
// Close it returns ErrClosed.
func (p *Pool[T]) TryGet() (*T, error) {
	p = p.actual()
	if p.limited() && !p.out.TryAcquire() {
		if p.engine.Closed() {
			return nil, ErrClosed
		}
		p.count.refused.Add(1)
		return nil, ErrExhausted
	}
	return p.acquired()
}

// GetContext is TryGet, but instead of ErrExhausted it waits: until an object is
// put back or ctx is done, whose error it then returns. Those who wait are served
// in the order in which they came. ctx is looked at only before waiting. Close
// ends every wait with ErrClosed.
//
// While a call waits in a testing/synctest bubble the pool is that bubble's alone: who
// would have to wake it from elsewhere, or to wait beside it, panics.
func (p *Pool[T]) GetContext(ctx context.Context) (*T, error) {
	p = p.actual()
	if p.limited() {
		if err := p.out.Acquire(ctx); err != nil {
			if p.engine.Closed() { // also where ctx is done too
				return nil, ErrClosed
			}
			p.count.refused.Add(1)
			return nil, err
		}
	}
	return p.acquired()
}

// acquired returns an object for somebody whom the semaphore counts.
func (p *Pool[T]) acquired() (*T, error) {
	if v := p.engine.Pop(0); v != nil {
		return p.watch((*T)(v)), nil
	}
	if p.engine.Closed() {
		if p.limited() { // Get counts on
			p.out.Release()
		}
		return nil, ErrClosed
	}
	return p.made(), nil
}

// made returns a new object for somebody whom the semaphore counts. Where New
// fails nothing is counted.
func (p *Pool[T]) made() *T {
	v := p.counted()
	return p.watch(v) // which gives the object back if it panics
}

func (p *Pool[T]) counted() (v *T) {
	defer func() {
		if v != nil {
			p.count.misses.Add(1)
		} else if p.limited() {
			p.out.Release()
		}
	}()
	return p.fresh()
}

// fresh calls New.
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

// Put gives an object back, after Keep has been asked and Reset called. The caller
// must not use it any more. Put ignores nil. An object that the pool does not keep
// goes to Drop: one that Keep refuses (DroppedOversize), one that MaxIdle has no
// room for (DroppedFull), and any after Close (DroppedClosed). A pool that Checks
// refuses one that is idle (DroppedDouble), and leaves it as it is.
func (p *Pool[T]) Put(v *T) {
	if v == nil {
		return
	}
	// Both halves end in engine.Push, opened up. To share it costs the first, which
	// most pools take, an eighth of a Get and Put.
	if p.onPut == setZero {
		clearObject(v)
		x := p.engine.Enter()
		slot := p.engine.Slot(x, 1)
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
	if p.onPut == callReset {
		p.reset(v)
	} else if !p.asked(v) {
		return
	}
	x := p.engine.Enter()
	slot := p.engine.Slot(x, 1)
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

// asked is what Put does where there is more than a Reset to call. It reports
// whether the object is still to be kept.
func (p *Pool[T]) asked(v *T) bool {
	if p.onPut == askKeep {
		return p.cleaned(v)
	}
	if p.onPut == askStandIn {
		p.actual().Put(v)
		return false
	}
	if p.checks != nil && p.putWatched(v) {
		return false
	}
	if p.limited() {
		p.putLimited(v)
		return false
	}
	return p.cleaned(v)
}

// putLimited is Put in a pool that has a Limit. The object counts as out until
// another can have it, or until Keep, Reset or Drop has panicked.
func (p *Pool[T]) putLimited(v *T) {
	defer p.out.Release()
	if p.cleaned(v) {
		p.pushSlow(v)
	}
}

// cleaned makes the object ready for its next owner, unless Keep is against it.
func (p *Pool[T]) cleaned(v *T) bool {
	if p.keep != nil && !p.keep(v) {
		p.refused(v)
		return false
	}
	if p.reset != nil {
		p.reset(v)
	} else {
		clearObject(v)
	}
	return true
}

// clearObject sets an object to zero. A large one is not assigned to: the compiler
// would make the zero of as many bytes on the stack.
func clearObject[T any](v *T) {
	if unsafe.Sizeof(*v) > 256 {
		clear(unsafe.Slice(v, 1))
		return
	}
	var zero T
	*v = zero
}

// refused lets go of an object that Keep is against.
func (p *Pool[T]) refused(v *T) {
	p.count.puts.Add(1)
	p.count.droppedOversize.Add(1)
	p.seal(v) // as it is: Reset has not been called
	p.letGo(v)
}

// pushSlow is engine.PushSlow of an object that is ready for its next owner.
func (p *Pool[T]) pushSlow(v *T) {
	r := p.engine.PushSlow(0, unsafe.Pointer(v))
	if r == magazine.Full || r == magazine.Closed {
		p.count.puts.Add(1)
	}
	p.settled(v, r)
}

// add is engine.Add: what it keeps does not count as a Put.
func (p *Pool[T]) add(v *T) magazine.Result { return p.engine.Add(0, unsafe.Pointer(v)) }

// settled is what comes after the engine has kept an object or not.
func (p *Pool[T]) settled(v *T, r magazine.Result) {
	switch r {
	case magazine.Kept, magazine.KeptDirect:
		p.decay.Kept()
	case magazine.Full:
		p.count.droppedFull.Add(1)
		p.letGo(v)
	case magazine.Closed:
		p.count.droppedClosed.Add(1)
		p.letGo(v)
	}
}

// letGo lets go of an object that the engine does not hold.
func (p *Pool[T]) letGo(v *T) {
	var l late.List
	defer l.End()
	p.letGoLate(v, &l)
}

// letGoLate is letGo for whoever has more to let go.
func (p *Pool[T]) letGoLate(v *T, l *late.List) {
	p.checks.unwatch(watchedObject(v), l)
	if p.drop != nil {
		p.drop(v)
	}
}

// Prewarm makes count objects, so that the first Gets hit. They do not count as
// misses. Where MaxIdle leaves no room for all of them it keeps those that fit,
// drops one, and returns an error that says how many; after Close it returns
// ErrClosed.
func (p *Pool[T]) Prewarm(count int) error {
	p = p.actual()
	if count < 0 {
		return fmt.Errorf("dewpond: Prewarm(%d) on pool %q: the count is negative", count, p.name)
	}
	for i := range count {
		if p.engine.Closed() {
			return ErrClosed
		}
		v := p.fresh()
		switch p.add(v) {
		case magazine.Kept, magazine.KeptDirect:
			p.decay.Kept()
		case magazine.Full:
			p.letGo(v)
			return fmt.Errorf("dewpond: Prewarm(%d) on pool %q: room for %d objects; raise MaxIdle", count, p.name, i)
		case magazine.Closed:
			p.letGo(v)
			return ErrClosed
		}
	}
	return nil
}

// Trim lets go of every object that was idle when it was called and still is, those
// that lie with other processors too, and returns their bytes, counting the size of T
// alone. Objects that are put back meanwhile may stay, or that leave the quarantine of
// a pool that is checked. It stops the world twice, each time for tens of microseconds,
// and longer where others stop it too; until that is over every Get finds nothing idle.
// (A limited pool has all its objects in one place and stops nothing.)
func (p *Pool[T]) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	return p.checks.trimQuarantine(false, &l) + p.engine.Trim(p.free(&l))*p.size
}

// trimReserved is Trim as decay does it.
func (p *Pool[T]) trimReserved() {
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.engine.TrimReserved, p.free(&l))
}

// shed lets go of up to n objects that have been idle for long.
func (p *Pool[T]) shed(class uint8, n int) {
	var l late.List
	defer l.End()
	p.engine.Shed(class, n, p.free(&l))
}

// Close lets go of every idle object and makes the pool keep nothing more: Get
// makes new ones, TryGet, GetContext and Prewarm return ErrClosed, Put drops. It
// wakes all who wait. Objects that are out stay valid. A second Close does nothing.
func (p *Pool[T]) Close() error {
	p = p.actual()
	p.out.MustReach()
	p.decay.Stop()
	var l late.List
	defer l.End()
	defer livePools.Remove(p.entry)
	defer p.out.Close(ErrClosed)     // also if Drop panics
	defer p.engine.Close(p.free(&l)) // also if it panics for what is in quarantine
	p.checks.trimQuarantine(true, &l)
	return nil
}

// free returns a function that lets go of an object that the engine held. Whoever makes it
// be called calls l.end afterwards.
func (p *Pool[T]) free(l *late.List) func(class uint8, v unsafe.Pointer) {
	return func(_ uint8, v unsafe.Pointer) { p.letGoLate((*T)(v), l) }
}

// overhead returns the bytes that the pool has beside its objects.
func (p *Pool[T]) overhead() int64 { return p.engine.Overhead() + int64(unsafe.Sizeof(*p)) }

// bytesOf and objectOf turn an object into what the checks see of it and back. The
// bytes keep it alive, and what it points to.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

func objectOf[T any](b []byte) *T { return (*T)(unsafe.Pointer(unsafe.SliceData(b))) }

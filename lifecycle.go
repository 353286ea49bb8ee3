package dewpond

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// NewBytePool makes a pool. If options are invalid it returns one error that names each
// of them.
func NewBytePool(o BytePoolOptions) (*BytePool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := new(BytePool)
	p.init(o, nil, reserve(p, o.Name))
	return p, nil
}

// init makes a BytePool of valid options, whose name is that of the entry. e is what its
// blocks consist of, if the pool is a SlicePool's, and else nil.
func (p *BytePool) init(o BytePoolOptions, e *elements, entry *registry.Entry) {
	p.made = true
	p.classes = sizeclass.New(o.Classes)
	p.zero = o.Zero
	p.source = o.Memory
	p.fallback = new(memory.Fallbacks) // a Source that fails is the only reason for one
	p.elements = e
	p.checks = blockChecks(o, e)
	p.count = newCounts(len(o.Classes))
	p.first.Init(&p.classes)
	p.onPut, p.onGet = p.checks.modes(), p.checks.modes()
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
	if o.Zero == ZeroOnGet || p.onPut&clearBlock != 0 && p.onGet&watchAll != 0 { // there is poison in it
		p.onGet |= clearBlock
	}
	p.engine.Init(magazine.Config{
		Sizes:           o.Classes,
		MaxIdleBytes:    o.MaxIdleBytes - p.checks.quarantined(),
		MaxIdlePerClass: o.MaxIdlePerClass,
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
	p.decay.Init(o.IdleTimeout, haste, settle,
		decay.Part{Idle: &p.engine, Classes: len(o.Classes), Shed: p.gate.Shed, Trim: p.trimReserved},
		decay.Part{
			Idle: &p.handles, Classes: 1,
			Shed: func(class uint8, n int) { p.handles.Shed(class, n, forgetHandle) },
			Trim: func() { decay.InTurn(p.name, p.handles.TrimReserved, forgetHandle) },
		})
	p.entry, p.name = entry, entry.Name()
	p.gate.Init(admission.Config{
		Name: p.name, Owner: (*owner)(p), Engine: &p.engine, Sizes: o.Classes, AllocLimit: o.AllocLimit,
		Budget: o.Budget.admission(), Heap: p.source == nil, Direct: p.checks.everything(),
	})
	if p.checks != nil {
		p.checks.pool = p.name
		p.sampleMask = uint32(p.checks.sampleMask)
	}
	p.gate.Join() // from here on its other pools may look at this one
	publish(p.entry)
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

var defaultPool = sync.OnceValue(func() *BytePool {
	return MustBytePool(BytePoolOptions{Name: "default"})
})

// Default returns the pool that [Get] and [Put] use. It has the default options and the
// name "default". Do not close it: all packages of the program share it.
func Default() *BytePool { return defaultPool() }

// Get calls [BytePool.Get] of the pool [Default]: it returns n zero bytes on a block that
// should be given back with [Put].
func Get(n int) []byte { return defaultPool().Get(n) }

// Put calls [BytePool.Put] of the pool [Default].
func Put(b []byte) { defaultPool().Put(b) }

// Prewarm allocates count blocks for Gets of size bytes, so that the first of
// those Gets hit. The blocks count neither as misses nor against
// [BytePoolOptions.AllocLimit]. If the pool's bounds have no room for all of them,
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
		case magazine.Full:
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: room for %d blocks of %d bytes; raise MaxIdleBytes or MaxIdlePerClass",
				p.elements.count(size), count, p.name, i, p.classes.Size(class))
		case magazine.Closed:
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
// other goroutines stop it too. Until that is over every Get finds nothing idle and
// allocates, which may be thousands of times, and TryGet and GetContext wait if
// AllocLimit does not let them allocate. Concurrent Trims of many pools take longer for
// all of them: trim one pool after another.
func (p *BytePool) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	released = p.checks.trimQuarantine(false, &l) + p.gate.Trim(&l)
	if p.leased.Load() {
		p.handles.Trim(forgetHandle) // after the blocks, to which they may still point
	}
	if p.ledger != nil {
		// If the system refuses, the memory stays in Stats.CommittedBytes, and the next
		// Decommit tries again.
		_, _ = p.ledger.Decommit()
	}
	return released
}

// trimReserved is Trim as called by decay.
func (p *BytePool) trimReserved() {
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.name, p.engine.TrimReserved, p.free(&l))
	p.gate.ServeInReach()
}

// Close lets go of every idle block. From then on the pool keeps nothing: Get allocates,
// TryGet, GetContext and Prewarm return [ErrClosed], and Put drops. Close ends all
// waits. Blocks that are out stay valid. A second Close does nothing.
//
// Off the heap Close also releases the pool's memory and address space. It cannot do
// that while blocks are out, or while a timer is about to let some go. In that case
// Close, and every further Close, returns an error that says how many blocks there are,
// and the Put of the last one releases the memory. Using a block after that faults. Get
// then allocates on the Go heap, and counts [Stats.HeapFallback].
func (p *BytePool) Close() error {
	p = p.actual()
	p.gate.MustReach()
	p.decay.Stop()
	var l late.List
	defer l.End()
	defer livePools.Remove(p.entry)
	defer p.gate.End()
	defer p.handles.Close(forgetHandle)
	p.checks.trimQuarantine(true, &l)
	p.gate.Close(&l)
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

// A livePool is a pool of any type, as this package needs it.
type livePool interface {
	StatsSource
	engines() []*magazine.Engine
	watching() *checks
}

// livePools has all pools that are neither closed nor collected.
var livePools registry.Registry[livePool]

// reserve finds a name for a pool that is being made. publish then adds the pool to Pools.
func reserve[P any, S interface {
	*P
	livePool
}](p S, name string) *registry.Entry {
	w := weak.Make((*P)(p))
	entry := livePools.Reserve(name, func() (livePool, bool) {
		p := w.Value()
		return S(p), p != nil
	})
	runtime.AddCleanup((*P)(p), livePools.Remove, entry)
	return entry
}

func publish(entry *registry.Entry) {
	livePools.Publish(entry)
	awaitCollection()
}

// While there are pools, afterCollection is called after each garbage collection: see
// magazine.ClearStale. It needs neither a permanent goroutine nor a timer, so it also
// works for pools that do not decay.

func (p *BytePool) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine, &p.handles} }

func (p *Pool[T]) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine} }

// awaited reports whether the next collection will call afterCollection.
var awaited atomic.Bool

// awaitCollection has afterCollection called once, after the next collection.
func awaitCollection() {
	if awaited.CompareAndSwap(false, true) {
		atomics.AfterCollection(func() { go afterCollection() }) // go: other cleanups wait for this one
	}
}

// collections counts the calls of afterCollection, for tests.
var collections atomic.Int64

// afterCollection clears what the slots of idle pools still point to.
func afterCollection() {
	awaited.Store(false) // before Live: a pool made later awaits the next collection itself
	var engines []*magazine.Engine
	for _, p := range livePools.Live() {
		engines = append(engines, p.engines()...)
	}
	if engines != nil {
		awaitCollection()
	}
	magazine.ClearStale(engines)
	collections.Add(1)
}

// A standIn does the work of a zero pool. It is a pool with default options, which the
// first use of the zero pool makes. Every method calls the stand-in from its first line
// or, if that would slow down pools made by a constructor, from its slow path: the fast
// path finds nothing in a zero engine.
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

// actual returns the pool that does the work: p itself, or its stand-in if p is the zero
// BytePool. It is inlined: it costs a pool made by a constructor one comparison.
func (p *BytePool) actual() *BytePool {
	if p.made {
		return p
	}
	return p.other()
}

//go:noinline
func (p *BytePool) other() *BytePool {
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *BytePool { return MustBytePool(BytePoolOptions{}) })
}

// actual returns the pool that does the work: p itself, or its stand-in if p is the zero
// Pool.
func (p *Pool[T]) actual() *Pool[T] {
	if p.onPut != askStandIn {
		return p
	}
	return p.other()
}

//go:noinline
func (p *Pool[T]) other() *Pool[T] {
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *Pool[T] { return MustPool(PoolOptions[T]{}) })
}

package dewpond

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// NewBytePool makes a pool, or returns one error that names every option that
// cannot be meant.
func NewBytePool(o BytePoolOptions) (*BytePool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &BytePool{
		made:    true,
		classes: sizeclass.New(o.Classes),
		zero:    o.Zero,
		source:  o.Memory,
		// A Source that fails is the only reason for a fallback.
		fallback: new(memory.Fallbacks),
		checks:   blockChecks(o),
		count:    newCounts(len(o.Classes)),
	}
	p.onPut, p.onGet = p.checks.steps(), p.checks.steps()
	if o.Memory != nil {
		p.onPut |= askSource
	}
	if p.ledger, _ = o.Memory.(memory.Ledger); p.ledger != nil {
		p.onGet |= askSource
		p.blocks = p.ledger.Blocks()
	}
	if o.Budget != nil {
		p.onPut |= askBudget
	}
	if o.Zero == ZeroOnPut {
		p.onPut |= clearBlock
	}
	if o.Zero == ZeroOnGet || o.Zero == ZeroOnPut && p.onGet&watchAll != 0 { // there is poison in it
		p.onGet |= clearBlock
	}
	p.engine.Init(magazine.Config{
		Sizes:           o.Classes,
		MaxIdleBytes:    o.MaxIdleBytes - p.checks.quarantined(),
		MaxIdlePerClass: o.MaxIdlePerClass,
	})
	if p.checks.everything() {
		p.engine.Gather() // for good
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
			Trim: func() { decay.InTurn(p.handles.TrimReserved, forgetHandle) },
		})
	p.entry = reserve(p, o.Name)
	p.name = p.entry.Name()
	p.gate.Init(admission.Config{
		Name: p.name, Owner: (*owner)(p), Engine: &p.engine, Sizes: o.Classes, AllocLimit: o.AllocLimit,
		Budget: o.Budget.admission(), Heap: p.source == nil, Gathered: p.checks.everything(),
	})
	if p.checks != nil {
		p.checks.pool = p.name
		p.others = uint32(p.checks.others)
	}
	p.gate.Join() // from here on its other pools may look at this one
	publish(p.entry)
	return p, nil
}

// MustBytePool is NewBytePool for variables and mains: it panics on an error.
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

// Default returns the pool that Get and Put of this package use. It has the
// default options and is called "default". Do not close it: it is everybody's.
func Default() *BytePool { return defaultPool() }

// Get is Default().Get: n bytes, zeroed, on a block that should go back by Put.
func Get(n int) []byte { return defaultPool().Get(n) }

// Put is Default().Put.
func Put(b []byte) { defaultPool().Put(b) }

// Prewarm allocates count blocks for Gets of size bytes, so that the first of
// them hit. They count neither as misses nor against AllocLimit. Where the
// pool's bounds leave no room for all of them it keeps those that fit and returns
// an error that says how many; after Close it returns ErrClosed.
func (p *BytePool) Prewarm(size, count int) error {
	p = p.actual()
	class, ok := p.classFor("Prewarm", size)
	switch {
	case !ok:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the largest class is %d bytes; give Classes a larger one",
			size, count, p.name, p.classes.Largest())
	case count < 0:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the count is negative", size, count, p.name)
	}
	if p.engine.Closed() { // also where there is nothing to do
		return ErrClosed
	}
	for i := range count {
		if p.engine.Closed() { // whatever the Budget says
			return ErrClosed
		}
		if !p.gate.Charge(class) {
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: its Budget of %d bytes has room for %d blocks of %d bytes",
				size, count, p.name, p.gate.Budget().Limit(), i, p.classes.Size(class))
		}
		b, err := p.fresh(class, p.gate.Uncharge)
		if err != nil {
			return err
		}
		switch p.gate.Add(class, blockOf(b)) {
		case magazine.Full:
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: room for %d blocks of %d bytes; raise MaxIdleBytes or MaxIdlePerClass",
				size, count, p.name, i, p.classes.Size(class))
		case magazine.Closed:
			return ErrClosed
		}
	}
	return nil
}

// Trim lets go of every block that was idle when it was called and still is, those
// that lie with other processors too, and returns their bytes. Blocks that are put
// back meanwhile may stay, or that leave the quarantine of a pool that is checked. Off
// the heap it then gives memory that is in no block to the system. It stops the world
// twice, each time for tens of microseconds, and longer where others stop it too. Until
// that is over every Get finds nothing idle and allocates, which may be thousands of
// times, and TryGet and GetContext wait where AllocLimit does not let them do that. Trims
// of many pools at once draw this out for all of them: call one after another.
func (p *BytePool) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	released = p.checks.trimQuarantine(false, &l) + p.gate.Trim(&l)
	if p.leased.Load() {
		p.handles.Trim(forgetHandle) // after the blocks, to which they may still point
	}
	if p.ledger != nil {
		// What the system refuses stays in Stats.CommittedBytes, and is asked again.
		_, _ = p.ledger.Decommit()
	}
	return released
}

// trimReserved is Trim as decay does it.
func (p *BytePool) trimReserved() {
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.engine.TrimReserved, p.free(&l))
	p.gate.ServeInReach()
}

// Close lets go of every idle block and makes the pool keep nothing more: Get
// allocates, TryGet, GetContext and Prewarm return ErrClosed, Put drops. It wakes
// all who wait. Blocks that are out stay valid. A second Close does nothing.
//
// Off the heap Close also gives up the pool's memory and address space. While blocks
// are out, or a timer is about to let some go, it cannot: then it returns an error that says how many, as does every
// further Close, and the Put of the last one gives them up. Whoever uses a block after
// that faults. Get then takes from the Go heap, and counts HeapFallback.
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
		p.checks.Leaks(0, time.Time{}, &l) // nobody else will find these
		if !p.checks.All() {
			p.checks.End() // nor forget them
		}
	}
	if p.ledger != nil {
		if err := p.ledger.Close(); err != nil {
			return fmt.Errorf("dewpond: Close of pool %q: %w", p.name, err)
		}
	}
	return nil
}

// settle is what decay calls after it has let blocks go, and after others have.
func (p *BytePool) settle() {
	if p.checks != nil {
		p.checks.Flush()
		p.reportOld()
	}
	if p.ledger != nil {
		_, _ = p.ledger.Decommit() // as Trim does
	}
}

// A standIn is what does the work of a zero pool: a pool with default options, which
// the first use makes. Every method goes there from its first line or, where that would
// cost the pools that a constructor has made something, from its slow path: for the
// fast ones find nothing in an engine that is zero.
//
// Nothing of the zero pool is ever written but the pointer here. So there is no moment
// at which somebody could see half of it, or skip what Put clears, on any machine:
// whoever loads the pointer sees all that was stored before it was, and whoever does not
// yet sees zeros, which lead to the lock.
type standIn[P any] struct {
	pool atomic.Pointer[P]

	// mu is held while the pool is made. A second one that loses a race would show in
	// Pools, and take the name.
	mu sync.Mutex
}

// make returns the pool, which it makes where nobody has. Where newPool panics, every use
// does.
func (s *standIn[P]) make(newPool func() *P) *P {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool.Load() == nil {
		s.pool.Store(newPool())
	}
	return s.pool.Load()
}

// actual returns the pool that does the work: p itself, unless it is the zero BytePool.
// It is inlined: a pool that a constructor has made pays for one comparison.
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

// actual returns the pool that does the work: p itself, unless it is the zero Pool.
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
	return p.standIn.make(func() *Pool[T] { return NewPool(PoolOptions[T]{}) })
}

package dewpond

import (
	"sync"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/decay"
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

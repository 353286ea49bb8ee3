//go:build dewpond_explore

package main

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// This file runs internal/admission, as it ships, through a world's gate. It plays the
// pool that owns the gate, and the callers, and records which of them has which block.

// limits makes a gate with a Budget of so many bytes and an AllocLimit; 0 means none.
// The clock stands still, so an AllocLimit allows its number of misses only once.
func (w *world) limits(bytes, perSecond int) {
	c := admission.Config{Name: "explored", Owner: w, Engine: &w.engine, Sizes: w.scenario.config.Sizes, AllocLimit: perSecond}
	if bytes > 0 {
		w.budget = new(admission.Budget)
		w.budget.Init(int64(bytes))
		c.Budget = w.budget
	}
	w.allowed, w.charged, w.misses = perSecond, 0, 0
	w.gate = new(admission.Gate)
	w.gate.Init(c)
	w.gate.Join()
}

// elsewhere makes another pool of the Budget, which keeps nothing.
func elsewhere(w *world) {
	engine := new(magazine.Engine)
	engine.Init(magazine.Config{Sizes: w.scenario.config.Sizes})
	engine.EnterDirect()
	w.other = new(admission.Gate)
	w.other.Init(admission.Config{Name: "explored", Owner: w, Engine: engine, Sizes: w.scenario.config.Sizes, Budget: w.budget})
	w.other.Join()
}

// charge charges n blocks of a class that exist somewhere.
func (w *world) charge(class uint8, n int) {
	for range n {
		w.gate.Charge(class)
		w.charged += w.scenario.config.Sizes[class]
	}
}

// Free, Loosened and Kept make the world the Owner of its gate.
func (w *world) Free(class uint8, p magazine.Block, _ *late.List) {
	b := (*block)(p)
	if !b.inside || b.class != class {
		w.run.fail("block %d was let go while it had another owner", b.id)
	}
	b.inside, b.kept = false, false
	w.charged -= w.scenario.config.Sizes[class]
	if a := w.acts[w.run.current]; a != nil {
		a.freed = append(a.freed, b)
	}
}

func (w *world) Loosened() {}
func (w *world) Kept()     {}

// An act is one call of the gate by a thread.
type act struct {
	*operation
	freed []*block // the blocks that the call has released
}

// does makes one call of the gate. own is a block that the thread brings with it, or
// nil.
func (w *world) does(own *block, call func(o *operation)) *operation {
	a := &act{operation: w.call()}
	w.acts[w.run.current] = a
	w.taking += many
	call(a.operation)
	w.taking -= many
	delete(w.acts, w.run.current)
	w.returned(a.operation)
	w.observe()
	for _, b := range a.freed {
		if b != own {
			w.history.add(&operation{called: a.called, returned: a.returned}, popped, b)
		} else {
			w.history.drop(a.operation) // as if the block had not been put
		}
	}
	return a.operation
}

// put is BytePool.Put of a block that its caller has.
func (w *world) put(b *block) {
	w.does(b, func(o *operation) {
		w.history.add(o, pushed, b) // before another thread can get it
		b.inside, b.kept = true, false
		w.puts[b.class]++
		w.gate.Put(b.class, unsafe.Pointer(b))
	})
	b.kept = b.inside
	w.checkBounds()
}

// tryGet is BytePool.TryGet when nothing may be allocated.
func (w *world) tryGet(class uint8) *block {
	var p magazine.Block
	var err error
	o := w.does(nil, func(*operation) { p, err = w.gate.Idle(class) })
	if err == admission.ErrExhausted {
		o.class = class
		w.history.add(o, none, nil)
	}
	return w.popped(o, class, (*block)(p))
}

// tryToAllocate is TryGet when the shard has no block. It reports whether the caller
// may allocate.
func (w *world) tryToAllocate(class uint8) bool {
	var p magazine.Block
	var err error
	o := w.does(nil, func(*operation) { p, err = w.gate.TryGet(class) })
	if p == nil && err == nil {
		w.allocates(class, 0)
		return true
	}
	w.popped(o, class, (*block)(p))
	return false
}

// tryBytes is TryGet of a size above all classes.
func (w *world) tryBytes(n int) {
	ok := false
	w.does(nil, func(*operation) { ok = w.gate.TryBytes(n) })
	if ok {
		w.charged += n
	}
}

// allocates records a permission to allocate a block of a class, or so many bytes if
// large is not 0.
func (w *world) allocates(class uint8, large int) {
	if large > 0 {
		w.charged += large
		return
	}
	w.charged += w.scenario.config.Sizes[class]
	if w.allowed > 0 {
		w.misses++
	}
}

// fails returns a permission to allocate, as a caller does whose allocation failed.
func (w *world) fails(class uint8) {
	w.charged -= w.scenario.config.Sizes[class]
	if w.allowed > 0 {
		w.misses--
	}
	w.does(nil, func(*operation) { w.gate.Return(class) })
}

// close is BytePool.Close.
func (w *world) close() {
	o := w.does(nil, func(*operation) { w.gate.Close(new(late.List)) })
	w.history.add(o, shut, nil)
	w.does(nil, func(*operation) { w.gate.End() })
}

// letsGo is BytePool.Trim, and decays is what decay does.
func (w *world) letsGo() {
	o := w.does(nil, func(*operation) { w.gate.Trim(new(late.List)) })
	w.history.add(o, trimmed, nil)
}

func (w *world) decays(n int) { w.does(nil, func(*operation) { w.gate.Shed(0, n) }) }

// A wait is one call of GetContext.
type wait struct {
	admission.Waiter
	elsewhere bool // it waits for the other pool
	class     uint8
	large     int // bytes; 0: a block of the class
	state     waitState
	seen      bool      // its grant is recorded
	pop       operation // the operation in which it gets its block
}

type waitState uint8

const (
	sleeping waitState = iota
	served
	refused // the pool is closed
	cancelled
)

// wait is GetContext after TryGet was refused, up to where it sleeps.
func (w *world) wait(gate *admission.Gate, class uint8, large int) *wait {
	s := &wait{Waiter: gate.NewWaiter(class, large), elsewhere: gate == w.other, class: class, large: large}
	w.waits = append(w.waits, s)
	s.pop.returned = math.MaxInt
	var err error
	o := w.does(nil, func(o *operation) {
		s.pop.called = o.called
		err = s.Begin()
	})
	if err != nil {
		s.state = refused
	}
	if s.state == served {
		s.pop.returned = o.returned
	}
	return s
}

// cancel is what GetContext does when its context is done while it sleeps.
func (w *world) cancel(s *wait) {
	if s.state != sleeping {
		return
	}
	w.does(nil, func(*operation) {
		p, err := s.Cancel(context.Canceled)
		switch {
		case err != context.Canceled:
			if !s.seen { // Cancel has taken the grant
				s.seen = true
				w.granted(s, p, err)
			}
		case s.seen:
			w.run.fail("a waiter was cancelled and served")
		default:
			s.state = cancelled
		}
	})
}

// observe records what was granted meanwhile, without accesses that the explorer sees.
func (w *world) observe() {
	for _, s := range w.waits {
		if p, err, ended := s.Granted(); ended && !s.seen {
			s.seen = true
			w.granted(s, p, err)
		}
	}
}

func (w *world) granted(s *wait, p magazine.Block, err error) {
	switch {
	case s.state != sleeping:
		w.run.fail("a waiter was granted something that does not wait any more")
	case err != nil:
		s.state = refused
	default:
		s.state = served
		if p == nil {
			w.allocates(s.class, s.large)
		}
		w.popped(&s.pop, s.class, (*block)(p))
	}
}

// checkGate checks that no waiter sleeps that could be served, or that no other thread
// would serve; that none is served before an older one; and that the charge is right.
func (w *world) checkGate(idle map[uint8]int) {
	w.observe()
	claims := false // the first waiter for bytes was seen
	misses := w.misses
	for i, s := range w.waits {
		if s.state != sleeping {
			continue
		}
		if w.allowed > 0 && s.large == 0 && !s.InLine() {
			misses++ // it waits for bytes, and has a miss already
		}
		switch {
		case s.large == 0 && idle[s.class] > 0:
			w.run.fail("a waiter sleeps while %d blocks of its class are idle", idle[s.class])
		case w.engine.Closed() && !s.elsewhere:
			w.run.fail("a waiter sleeps while the pool is closed")
		case !w.engine.IsDirect() && !w.engine.Closed():
			w.run.fail("a waiter sleeps while the engine uses its shards")
		case s.InLine():
			if w.gate.Misses() < w.allowed {
				w.run.fail("a waiter sleeps while AllocLimit allows a miss")
			}
		case !claims:
			claims = true
			w.checkClaim(s, idle)
		}
		if w.scenario.inOrder && slices.ContainsFunc(w.waits[i:], func(s *wait) bool { return s.state == served }) {
			w.run.fail("a waiter sleeps while one that came later was served")
		}
	}
	if w.budget != nil && (w.budget.Used() != int64(w.charged) || w.budget.Used() > w.budget.Limit()) {
		w.run.fail("%d bytes are charged of %d; there are %d", w.budget.Used(), w.budget.Limit(), w.charged)
	}
	if w.gate.Misses() != misses {
		w.run.fail("AllocLimit counts %d misses; there were %d", w.gate.Misses(), misses)
	}
}

// checkClaim checks the first waiter for bytes.
func (w *world) checkClaim(s *wait, idle map[uint8]int) {
	sizes := w.scenario.config.Sizes
	size, freed := s.large, 0
	if size == 0 {
		size = sizes[s.class]
	}
	for class, n := range idle {
		freed += n * sizes[class]
	}
	if left := int(w.budget.Limit() - w.budget.Used()); size <= left+freed {
		w.run.fail("a waiter sleeps for %d bytes while %d are left and %d could be let go", size, left, freed)
	}
}

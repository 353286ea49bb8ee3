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

// limits makes a gate with a Budget of so many bytes and an AllocRate; 0 means none.
// The clock stands still, so an AllocRate allows its number of misses only once.
func (w *world) limits(bytes, perSecond int) {
	c := admission.Config{Name: "explored", Owner: w, Engine: &w.engine, Sizes: w.scenario.config.Sizes, AllocRate: perSecond}
	if bytes > 0 {
		w.budget = new(admission.Budget)
		w.budget.Init("", int64(bytes))
		c.Budget = w.budget
	}
	w.allowed, w.charged, w.misses = perSecond, 0, 0
	w.gate = new(admission.Gate)
	w.gate.Init(c)
	w.gate.Join()
}

// elsewhere makes another pool of the Budget, which keeps nothing. missedElsewhere makes one
// with an AllocRate of one miss, which has allocated a block.
func elsewhere(w *world) { w.makeOther(0) }

func missedElsewhere(w *world) {
	w.makeOther(1)
	w.other.TryGet(0)
	w.charged += w.scenario.config.Sizes[0]
}

func (w *world) makeOther(perSecond int) {
	engine := new(magazine.Engine)
	engine.Init(magazine.Config{Sizes: w.scenario.config.Sizes})
	engine.EnterDirect()
	w.other = new(admission.Gate)
	w.other.Init(admission.Config{Name: "explored", Owner: w, Engine: engine, Sizes: w.scenario.config.Sizes, AllocRate: perSecond, Budget: w.budget})
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
	var permit bool
	o := w.does(nil, func(*operation) { p, permit, _ = w.gate.TryGet(class) })
	if permit {
		w.allocates(w.gate, class, 1, 0)
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

// getBatch is GetBatch of n blocks of a class, up to where it sleeps.
func (w *world) getBatch(class uint8, n int) {
	found := w.find(class, n)
	missing := n - len(found)
	allowed := missing == 0
	if !allowed {
		w.does(nil, func(*operation) { allowed = w.gate.Allow(class, missing) })
	}
	if allowed {
		w.allocates(w.gate, class, missing, 0)
		return
	}
	w.bring(class, n, found)
}

// find is the part of getBatch that takes up to n idle blocks.
func (w *world) find(class uint8, n int) (found []magazine.Block) {
	for len(found) < n {
		b := w.pop(class)
		if b == nil {
			break
		}
		found = append(found, magazine.Block(b))
	}
	return found
}

// bring is the part of getBatch that waits. The gate has what was found from then on, and no caller.
func (w *world) bring(class uint8, n int, found []magazine.Block) {
	for _, b := range found {
		(*block)(b).inside = true
		w.hits[class]--
	}
	w.waitFor(w.gate, class, n, 0, found)
}

// allocates records a permission to allocate n blocks of a class, or so many bytes if
// large is not 0. Misses of the other pool are not counted.
func (w *world) allocates(gate *admission.Gate, class uint8, n, large int) {
	if large > 0 {
		w.charged += large
		return
	}
	w.charged += n * w.scenario.config.Sizes[class]
	if w.allowed > 0 && gate == w.gate {
		w.misses += n
	}
}

// fails returns a permission to allocate, as a caller does whose allocation failed.
func (w *world) fails(class uint8) {
	w.charged -= w.scenario.config.Sizes[class]
	if w.allowed > 0 {
		w.misses--
	}
	w.does(nil, func(*operation) { w.gate.Return(class, 1) })
}

// gaveBack gives back the bytes of n blocks of a class, such as those of slices above the
// largest class.
func (w *world) gaveBack(n int) {
	bytes := n * w.scenario.config.Sizes[0]
	w.charged -= bytes
	w.does(nil, func(*operation) { w.gate.UnchargeBytes(bytes) })
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

// A wait is one call of GetContext or GetBatch.
type wait struct {
	admission.DrivenWaiter
	gate      *admission.Gate
	elsewhere bool // it waits for the other pool
	class     uint8
	n         int // blocks of the class
	large     int // bytes; 0: blocks
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
	return w.waitFor(gate, class, 1, large, nil)
}

// waitFor is wait for n blocks, by a caller that has found some. What a waiter has been
// given belongs to the pool until the waiter is served.
func (w *world) waitFor(gate *admission.Gate, class uint8, n, large int, found []magazine.Block) *wait {
	s := &wait{DrivenWaiter: gate.Drive(class, n, large, found), gate: gate, elsewhere: gate == w.other, class: class, n: n, large: large}
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
		err := s.Cancel(context.Canceled)
		switch {
		case err != context.Canceled:
			if !s.seen { // Cancel has taken the grant
				s.seen = true
				w.granted(s, err)
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
		if err, ended := s.Granted(); ended && !s.seen {
			s.seen = true
			w.granted(s, err)
		}
	}
}

func (w *world) granted(s *wait, err error) {
	given := s.Blocks()
	switch {
	case s.state != sleeping:
		w.run.fail("a waiter was granted something that does not wait any more")
	case err != nil && len(given) > 0:
		w.run.fail("a waiter was refused and has %d blocks", len(given))
	case err != nil:
		s.state = refused
	default:
		s.state = served
		w.allocates(s.gate, s.class, s.n-len(given), s.large)
		for _, p := range given {
			w.popped(&s.pop, s.class, (*block)(p))
		}
	}
}

// holds returns the blocks of a class that sleeping waiters of the pool have been given.
func (w *world) holds(class uint8) (all []*block) {
	for _, s := range w.waits {
		if s.state == sleeping && s.class == class && !s.elsewhere {
			for _, p := range s.Blocks() {
				all = append(all, (*block)(p))
			}
		}
	}
	return all
}

// checkGate checks that no waiter sleeps that could be served, or that no other thread
// would serve; that none is served before an older one; and that the charge is right.
func (w *world) checkGate(idle map[uint8]int) {
	w.observe()
	var claim *wait // the first waiter for bytes
	misses := w.misses
	for i, s := range w.waits {
		if s.state != sleeping {
			continue
		}
		inLine, late := s.InLine()
		if w.allowed > 0 && s.large == 0 && !s.elsewhere && !inLine {
			misses += s.Misses() // it waits for bytes
			if lacks := s.n - len(s.Blocks()); s.Misses() < lacks && w.budget != nil {
				w.run.fail("a waiter for bytes of %d blocks was allowed %d misses", lacks, s.Misses())
			}
		}
		switch {
		case s.large == 0 && idle[s.class] > 0:
			w.run.fail("a waiter sleeps while %d blocks of its class are idle", idle[s.class])
		case len(s.Blocks()) > 0 && !s.First():
			w.run.fail("a waiter has a block of a class for which an older one waits")
		case s.large == 0 && w.budget == nil && !inLine:
			w.run.fail("a waiter sleeps for more than AllocRate ever allows")
		case w.engine.Closed() && !s.elsewhere:
			w.run.fail("a waiter sleeps while the pool is closed")
		case !w.engine.IsDirect() && !w.engine.Closed():
			w.run.fail("a waiter sleeps while the engine uses its shards")
		case late:
			w.run.fail("a waiter sleeps while AllocRate allows its misses")
		case inLine:
		case claim == nil || s.Turn() < claim.Turn():
			claim = s
		}
		if w.scenario.inOrder && slices.ContainsFunc(w.waits[i:], func(s *wait) bool { return s.state == served }) {
			w.run.fail("a waiter sleeps while one that came later was served")
		}
	}
	if claim != nil {
		w.checkClaim(claim, idle)
	}
	if w.budget != nil && (w.budget.Used() != int64(w.charged) || w.budget.Used() > w.budget.Limit()) {
		w.run.fail("%d bytes are charged of %d; there are %d", w.budget.Used(), w.budget.Limit(), w.charged)
	}
	// Misses that come back when time has allowed as many again are not saved up: then it counts more.
	if counted := w.gate.Misses(); counted != misses && (w.scenario.late == nil || counted < misses) {
		w.run.fail("AllocRate counts %d misses; there were %d", counted, misses)
	}
}

// checkClaim checks the first waiter for bytes. What is idle and what younger waiters have been
// given could be let go for it.
func (w *world) checkClaim(s *wait, idle map[uint8]int) {
	sizes := w.scenario.config.Sizes
	size, freed := s.large, 0
	if size == 0 {
		size = sizes[s.class] * (s.n - len(s.Blocks()))
	}
	for class, n := range idle {
		freed += n * sizes[class]
	}
	for _, younger := range w.waits {
		if younger.state == sleeping && younger.Turn() > s.Turn() {
			freed += sizes[younger.class] * len(younger.Blocks())
		}
	}
	if left := int(w.budget.Limit() - w.budget.Used()); size <= left+freed {
		w.run.fail("a waiter sleeps for %d bytes while %d are left and %d could be let go", size, left, freed)
	}
}

// checkNobodyWaitsForEver lets all callers give back what they have, and time pass, until
// nothing changes any more. Then no waiter may sleep.
func (w *world) checkNobodyWaitsForEver() {
	for left := len(w.waits) + 1; left > 0; left-- { // each round serves one, at least
		for _, gate := range []*admission.Gate{w.gate, w.other} {
			if gate == nil {
				continue
			}
			held := 0
			for class, size := range w.scenario.config.Sizes {
				if gate == w.gate {
					held += size * len(w.holds(uint8(class)))
				}
			}
			gate.UnchargeBytes(int(gate.Charged()) - held)
			gate.MissesPass()
		}
		w.observe()
	}
	for _, s := range w.waits {
		if s.state == sleeping {
			w.run.fail("a waiter for %d blocks of class %d, or %d bytes, would sleep forever: it has %d", s.n, s.class, s.large, len(s.Blocks()))
		}
	}
}

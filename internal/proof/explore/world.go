//go:build dewpond_explore

package main

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/percpu"
)

// A block of the explorer is its own account of where it is.
type block struct {
	id       int
	class    uint8
	inside   bool // the engine has it, for all that its users know
	kept     bool // and has said so
	pops     int
	released bool
}

// A world is one engine, its users' blocks, and what must be true of both. Its
// methods are what the threads of a scenario do; each keeps account and fails the
// run when the engine breaks a promise.
type world struct {
	scenario scenario
	run      *run
	engine   magazine.Engine
	pins     []pin
	procs    int // GOMAXPROCS
	blocks   []*block
	popping  int // Pops under way, each of which may have a block already
	puts     map[uint8]uint64
	hits     map[uint8]uint64
	waiting  []*waiter
}

// A pin is a P, with a section running on it or not.
type pin struct{ in bool }

func newWorld(s scenario) *world {
	w := &world{scenario: s, run: &run{}, pins: make([]pin, s.procs), procs: s.procs, puts: map[uint8]uint64{}, hits: map[uint8]uint64{}}
	w.hooks()
	if s.born > 0 {
		w.procs = s.born
	}
	w.engine.Init(s.config)
	w.procs = s.procs
	if s.setup != nil {
		s.setup(w)
	}
	var bodies []func()
	for _, body := range s.threads {
		bodies = append(bodies, func() { body(w) })
	}
	w.run.start(bodies)
	return w
}

// hooks makes this world the one that the engine runs in.
func (w *world) hooks() {
	r := w.run
	magazine.Explore.Access = func(object unsafe.Pointer, write bool) { r.announce(access{object: object, write: write}) }
	magazine.Explore.Touch = func(object unsafe.Pointer) {
		if object != w.engine.None() {
			r.announce(access{object: object, write: true, plain: true})
		}
	}
	magazine.Explore.Wait = func(object unsafe.Pointer, ready func() bool) {
		r.announce(access{object: object, write: true, ready: ready})
	}
	magazine.Explore.Spin = r.spin
	percpu.Explore.Procs = func() int { return w.procs }
	percpu.Explore.Pin = func() int {
		id := w.here()
		p := &w.pins[id]
		magazine.Explore.Wait(unsafe.Pointer(p), func() bool { return !p.in })
		p.in = true
		return id
	}
	percpu.Explore.Unpin = func() {
		p := &w.pins[w.here()]
		magazine.Explore.Access(unsafe.Pointer(p), true)
		p.in = false
	}
	percpu.Explore.Grace = func() {
		for i := range w.pins {
			p := &w.pins[i]
			magazine.Explore.Wait(unsafe.Pointer(p), func() bool { return !p.in })
		}
	}
}

// here returns the P of the running thread: its number, unless the scenario has
// all share one.
func (w *world) here() int {
	for i, t := range w.run.threads {
		if t == w.run.current && !w.scenario.sharedP {
			return i
		}
	}
	return 0
}

// fresh makes a block that nobody has seen.
func (w *world) fresh(class uint8) *block {
	b := &block{id: len(w.blocks), class: class}
	w.blocks = append(w.blocks, b)
	return b
}

// pop returns an idle block, or nil.
func (w *world) pop(class uint8) *block {
	w.popping++
	p := w.engine.Pop(class)
	w.popping--
	return w.popped(class, (*block)(p))
}

func (w *world) popped(class uint8, b *block) *block {
	if b == nil {
		return nil
	}
	switch {
	case !b.inside:
		w.run.fail("block %d has two owners", b.id)
	case b.class != class:
		w.run.fail("block %d of class %d was popped from class %d", b.id, b.class, class)
	}
	b.inside, b.kept = false, false
	b.pops++
	w.hits[class]++
	return b
}

// push gives a block to the engine and returns what became of it.
func (w *world) push(b *block) magazine.Result {
	b.inside = true
	return w.pushed(b, w.engine.Push(b.class, unsafe.Pointer(b)))
}

func (w *world) pushed(b *block, r magazine.Result) magazine.Result {
	switch r {
	case magazine.Kept, magazine.KeptDirect:
		w.puts[b.class]++
		b.kept = b.inside // unless it was popped before Push came back
	default:
		b.inside = false
	}
	return r
}

// add gives a fresh block to the engine.
func (w *world) add(class uint8) magazine.Result {
	b := w.fresh(class)
	b.inside = true
	r := w.engine.Add(class, unsafe.Pointer(b))
	b.kept = b.inside
	if r != magazine.Kept && r != magazine.KeptDirect {
		b.inside, b.kept = false, false
	}
	return r
}

// release is what Trim and Close call for each block.
func (w *world) release(class uint8, p unsafe.Pointer) {
	b := (*block)(p)
	if !b.inside || b.class != class {
		w.run.fail("block %d was released while it had another owner", b.id)
	}
	b.inside, b.kept, b.released = false, false, true
}

// popExact checks the promise of PopExact: when it returns nil, no block was idle
// for as long as it ran. Blocks that a Pop may have in hand do not count.
func (w *world) popExact(class uint8) *block {
	idle := map[*block]int{}
	for _, b := range w.blocks {
		if b.kept && b.class == class {
			idle[b] = b.pops
		}
	}
	w.popping++
	p, exact := w.engine.PopExact(class)
	w.popping--
	if p != nil {
		return w.popped(class, (*block)(p))
	}
	if exact {
		still := -w.popping
		for b, pops := range idle {
			if b.kept && b.pops == pops {
				still++
			}
		}
		if still > 0 {
			w.run.fail("PopExact found nothing while %d blocks were idle throughout", still)
		}
	}
	return nil
}

// check is what must be true when all threads have ended.
func (w *world) check() {
	idle := map[uint8]int{}
	for _, b := range w.blocks {
		if b.inside {
			idle[b.class]++
		}
	}
	w.checkWaiters(idle)
	if w.run.failure != "" {
		return
	}
	for class, c := range w.engine.Counts() {
		class := uint8(class)
		if c.Idle != idle[class] || c.Puts != w.puts[class] || c.Hits != w.hits[class] {
			w.run.fail("class %d counts %+v; %d are idle after %d puts and %d hits", class, c, idle[class], w.puts[class], w.hits[class])
		}
		if limit := w.scenario.config.MaxIdlePerClass; limit > 0 && c.Idle > limit {
			w.run.fail("class %d has %d blocks idle, at most %d are allowed", class, c.Idle, limit)
		}
	}
	if w.engine.Closed() && len(idle) > 0 {
		w.run.fail("a closed engine keeps blocks")
	}
	w.engine.Trim(w.release)
	for _, b := range w.blocks {
		if b.inside {
			w.run.fail("block %d is lost: the engine has it and Trim does not find it", b.id)
		}
	}
	if left := w.engine.Reserved(); left != 0 {
		w.run.fail("%d bytes are reserved in an empty engine", left)
	}
	for range w.scenario.config.MaxIdlePerClass {
		if r := w.push(w.fresh(0)); r != magazine.Kept {
			w.run.fail("an empty engine does not keep as many blocks as it may")
		}
	}
}

//go:build dewpond_explore

package main

import (
	"slices"
	"unsafe"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/internal/semaphore"
)

// A block of the explorer is its own account of where it is.
type block struct {
	id     int
	class  uint8
	inside bool // the engine has it, for all that its users know
	kept   bool // and has said so
}

// A world is one engine, its users' blocks, and what must be true of both.
type world struct {
	scenario scenario
	run      *run
	engine   magazine.Engine
	beyond   *magazine.Allowance // nil: the bounds are hard
	procs    int                 // GOMAXPROCS
	pins     []pin
	blocks   []*block
	taking   int // Pops under way, each of which may have a block already; a Trim is many
	puts     map[uint8]uint64
	hits     map[uint8]uint64
	history  history
	gate     *admission.Gate
	other    *admission.Gate   // of another pool of the Budget; nil: none
	budget   *admission.Budget // nil: none
	allowed  int               // misses, by AllocRate; 0: any number
	acts     map[*thread]*act
	waits    []*wait          // in the order in which they began
	charged  int              // bytes of what there is, or may be allocated
	misses   int              // that were allowed, less those that time allows again
	found    []magazine.Block // idle blocks that a batch has found before the threads begin

	timers []func() // not yet called

	// Of the scenarios of semaphore.go alone.
	semaphore semaphore.Semaphore
	acquired  int // without waiting, less what was released
	dozers    int // calls that would have slept
	ended     bool

	pooled // of the scenarios of pool.go alone
}

// A pin is a P, with a section running on it or not.
type pin struct {
	in      bool
	section int // number of the section that is running, or was the last
}

// program returns what a search of the scenario runs.
func (s scenario) program() (*run, func()) {
	w := newWorld(s)
	return w.run, w.check
}

func newWorld(s scenario) *world {
	w := &world{
		scenario: s, run: &run{}, procs: s.procs, pins: make([]pin, s.procs),
		puts: map[uint8]uint64{}, hits: map[uint8]uint64{}, history: history{timed: s.timed},
		acts: map[*thread]*act{},
	}
	w.hooks()
	if s.born > 0 {
		w.procs = s.born
	}
	if s.beyond > 0 {
		w.beyond = magazine.NewAllowance(func() int64 { return s.beyond })
		s.config.Beyond = w.beyond
	}
	if s.tier {
		s.config.MaxIdleBytes, s.config.Tier = 0, func() bool { return true }
	}
	w.engine.Init(s.config)
	if s.tier {
		w.engine.Wanted(0, many)
	}
	if !s.fresh {
		w.engine.PopSlow(0) // makes the shards
	}
	allows(0)(w)
	w.procs = s.procs
	if s.setup != nil {
		s.setup(w)
	}
	var bodies []func()
	for _, body := range s.threads {
		bodies = append(bodies, func() { body(w) })
	}
	if s.late != nil {
		bodies = append(bodies, w.lateTimers)
	}
	w.run.start(bodies)
	return w
}

// hooks makes this world the one that the engine runs in.
func (w *world) hooks() {
	r := w.run
	at := func(object unsafe.Pointer, k kind, ready func() bool) {
		r.announce(access{object: object, kind: k, ready: ready})
	}
	atomics.Explore.Access = func(object unsafe.Pointer, writes bool) {
		if writes {
			at(object, write, nil)
		} else {
			at(object, read, nil)
		}
	}
	atomics.Explore.Touch = func(object unsafe.Pointer) {
		if object != w.engine.None() {
			// Not at the address of its first field, which may be an atomic.
			at(unsafe.Add(object, 1), plain, nil)
		}
	}
	atomics.Explore.Wait = func(object unsafe.Pointer, ready func() bool) { at(object, write, ready) }
	atomics.Explore.Spin = r.spin
	atomics.Explore.AfterFunc = func(f func()) { w.timers = append(w.timers, f) }

	percpu.Explore.Procs = func() int { return w.procs }
	percpu.Explore.Pin = func() int {
		id := w.here()
		p := &w.pins[id]
		at(unsafe.Pointer(p), write, func() bool { return !p.in })
		p.in = true
		p.section++
		return id
	}
	percpu.Explore.Unpin = func() {
		p := &w.pins[w.here()]
		at(unsafe.Pointer(p), write, nil)
		p.in = false
	}
	// What percpu promises and no more: the sections that it finds running have
	// ended when it returns. Others may be running by then.
	percpu.Explore.Grace = func() {
		running := make([]int, len(w.pins))
		for i := range w.pins {
			p := &w.pins[i]
			at(unsafe.Pointer(p), read, nil)
			running[i] = p.section
		}
		for i := range w.pins {
			p := &w.pins[i]
			at(unsafe.Pointer(p), read, func() bool { return !p.in || p.section != running[i] })
		}
	}
}

// here returns the P of the running thread: its number, unless the scenario has
// some share one.
func (w *world) here() int {
	for i, t := range w.run.threads {
		switch {
		case t != w.run.current:
		case i >= len(w.scenario.threads): // a timer's goroutine
			return 0
		case w.scenario.places != nil:
			return w.scenario.places[i]
		default:
			return i
		}
	}
	return 0
}

// check is what must be true when all threads have ended.
func (w *world) check() {
	w.observe()
	recovered := w.checkTier()
	idle := map[uint8]int{}
	for _, b := range w.blocks {
		if b.inside {
			idle[b.class]++
		}
	}
	var held []*block // by waiters for several blocks
	for class := range w.scenario.config.Sizes {
		of := w.holds(uint8(class))
		held = append(held, of...)
		idle[uint8(class)] -= len(of)
	}
	if w.scenario.after != nil {
		w.scenario.after(w)
	}
	if w.scenario.late != nil {
		w.callTimers() // those that are due by now
	}
	w.checkPool()
	w.checkSemaphore()
	w.checkHistory()
	w.checkGate(idle)
	w.checkBounds()
	for class, c := range w.engine.Counts() {
		class := uint8(class)
		passed := w.gate.Counts(class)
		c.Puts, c.Hits = c.Puts+passed.Puts, c.Hits+c.Recovered-recovered[class]+passed.Handed
		// A waiter's block is a hit from the start, and a Put if the waiter gives it up.
		given := c.Hits - w.hits[class]
		if c.Idle != idle[class] || given != c.Puts-w.puts[class]+uint64(len(w.holds(class))) || given > 0 && !w.batches() {
			w.run.fail("class %d counts %+v; %d are idle after %d puts and %d hits", class, c, idle[class], w.puts[class], w.hits[class])
		}
	}
	for _, n := range idle {
		if w.engine.Closed() && n > 0 {
			w.run.fail("a closed engine keeps blocks")
		}
	}
	if w.run.failure != "" {
		return
	}
	w.trim()
	for _, b := range w.blocks {
		switch {
		case b.inside && !slices.Contains(held, b):
			w.run.fail("block %d is lost: the engine has it and Trim does not find it", b.id)
		case !b.inside && slices.Contains(held, b):
			w.run.fail("block %d has two owners, and one of them is a waiter", b.id)
		}
	}
	w.engine.EnterDirect() // Trim leaves the places of the shards where nothing is idle
	if left := w.engine.Reserved(); left != 0 {
		w.run.fail("%d bytes are reserved in an empty engine", left)
	}
	if w.beyond != nil && w.beyond.Taken() != 0 {
		w.run.fail("an empty engine has %d bytes of the allowance", w.beyond.Taken())
	}
	defer w.checkNobodyWaitsForEver()
	c := w.scenario.config
	if limit := min(c.MaxIdlePerClass, int(c.MaxIdleBytes)/c.Sizes[0]); limit > 0 && !w.engine.Waiting(0) {
		for range limit {
			if r := w.push(w.fresh(0)); r != magazine.Kept && r != magazine.KeptDirect {
				w.run.fail("an empty engine does not keep as many blocks as it may")
			}
		}
		if r := w.push(w.fresh(0)); r != magazine.NoRoom {
			w.run.fail("an engine keeps more blocks than it may")
		}
	}
}

// checkTier checks that nothing is in the second tier that a waiter could have, nor after Close, and returns how
// many blocks it has taken out. All others that the engine has are garbage, for it keeps nothing idle.
func (w *world) checkTier() map[uint8]uint64 {
	taken := map[uint8]uint64{}
	if !w.scenario.tier {
		return taken
	}
	for class := range w.scenario.config.Sizes {
		class := uint8(class)
		for p := w.engine.Recover(class); p != nil; p = w.engine.Recover(class) {
			taken[class]++
			if b := (*block)(p); !b.inside {
				w.run.fail("block %d of the second tier has another owner", b.id)
			}
		}
		if taken[class] > 0 && w.engine.Closed() {
			w.run.fail("the second tier of a closed engine keeps blocks")
		}
		if taken[class] > 0 && w.engine.Waiting(class) {
			w.run.fail("a waiter sleeps while the second tier has a block")
		}
	}
	for _, b := range w.blocks {
		b.inside = false
	}
	return taken
}

// batches reports whether the scenario has waiters for several blocks.
func (w *world) batches() bool {
	return slices.ContainsFunc(w.waits, func(s *wait) bool { return s.n > 1 })
}

//go:build dewpond_explore

package main

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"
	"unsafe"
)

// An access is what a thread is about to do next to something shared. Two are
// dependent when they are to the same object and one of them writes.
type access struct {
	object unsafe.Pointer
	write  bool
	plain  bool        // to be made by the object's owner only
	ready  func() bool // nil: at any time
}

func (a access) dependent(b access) bool {
	return a.object == b.object && a.object != nil && (a.write || b.write)
}

const maxThreads = 4

// A clock says of each thread how many of its steps are known to come before.
type clock [maxThreads]int

func (c *clock) join(d clock) {
	for i := range c {
		c[i] = max(c[i], d[i])
	}
}

// A thread is a coroutine that runs the engine from one access to the next.
type thread struct {
	next    func() (access, bool)
	stop    func()
	yield   func(access) bool
	pending access
	done    bool
	aborted bool
	steps   int
	clock   clock
}

// A step is one executed access.
type step struct {
	thread int
	index  int // which of the thread's steps, from 1
	access access
}

// history is what a step leaves with the object: whatever comes later and depends
// on it comes after it.
type history struct {
	all, writes clock
	owner       int // the last who made a plain access, and which of his steps
	ownerStep   int
}

// A run is one execution of a scenario.
type run struct {
	threads []*thread
	current *thread // nil during setup and the final checks
	trace   []step
	objects map[unsafe.Pointer]*history
	failure string
	alone   int // accesses made outside the threads
}

// start begins the threads; none has made an access yet.
func (r *run) start(bodies []func()) {
	r.objects = map[unsafe.Pointer]*history{}
	for _, body := range bodies {
		t := &thread{}
		t.next, t.stop = iter.Pull(func(yield func(access) bool) {
			defer func() {
				if t.aborted {
					recover()
				}
			}()
			t.yield = yield
			body()
		})
		r.threads = append(r.threads, t)
	}
	for _, t := range r.threads {
		r.advance(t)
	}
}

// advance lets t run up to its next access.
func (r *run) advance(t *thread) {
	r.current = t
	a, ok := t.next()
	r.current = nil
	t.pending, t.done = a, !ok
}

// announce is called by the running thread before an access.
func (r *run) announce(a access) {
	t := r.current
	if t == nil {
		// Setup and the final checks are short, unless a list is a cycle.
		if r.alone++; r.alone > 100_000 {
			panic("no end: FOUND a cycle")
		}
		return
	}
	if t.aborted {
		return
	}
	if !t.yield(a) {
		t.aborted = true
		panic("aborted")
	}
}

// spin is announced as an access to nothing that is ready after somebody else's
// next step, or when there will be none.
func (r *run) spin() {
	t := r.current
	if t == nil {
		return
	}
	others := len(r.trace) - t.steps
	r.announce(access{ready: func() bool { return len(r.trace)-t.steps > others || r.onlyCanStep(t) }})
}

func (r *run) onlyCanStep(t *thread) bool {
	for _, other := range r.threads {
		if other != t && !other.done && (other.pending.object == nil || other.pending.ready == nil || other.pending.ready()) {
			return false
		}
	}
	return true
}

func (r *run) end() {
	for _, t := range r.threads {
		t.stop()
	}
}

// enabled returns the threads that can make their next step, as bits.
func (r *run) enabled() (set uint) {
	for i, t := range r.threads {
		if !t.done && (t.pending.ready == nil || t.pending.ready()) {
			set |= 1 << i
		}
	}
	return set
}

// step makes thread p's next step.
func (r *run) step(p int) {
	t := r.threads[p]
	a := t.pending
	t.steps++
	if a.object != nil {
		h := r.objects[a.object]
		if h == nil {
			h = &history{owner: -1}
			r.objects[a.object] = h
		}
		if a.plain {
			if h.owner >= 0 && h.owner != p && h.ownerStep > t.clock[h.owner] {
				r.fail("threads %d and %d use a slot or magazine at the same time", h.owner, p)
			}
			h.owner, h.ownerStep = p, t.steps
		}
		if a.write {
			t.clock.join(h.all)
		} else {
			t.clock.join(h.writes)
		}
		t.clock[p] = t.steps
		h.all.join(t.clock)
		if a.write {
			h.writes.join(t.clock)
		}
	}
	t.clock[p] = t.steps
	r.trace = append(r.trace, step{p, t.steps, a})
	r.advance(t)
}

func (r *run) fail(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

// schedule returns the run as the threads' numbers in the order of their steps,
// with the length of each stretch.
func (r *run) schedule() string {
	var b strings.Builder
	for i := 0; i < len(r.trace); {
		j := i
		for j < len(r.trace) && r.trace[j].thread == r.trace[i].thread {
			j++
		}
		fmt.Fprintf(&b, "%d x%d, ", r.trace[i].thread, j-i)
		i = j
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// lowest returns the lowest thread of a set.
func lowest(set uint) int { return bits.TrailingZeros(set) }

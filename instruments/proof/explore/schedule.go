//go:build dewpond_explore

package main

import (
	"fmt"
	"iter"
	"math/bits"
	"runtime/debug"
	"slices"
	"unsafe"
)

// An access is the next thing that a thread is about to do to a shared object.
type access struct {
	object unsafe.Pointer
	kind   kind
	ready  func() bool // nil: at any time
	spins  []sight     // the end of a loop that waits: what the loop looked at
	where  string      // in the engine's source, when the run is explained
}

type kind uint8

const (
	read kind = iota
	write
	plain   // made by the object's owner only
	calls   // an operation begins; its object is the history
	returns // it ends
	kinds
)

func (k kind) String() string { return [...]string{"read", "write", "own", "call", "return"}[k] }

// conflicts reports whether the order of two such accesses to one object can be
// observed. Of a history only which return came before which call can be.
func (k kind) conflicts(with kind) bool {
	if k == calls || k == returns {
		return k != with
	}
	return k != read || with != read
}

// dependent reports whether the order of two accesses can be observed.
func (a *access) dependent(b *access) bool {
	if a.spins != nil || b.spins != nil {
		return a.watches(b) || b.watches(a)
	}
	return a.object == b.object && a.kind.conflicts(b.kind)
}

// watches reports whether b may end a's wait.
func (a *access) watches(b *access) bool {
	for _, s := range a.spins {
		if s.object == b.object && read.conflicts(b.kind) {
			return true
		}
	}
	return false
}

// A sight is something that a thread has looked at in a loop, and how often others had
// written to it by then.
type sight struct {
	object unsafe.Pointer
	writes int
}

const maxThreads = 4

// A clock has, for each thread, how many of its steps are known to come before.
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
	sights  []sight // since its operation began, or the loop last went round
}

// A step is one executed access.
type step struct {
	thread int
	index  int // index of the step among the thread's, from 1
	access access
}

// A past is what the steps leave with an object: a later access that depends on it
// comes after it.
type past struct {
	by        [kinds]clock
	writes    [maxThreads]int
	owner     int // the thread of the last plain access, and the index of that step
	ownerStep int
}

// A run is one execution of a scenario.
type run struct {
	threads []*thread
	current *thread // nil during setup and the final checks
	trace   []step
	objects map[unsafe.Pointer]*past
	clocks  []clock // of the trace's steps
	failure string
	alone   int  // accesses made outside the threads
	explain bool // record where in the source each step is
}

// A program is what a search runs again and again. check is called at the end of each
// run, and may make it fail.
type program func() (r *run, check func())

// start begins the threads; none has made an access yet.
func (r *run) start(bodies []func()) {
	r.objects = map[unsafe.Pointer]*past{}
	for i, body := range bodies {
		t := &thread{}
		t.next, t.stop = iter.Pull(func(yield func(access) bool) {
			defer func() {
				switch e := recover(); {
				case e == nil || t.aborted:
				case r.explain:
					r.fail("thread %d panics: %v\n%s", i, e, debug.Stack())
				default:
					r.fail("thread %d panics: %v", i, e)
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

// finish calls check after all threads have ended. A list that has become a cycle makes
// it endless.
func (r *run) finish(check func()) {
	defer func() {
		if e := recover(); e == (endless{}) {
			r.fail("no end: a list is a cycle")
		} else if e != nil {
			r.fail("the final check panics: %v\n%s", e, debug.Stack())
		}
	}()
	check()
}

type endless struct{}

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
			panic(endless{})
		}
		return
	}
	if t.aborted {
		return
	}
	if r.explain {
		a.where = where()
	}
	if !t.yield(a) {
		t.aborted = true
		panic("aborted")
	}
}

// spin is announced at the end of a loop that waits for another thread. Going round
// again makes sense once another thread has written to what the loop looked at.
func (r *run) spin() {
	t := r.current
	if t == nil {
		return
	}
	if t.aborted {
		panic("aborted") // no thread is left that could end the loop
	}
	looked := t.sights
	t.sights = nil
	me := slices.Index(r.threads, t)
	r.announce(access{kind: read, spins: looked, ready: func() bool {
		return slices.ContainsFunc(looked, func(s sight) bool { return r.objects[s.object].writesOfOthers(me) > s.writes })
	}})
}

func (o *past) writesOfOthers(me int) (n int) {
	for p, writes := range o.writes {
		if p != me {
			n += writes
		}
	}
	return n
}

// starts records that the running thread begins an operation.
func (r *run) starts() {
	if r.current != nil {
		r.current.sights = nil
	}
}

// end ends the threads that have not ended. Their deferred calls run, each thread's
// alone, and do not affect the result of the run.
func (r *run) end() {
	failure := r.failure
	for _, t := range r.threads {
		r.current = t
		t.stop()
	}
	r.current, r.failure = nil, failure
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
	for _, s := range a.spins {
		r.meet(p, s.object, read)
		t.sights = nil // the loop begins again
	}
	if a.object != nil {
		r.meet(p, a.object, a.kind)
	}
	t.clock[p] = t.steps
	r.trace = append(r.trace, step{p, t.steps, a})
	r.clocks = append(r.clocks, t.clock)
	r.advance(t)
}

// meet records thread p's access to an object.
func (r *run) meet(p int, object unsafe.Pointer, k kind) {
	t, o := r.threads[p], r.objects[object]
	if o == nil {
		o = &past{owner: -1}
		r.objects[object] = o
	}
	switch {
	case k == plain:
		if o.owner >= 0 && o.owner != p && o.ownerStep > t.clock[o.owner] {
			r.fail("threads %d and %d use a slot or magazine at the same time", o.owner, p)
		}
		o.owner, o.ownerStep = p, t.steps
	case !slices.ContainsFunc(t.sights, func(s sight) bool { return s.object == object }):
		t.sights = append(t.sights, sight{object, o.writesOfOthers(p)})
	}
	if read.conflicts(k) {
		o.writes[p]++
	}
	for before := range kinds {
		if k.conflicts(before) {
			t.clock.join(o.by[before])
		}
	}
	t.clock[p] = t.steps
	o.by[k].join(t.clock)
}

// last returns the thread that made the last step, or -1.
func (r *run) last() int {
	if len(r.trace) == 0 {
		return -1
	}
	return r.trace[len(r.trace)-1].thread
}

// deadlock fails the run, in which no thread can step, unless all have ended.
func (r *run) deadlock() {
	for p, t := range r.threads {
		if !t.done {
			r.fail("deadlock: thread %d waits forever", p)
		}
	}
}

func (r *run) fail(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

// lowest returns the lowest thread of a set.
func lowest(set uint) int { return bits.TrailingZeros(set) }

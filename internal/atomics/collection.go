//go:build !dewpond_explore

package atomics

import (
	"runtime"
	"sync"
	"time"
)

// rest is the least time between two goroutines of AfterCollection. What the functions allocate can bring about the
// next GC cycle, where the heap has reached the memory limit: without a rest each cycle would be followed by
// another, and two of them empty every sync.Pool.
var rest = 100 * time.Millisecond

// afterCollection has the functions that AfterCollection was given.
var afterCollection struct {
	mu     sync.Mutex // held for a few moves
	next   []func()   // for the next collection
	due    []func()   // of collections that were
	called int        // how many of them
	last   time.Time  // when functions became due
	spare  *garbage   // to be found again
}

// A garbage is what the collector finds. It is large enough to be an object of its own.
type garbage struct{ _, _ *byte }

// AfterCollection calls f once, after the next garbage collection, in a goroutine that serves all
// that were given before that collection. If one of them takes until the collection after it,
// another goroutine goes on with the others. Collections less than 100 ms after one that had functions
// called do not count.
//
// It uses a finalizer because a cleanup can get lost: in Go 1.26 cleanups that the sweeper has
// queued on a P wait there, maybe forever, if GOMAXPROCS falls and takes the P away
// (runtime.cleanupQueue.flush looks at the Ps that are left).
func AfterCollection(f func()) {
	a := &afterCollection
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = append(a.next, f)
	if len(a.next) == 1 {
		g := a.spare
		if a.spare = nil; g == nil {
			g = new(garbage)
		}
		runtime.SetFinalizer(g, collected)
	}
}

// A Witness is lost with the object that holds it, which alone must refer to it. So it is a cleanup of
// that object, but one that does not get lost as AfterCollection says.
type Witness struct{ _, _ *byte } // large enough to be an object of its own

// NewWitness has lost called once, after a garbage collection has found that nothing refers to the
// Witness, in a goroutine of AfterCollection. Whatever lost refers to stays alive until then, so that must not
// be the object that holds the Witness.
func NewWitness(lost func()) *Witness {
	w := new(Witness)
	runtime.SetFinalizer(w, func(*Witness) {
		a := &afterCollection
		a.mu.Lock()
		defer a.mu.Unlock()
		a.due = append(a.due, lost)
		go callDue()
	})
	return w
}

// collected is called after a collection. It is quick: the finalizers of the whole program wait
// for it.
func collected(g *garbage) {
	a := &afterCollection
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if now.Sub(a.last) < rest {
		runtime.SetFinalizer(g, collected) // and allocates nothing
		return
	}
	a.last, a.spare = now, g
	a.due = append(a.due, a.next...)
	a.next = emptied(a.next)
	go callDue()
}

// emptied returns a slice without elements, to be filled again without an allocation, unless it was long.
func emptied(s []func()) []func() {
	if clear(s); cap(s) > 1024 {
		return nil
	}
	return s[:0]
}

// callDue calls all that is due, also if a function ends its goroutine.
func callDue() {
	a := &afterCollection
	next := func() (f func()) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.called < len(a.due) {
			f, a.due[a.called] = a.due[a.called], nil
			a.called++
			return f
		}
		a.due, a.called = emptied(a.due), 0
		return nil
	}
	ended := true
	defer func() {
		if ended {
			go callDue()
		}
	}()
	for f := next(); f != nil; f = next() {
		f()
	}
	ended = false
}

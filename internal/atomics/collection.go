//go:build !dewpond_explore

package atomics

import (
	"runtime"
	"sync"
)

// afterCollection has the functions that AfterCollection was given.
var afterCollection struct {
	mu   sync.Mutex // held for a few moves
	next []func()   // for the next collection
	due  []func()   // of collections that were, not yet called
}

// AfterCollection calls f once, after the next garbage collection, in a goroutine that serves all
// that were given before that collection. If one of them takes until the collection after it,
// another goroutine goes on with the others.
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
		type garbage struct{ _, _ *byte } // large enough to be an object of its own
		runtime.SetFinalizer(new(garbage), func(*garbage) { collected() })
	}
}

// collected is called after a collection. It is quick: the finalizers of the whole program wait
// for it.
func collected() {
	a := &afterCollection
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = append(a.due, a.next...)
	a.next = nil
	go callDue()
}

// callDue calls all that is due, also if a function ends its goroutine.
func callDue() {
	a := &afterCollection
	next := func() (f func()) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.due) > 0 {
			f, a.due[0] = a.due[0], nil
			a.due = a.due[1:]
		}
		return f
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

//go:build dewpond_explore

package main

import (
	"context"
	"errors"
)

// The scenarios of this file run the semaphore of a Pool that has MaxOut, as it ships,
// up to where a caller sleeps.

// A dozer is a context that makes its caller return where it would sleep. The call
// stays in the semaphore's list, as one that sleeps does.
type dozer struct{ context.Context }

type asleep struct{}

func (dozer) Done() <-chan struct{} { panic(asleep{}) }

func (w *world) limit(n int) {
	w.semaphore.Init(n, func() string { return "explored" })
}

func (w *world) tryAcquire() {
	if w.semaphore.TryAcquire() {
		w.acquired++
	}
}

// acquire waits, if it must. A call that was served between entering the list and
// falling asleep counts as one that slept.
func (w *world) acquire() {
	defer func() {
		switch e := recover(); e {
		case nil:
		case asleep{}:
			w.dozers++
		default:
			panic(e)
		}
	}()
	if w.semaphore.Acquire(dozer{context.Background()}) == nil {
		w.acquired++
	}
}

func (w *world) releases() {
	w.acquired--
	w.semaphore.Release()
}

var errEnded = errors.New("closed")

// checkSemaphore checks that no caller sleeps while there is room, and that no more are
// out than the limit allows.
func (w *world) checkSemaphore() {
	limit, waiting := w.semaphore.Limit(), w.semaphore.Waiting()
	if limit == 0 {
		return
	}
	out := w.acquired
	if !w.ended {
		out += w.dozers - waiting // those that were served
	}
	switch {
	case out > limit:
		w.run.fail("%d are out of %d", out, limit)
	case out < limit && waiting > 0:
		w.run.fail("a caller sleeps while %d of %d are out", out, limit)
	case w.ended && waiting > 0:
		w.run.fail("a caller sleeps after Close")
	}
}

var semaphoreScenarios = []scenario{
	{
		name: "limit-wake", about: "two callers begin to wait while the objects that they wait for come back", config: engine(singles), procs: 3,
		setup:   func(w *world) { w.limit(2); w.tryAcquire(); w.tryAcquire() },
		threads: []func(w *world){func(w *world) { w.releases(); w.releases() }, (*world).acquire, (*world).acquire},
	},
	{
		name: "limit-last", about: "three callers want the last object within the limit, and one of them would wait", config: engine(singles), procs: 3,
		setup:   func(w *world) { w.limit(2); w.tryAcquire() },
		threads: []func(w *world){(*world).tryAcquire, (*world).tryAcquire, (*world).acquire},
	},
	{
		name: "limit-close", about: "a caller begins to wait while the pool is closed", config: engine(singles), procs: 2,
		setup: func(w *world) { w.limit(1); w.tryAcquire() },
		threads: []func(w *world){
			func(w *world) { w.semaphore.Close(errEnded); w.ended = true },
			(*world).acquire,
		},
	},
}

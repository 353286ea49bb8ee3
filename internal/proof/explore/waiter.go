//go:build dewpond_explore

package main

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A queue is who waits for a block: BytePool's queue.go in small, with the same
// steps in the same order, under a mutex like its.
type queue struct {
	locked  bool
	waiting []*waiter
}

type waiter struct {
	class uint8
	got   *block
	ended bool // with ErrClosed
}

func (w *world) lock() {
	q := &w.queue
	atomics.Explore.Wait(unsafe.Pointer(q), func() bool { return !q.locked })
	q.locked = true
}

func (w *world) unlock() {
	atomics.Explore.Access(unsafe.Pointer(&w.queue), true)
	w.queue.locked = false
}

// wait is BytePool.wait, up to where it sleeps.
func (w *world) wait(class uint8) {
	w.lock()
	defer w.unlock()
	if w.engine.Gather() {
		w.waitLocked(class)
	}
}

// waitGathered is the rest of wait, of one who has gathered the engine already.
func (w *world) waitGathered(class uint8) {
	w.lock()
	defer w.unlock()
	w.waitLocked(class)
}

func (w *world) waitLocked(class uint8) {
	w.queue.waiting = append(w.queue.waiting, &waiter{class: class})
	w.engine.Wait(class, 1)
	w.serveLocked(class)
}

// serveLocked is BytePool.serveLocked.
func (w *world) serveLocked(class uint8) {
	for {
		me := w.first(class)
		if me == nil {
			return
		}
		b, _ := w.popExact(class)
		if b == nil {
			return
		}
		w.grant(me, b)
	}
}

// put is BytePool.Put with what pushed does.
func (w *world) put(b *block) {
	for {
		switch w.push(b) {
		case magazine.KeptDirect:
			if w.engine.Waiting(b.class) {
				w.lock()
				w.serveLocked(b.class)
				w.unlock()
			}
			return
		case magazine.Wanted:
			if w.hand(b) {
				return
			}
		case magazine.Full:
			if w.engine.Waiting(b.class) {
				w.hand(b)
			}
			return
		default:
			return
		}
	}
}

func (w *world) hand(b *block) bool {
	w.lock()
	defer w.unlock()
	me := w.first(b.class)
	if me != nil {
		w.grant(me, b)
	}
	return me != nil
}

// scatter is BytePool.scatter, at a Put that looks at the clock and finds it late.
func (w *world) scatter() {
	w.lock()
	defer w.unlock()
	if len(w.queue.waiting) == 0 {
		w.engine.Scatter()
	}
}

// close is BytePool.Close.
func (w *world) close() {
	w.shut()
	w.lock()
	defer w.unlock()
	for _, me := range w.queue.waiting {
		if me.got == nil {
			me.ended = true
			w.engine.Wait(me.class, -1)
		}
	}
}

// tryGet is BytePool.reuseAnywhere.
func (w *world) tryGet(class uint8) *block {
	for {
		if b, exact := w.popExact(class); exact {
			return b
		}
		if !w.engine.Gather() {
			return nil
		}
	}
}

func (w *world) first(class uint8) *waiter {
	for _, me := range w.queue.waiting {
		if me.class == class && me.got == nil && !me.ended {
			return me
		}
	}
	return nil
}

func (w *world) grant(me *waiter, b *block) {
	me.got = b
	w.engine.Wait(me.class, -1)
}

// checkWaiters: nobody sleeps beside an idle block, or where a Put would not see
// him.
func (w *world) checkWaiters(idle map[uint8]int) {
	for _, me := range w.queue.waiting {
		switch {
		case me.got != nil || me.ended:
		case idle[me.class] > 0:
			w.run.fail("a waiter sleeps while %d blocks of his class are idle", idle[me.class])
		case !w.engine.Gathered():
			w.run.fail("a waiter sleeps while the engine uses its shards")
		}
	}
}

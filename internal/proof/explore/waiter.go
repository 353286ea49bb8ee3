//go:build dewpond_explore

package main

import "github.com/dewpond/dewpond/internal/magazine"

// A waiter waits for a block as BytePool.GetContext does, and is served as Put
// serves: queue.go in small, with the same order of steps. Its lists need a mutex
// there; here a thread that is not interrupted will do.
type waiter struct {
	class uint8
	got   *block
}

func (w *world) wait(class uint8) {
	w.engine.Gather()
	me := &waiter{class: class}
	w.waiting = append(w.waiting, me)
	w.engine.Wait(class, 1)
	w.serve(class)
}

// serve is BytePool.serveLocked.
func (w *world) serve(class uint8) {
	for {
		me := w.first(class)
		if me == nil {
			return
		}
		b := w.popExact(class)
		if b == nil {
			return
		}
		if me = w.first(class); me == nil { // somebody else served him meanwhile
			w.put(b)
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
				w.serve(b.class)
			}
			return
		case magazine.Wanted:
			if me := w.first(b.class); me != nil {
				w.grant(me, b)
				return
			}
		default:
			return
		}
	}
}

func (w *world) first(class uint8) *waiter {
	for _, me := range w.waiting {
		if me.class == class && me.got == nil {
			return me
		}
	}
	return nil
}

func (w *world) grant(me *waiter, b *block) {
	me.got = b
	w.engine.Wait(me.class, -1)
}

// checkWaiters: nobody sleeps beside an idle block.
func (w *world) checkWaiters(idle map[uint8]int) {
	for _, me := range w.waiting {
		if me.got == nil && idle[me.class] > 0 {
			w.run.fail("a waiter sleeps while %d blocks of his class are idle", idle[me.class])
		}
	}
}

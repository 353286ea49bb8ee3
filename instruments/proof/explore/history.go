//go:build dewpond_explore

package main

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// A history is what the users of an engine observed: each operation with when it was
// called and when it returned. In a timed scenario, both are accesses, so the search
// also tries every order of one operation's return and another's call.
type history struct {
	timed bool
	now   int
	ops   []*operation
}

// An operation is one on the bag of blocks that an engine is to its users.
type operation struct {
	what             op
	block            *block
	class            uint8 // the class that was empty
	called, returned int
}

type op uint8

const (
	pushed op = iota // block was kept
	popped           // block was returned, or released
	none             // PopExact said that there was no block of class
	trimmed
	shut
)

// call and returns bracket an operation of the running thread.
func (w *world) call() *operation {
	w.run.starts()
	w.history.tell(calls, w)
	return &operation{called: w.history.now}
}

func (w *world) returned(o *operation) {
	w.history.tell(returns, w)
	o.returned = w.history.now
}

func (h *history) tell(k kind, w *world) {
	if h.timed {
		w.run.announce(access{object: unsafe.Pointer(h), kind: k})
	}
	h.now++
}

func (h *history) add(o *operation, what op, b *block) {
	if h.timed {
		o.what, o.block = what, b
		h.ops = append(h.ops, o)
	}
}

// checkHistory checks that the operations can be put into an order that a bag allows
// and that keeps an operation that returned before another was called before it; and
// that no Trim or Close left a block that was idle all the time since before it was
// called.
func (w *world) checkHistory() {
	if !w.history.timed {
		return
	}
	var bag []*operation
	for _, o := range w.history.ops {
		switch o.what {
		case trimmed, shut:
			w.checkTrim(o)
		default:
			bag = append(bag, o)
		}
	}
	if len(bag) > 0 && !linearizable(bag) {
		w.run.fail("no order of the operations explains what they returned: %s", describe(bag))
	}
}

// checkTrim checks that a block whose Push returned before Trim was called is released
// by it, or was popped by a thread before it returned, whatever other threads do.
func (w *world) checkTrim(trim *operation) {
	for i, push := range w.history.ops {
		switch {
		case push.what != pushed:
			continue
		case trim.what == shut && push.called > trim.returned:
			w.run.fail("block %d was kept after Close", push.block.id)
		}
		if push.returned > trim.called {
			continue
		}
		// This finds the block's next owner. Owners come one after the other, so it is
		// the first recorded since.
		gone := slices.IndexFunc(w.history.ops[i+1:], func(o *operation) bool { return o.block == push.block && o.what == popped })
		if gone < 0 || w.history.ops[i+1+gone].called > trim.returned {
			w.run.fail("block %d was idle before Trim and is still", push.block.id)
		}
	}
}

// linearizable tries all orders; those of the same operations lead to the same bag.
func linearizable(ops []*operation) bool {
	tried := map[uint32]bool{}
	var from func(taken uint32, bag map[*block]bool) bool
	from = func(taken uint32, bag map[*block]bool) bool {
		if taken == 1<<len(ops)-1 {
			return true
		}
		if tried[taken] {
			return false
		}
		tried[taken] = true
		deadline := int(^uint(0) >> 1)
		for i, o := range ops {
			if taken>>i&1 == 0 {
				deadline = min(deadline, o.returned)
			}
		}
		for i, o := range ops {
			if taken>>i&1 == 1 || o.called > deadline {
				continue
			}
			switch {
			case o.what == pushed && !bag[o.block]:
				bag[o.block] = true
				if from(taken|1<<i, bag) {
					return true
				}
				delete(bag, o.block)
			case o.what == popped && bag[o.block]:
				delete(bag, o.block)
				if from(taken|1<<i, bag) {
					return true
				}
				bag[o.block] = true
			case o.what == none && !holds(bag, o.class):
				if from(taken|1<<i, bag) {
					return true
				}
			}
		}
		return false
	}
	return from(0, map[*block]bool{})
}

func holds(bag map[*block]bool, class uint8) bool {
	for b := range bag {
		if b.class == class {
			return true
		}
	}
	return false
}

func describe(ops []*operation) string {
	var b strings.Builder
	for _, o := range ops {
		id := -1
		if o.block != nil {
			id = o.block.id
		}
		fmt.Fprintf(&b, "[%d-%d %s %d] ", o.called, o.returned, [...]string{"push", "pop", "none"}[o.what], id)
	}
	return b.String()
}

// drop takes back what add added: the block was not kept.
func (h *history) drop(o *operation) {
	h.ops = slices.DeleteFunc(h.ops, func(other *operation) bool { return other == o })
}

//go:build dewpond_explore

package main

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
)

// These are the operations of a scenario's threads on the engine alone. Each records what
// happens and fails the run when the engine breaks a promise.

// fresh makes a new block.
func (w *world) fresh(class uint8) *block {
	b := &block{id: len(w.blocks), class: class}
	w.blocks = append(w.blocks, b)
	return b
}

// pop returns an idle block, or nil.
func (w *world) pop(class uint8) *block {
	o := w.call()
	w.taking++
	p := w.engine.Pop(class)
	w.taking--
	w.returned(o)
	return w.popped(o, class, (*block)(p))
}

// popExact is PopExact.
func (w *world) popExact(class uint8) (b *block, exact bool) {
	o := w.call()
	w.taking++
	p, exact := w.engine.PopExact(class)
	w.taking--
	w.returned(o)
	if p == nil && exact {
		o.class = class
		w.history.add(o, none, nil)
	}
	return w.popped(o, class, (*block)(p)), exact
}

func (w *world) popped(o *operation, class uint8, b *block) *block {
	if b == nil {
		return nil
	}
	w.history.add(o, popped, b)
	switch {
	case !b.inside:
		w.run.fail("block %d has two owners", b.id)
	case b.class != class:
		w.run.fail("block %d of class %d was popped from class %d", b.id, b.class, class)
	}
	b.inside, b.kept = false, false
	w.hits[class]++
	return b
}

// push gives a block to the engine and returns what became of it.
func (w *world) push(b *block) magazine.Result {
	return w.give(b, w.engine.Push, w.puts)
}

// add gives a fresh block to the engine, as Prewarm does.
func (w *world) add(class uint8) magazine.Result {
	return w.give(w.fresh(class), w.engine.Add, map[uint8]uint64{})
}

func (w *world) give(b *block, to func(uint8, unsafe.Pointer) magazine.Result, count map[uint8]uint64) magazine.Result {
	o := w.call()
	w.history.add(o, pushed, b) // before the Pop that may return it while Add runs
	b.inside, b.kept = true, false
	r := to(b.class, unsafe.Pointer(b))
	w.returned(o)
	if r != magazine.Kept && r != magazine.KeptDirect {
		w.history.drop(o)
		b.inside = false
		w.engine.Gone(b.class, 1)
		return r
	}
	count[b.class]++
	b.kept = b.inside // unless it was popped before Push returned
	w.checkBounds()
	return r
}

// shed releases up to n blocks of a class, as decay does.
func (w *world) shed(class uint8, n int) {
	w.shedBy(n, func(release func(uint8, unsafe.Pointer)) (int, bool) { return w.engine.Shed(class, n, release), false })
}

// shedExact is ShedExact.
func (w *world) shedExact(class uint8, n int) (exact bool) {
	o, shed, exact := w.shedBy(n, func(release func(uint8, unsafe.Pointer)) (int, bool) { return w.engine.ShedExact(class, n, release) })
	if shed < n && exact {
		o.class = class
		w.history.add(o, none, nil)
	}
	return exact
}

func (w *world) shedBy(n int, how func(release func(uint8, unsafe.Pointer)) (int, bool)) (o *operation, reported int, exact bool) {
	o = w.call()
	w.taking += n
	var released []*block
	reported, exact = how(func(_ uint8, p unsafe.Pointer) {
		b := (*block)(p)
		if !b.inside {
			w.run.fail("block %d was shed while it had another owner", b.id)
		}
		b.inside, b.kept = false, false
		released = append(released, b)
	})
	w.taking -= n
	w.returned(o)
	for _, b := range released {
		w.history.add(&operation{called: o.called, returned: o.returned}, popped, b)
	}
	if len(released) != reported || reported > n {
		w.run.fail("Shed(%d) says that it released %d blocks; it was %d", n, reported, len(released))
	}
	return o, reported, exact
}

// trim is Trim.
func (w *world) trim() {
	o := w.call()
	w.taking += many
	var released []*block
	bytes := int64(0)
	reported := w.engine.Trim(func(class uint8, p unsafe.Pointer) {
		b := (*block)(p)
		if !b.inside || b.class != class {
			w.run.fail("block %d was released while it had another owner", b.id)
		}
		b.inside, b.kept = false, false
		released = append(released, b)
		bytes += int64(w.scenario.config.Sizes[class])
	})
	w.taking -= many
	w.returned(o)
	w.history.add(o, trimmed, nil)
	for _, b := range released {
		w.history.add(&operation{called: o.called, returned: o.returned}, popped, b)
	}
	if bytes != reported {
		w.run.fail("Trim says that it released %d bytes; it was %d", reported, bytes)
	}
}

// many is more blocks than there are.
const many = 1000

// checkBounds checks that the blocks that are certainly idle are within the bounds.
// Blocks that a thread is about to take may be out already.
func (w *world) checkBounds() {
	bytes := 0
	idle := map[uint8]int{}
	for _, b := range w.blocks {
		if b.kept {
			idle[b.class]++
			bytes += w.scenario.config.Sizes[b.class]
		}
	}
	for class, n := range idle {
		if limit := w.scenario.config.MaxIdlePerClass; limit > 0 && n-w.taking > limit {
			w.run.fail("class %d has %d blocks idle, at most %d are allowed", class, n, limit)
		}
	}
	most := w.scenario.config.MaxIdleBytes + w.scenario.beyond
	if w.scenario.peak > 0 {
		most = min(most, w.scenario.peak)
	}
	if w.taking == 0 && int64(bytes) > most {
		w.run.fail("%d bytes are idle, at most %d are allowed", bytes, most)
	}
}

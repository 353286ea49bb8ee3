//go:build dewpond_explore

package main

// This file is long because it is a list: what the explorer plays, one entry after the
// other, in the order of what they are about. What the entries do is in operations.go.

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
)

// A scenario is a few threads that use one small engine. Everything in it is
// deterministic but the order in which the threads take their steps.
type scenario struct {
	name    string
	about   string
	config  magazine.Config
	beyond  int64 // bytes that MaxIdleBytes may be exceeded by, after a burst; 0: none
	peak    int64 // bytes of the burst; 0: it does not bound what is idle
	procs   int
	born    int   // GOMAXPROCS when the engine is made, if less than procs
	fresh   bool  // the engine has no shards yet
	places  []int // the P of each thread; nil: each has its own
	timed   bool  // it matters which call returned before which began
	inOrder bool  // waiters are served in order of arrival
	setup   func(w *world)
	threads []func(w *world)
	tier    bool           // the engine has a second tier, and keeps nothing idle
	late    []int          // for so many misses time passes, and a timer runs late; nil: the clock stands still
	after   func(w *world) // checks more in the end
	timers  bool           // what is idle wants a timer
	long    bool           // has too many interleavings to see them all
}

// Magazines of two blocks, and single blocks above the largest that shards keep.
const (
	pairs   = 128 << 10
	singles = 256 << 10
)

func engine(sizes ...int) magazine.Config {
	return magazine.Config{Sizes: sizes, MaxIdleBytes: 16 << 20}
}

func limited(perClass int, sizes ...int) magazine.Config {
	c := engine(sizes...)
	c.MaxIdlePerClass = perClass
	return c
}

// fill puts n blocks into the depot.
func fill(class uint8, n int) func(w *world) {
	return func(w *world) {
		for range n {
			w.add(class)
		}
	}
}

// A Get and a Put, of what was got or of a fresh block.
func getPut(class uint8) func(w *world) {
	return func(w *world) {
		b := w.pop(class)
		if b == nil {
			b = w.fresh(class)
		}
		w.push(b)
	}
}

func pops(class uint8, n int) func(w *world) {
	return func(w *world) {
		for range n {
			w.pop(class)
		}
	}
}

func pushes(class uint8, n int) func(w *world) {
	return func(w *world) {
		for range n {
			w.push(w.fresh(class))
		}
	}
}

func sequence(parts ...func(w *world)) func(w *world) {
	return func(w *world) {
		for _, part := range parts {
			part(w)
		}
	}
}

// burst has n blocks of class 0 out, which the engine had not.
func burst(n int) func(w *world) {
	return func(w *world) { w.engine.Missed(0, n) }
}

func trim(w *world)        { w.trim() }
func enterDirect(w *world) { w.engine.EnterDirect() }
func leaveDirect(w *world) { w.engine.LeaveDirect() }
func exact(w *world)       { w.popExact(0) }
func gather(w *world)      { magazine.Gather([]*magazine.Engine{&w.engine}) }
func clearStale(w *world)  { magazine.ClearStale([]*magazine.Engine{&w.engine}, new(magazine.Stale)) }
func reclaim(w *world)     { w.engine.Reclaim(0) }
func arm(w *world)         { w.engine.Arm() }
func disarm(w *world)      { w.engine.Disarm(func() bool { return false }) }

// unarmed disarms, and armed checks that no fast path finds a shard while the engine is armed.
func unarmed(w *world) { disarm(w); armed(w) }
func armed(w *world) {
	x := w.engine.Enter()
	any := w.engine.Armed() && unsafe.Pointer(w.engine.Slot(x, magazine.OnlySlot)) != w.engine.None()
	x.Exit()
	if any {
		w.run.fail("a fast path finds a shard of an engine that is armed")
	}
}

// These come by the gate.
func closes(w *world)       { w.close() }
func leavesByGate(w *world) { w.gate.LeaveDirectNow() }
func put(w *world)          { w.put(w.fresh(0)) }
func try(w *world)          { w.tryGet(0) }
func letGo(w *world)        { w.letsGo() }
func decay(w *world)        { w.decays(1) }

// await begins to wait for a block, claim for as many bytes, and claimElsewhere does in
// another pool of the Budget. cancels ends the first wait.
func await(w *world)          { w.wait(w.gate, 0, 0) }
func claim(w *world)          { w.wait(w.gate, 0, w.scenario.config.Sizes[0]) }
func claimElsewhere(w *world) { w.wait(w.other, 0, w.scenario.config.Sizes[0]) }
func cancels(w *world)        { w.cancel(w.waits[0]) }

// batch is GetBatch of n blocks of a class, and waitBatch is the part that waits.
func batch(class uint8, n int) func(w *world) { return func(w *world) { w.getBatch(class, n) } }
func waitBatch(class uint8, n int) func(w *world) {
	return func(w *world) { w.waitFor(w.gate, class, n, 0, nil) }
}

// found takes n idle blocks, which brings has a batch for more bring with it.
func found(class uint8, n int) func(w *world) {
	return func(w *world) { w.found = w.find(class, n) }
}
func brings(class uint8, n int) func(w *world) {
	return func(w *world) { w.bring(class, n, w.found) }
}

// waitBatchElsewhere is waitBatch in another pool of the Budget.
func waitBatchElsewhere(n int) func(w *world) {
	return func(w *world) { w.waitFor(w.other, 0, n, 0, nil) }
}

// tryBytes wants as many bytes at once.
func tryBytes(w *world) { w.tryBytes(w.scenario.config.Sizes[0]) }

// allocates takes leave to allocate, and finds no memory.
func allocates(w *world) {
	if w.tryToAllocate(0) {
		w.fails(0)
	}
}

// full says that something is idle in the end.
func full(w *world) {
	for _, b := range w.blocks {
		if b.inside {
			return
		}
	}
	w.run.fail("a pool that was full, and from which no thread took without putting, keeps nothing")
}

func sheds(n int) func(w *world)  { return func(w *world) { w.shed(0, n) } }
func drains(n int) func(w *world) { return func(w *world) { w.shedExact(0, n) } }

// charged has a Budget of n blocks, all of which are charged.
func charged(n int) func(w *world) { return chargedOf(n, n) }

// chargedOf has a Budget of so many blocks, n of which are charged.
func chargedOf(n, limit int) func(w *world) {
	return func(w *world) {
		w.limits(limit*w.scenario.config.Sizes[0], 0)
		w.charge(0, n)
	}
}

// allows has an AllocRate that allows n misses. With none a waiter waits for a block alone:
// this is what every world begins with.
func allows(n int) func(w *world) {
	return func(w *world) {
		w.limits(0, n+1)
		w.tryToAllocate(0)
	}
}

// missed has an AllocRate of n misses, all of which are used up.
func missed(n int) func(w *world) {
	return func(w *world) {
		w.limits(0, n)
		for range n {
			w.tryToAllocate(0)
		}
	}
}

// allowsOne has an AllocRate of one miss, and a Budget of one block, which is charged.
func allowsOne(w *world) {
	w.limits(w.scenario.config.Sizes[0], 1)
	w.charge(0, 1)
}

// spares leaves n empty magazines of each class in the depots, so that no thread needs
// to make one.
func spares(n int) func(w *world) {
	return func(w *world) {
		var all []*block
		for class := range w.scenario.config.Sizes {
			for range n {
				w.add(uint8(class))
			}
			for b := w.pop(uint8(class)); b != nil; b = w.pop(uint8(class)) {
				all = append(all, b)
			}
		}
		w.blocks = w.blocks[:len(w.blocks)-len(all)]
	}
}

// fillTransfer fills the first shard, and its class's transfer cache with a magazine.
func fillTransfer(w *world) { pushes(0, 6)(w) }

// transferable is fillTransfer, and then takes all but what is in the transfer cache.
func transferable(w *world) {
	fillTransfer(w)
	pops(0, 4)(w)
}

var scenarios = []scenario{
	{
		name: "aba", about: "one thread is about to pop a depot's top while the other pops two and puts the first back",
		config: engine(singles), procs: 2, setup: fill(0, 3),
		threads: []func(w *world){
			pops(0, 1),
			func(w *world) { a := w.pop(0); w.pop(0); w.push(a) },
		},
	},
	{
		name: "depot", about: "three threads pop and push single blocks",
		config: engine(singles), procs: 3, setup: fill(0, 2),
		threads: []func(w *world){pops(0, 1), pops(0, 1), pushes(0, 1)},
	},
	{
		name: "exchange", about: "two shards fill and empty magazines through the depot",
		config: engine(pairs), procs: 2, setup: fill(0, 4),
		threads: []func(w *world){
			sequence(pops(0, 5), pushes(0, 1)),
			sequence(pushes(0, 5), pops(0, 1)),
		},
	},
	{
		name: "exchange3", about: "three shards exchange magazines",
		config: engine(pairs), procs: 3, setup: sequence(spares(4), fill(0, 2)),
		threads: []func(w *world){pops(0, 3), pushes(0, 5), pops(0, 1)},
	},
	{
		name: "meet", about: "one shard stores a magazine in the depot while the other fetches one",
		config: engine(pairs), procs: 2, setup: sequence(spares(4), fill(0, 2)),
		threads: []func(w *world){pops(0, 3), pushes(0, 5)},
	},
	{
		name: "overflow", about: "two shards put more than their magazines hold",
		config: engine(pairs), procs: 2,
		long:    true,
		threads: []func(w *world){pushes(0, 5), pushes(0, 5)},
	},
	{
		name: "transfer", about: "a shard exchanges an empty magazine for the full one of a transfer cache, while one without magazines takes it",
		config: engine(pairs), procs: 2, setup: transferable,
		threads: []func(w *world){pops(0, 1), pops(0, 1)},
	},
	{
		name: "transfer-put", about: "a shard leaves a full magazine in a transfer cache while another takes one",
		config: engine(pairs), procs: 2, setup: fillTransfer,
		threads: []func(w *world){pushes(0, 1), pops(0, 1)},
	},
	{
		name: "transfer-return", about: "a thread is about to take a full magazine out of a cell, where another exchanges it and brings it back full",
		config: engine(pairs), procs: 2, setup: transferable,
		threads: []func(w *world){sequence(pops(0, 3), pushes(0, 5)), pops(0, 1)},
	},
	{
		name: "transfer-park", about: "two shards leave a full magazine in a transfer cache that has none",
		config: engine(pairs), procs: 2, setup: spares(6),
		threads: []func(w *world){pushes(0, 5), pushes(0, 5)},
	},
	{
		name: "transfer-left", about: "a full magazine that has been left in a transfer cache comes to the depot while a shard takes it",
		config: engine(pairs), procs: 2, setup: transferable,
		threads: []func(w *world){pops(0, 1), gather},
	},
	{
		name: "transfer-trim", about: "Trim while a shard takes a full magazine out of a transfer cache",
		timed: true, config: engine(pairs), procs: 2, setup: transferable,
		threads: []func(w *world){pops(0, 1), trim},
	},
	{
		name: "transfer-direct", about: "PopExact finds the blocks of a transfer cache",
		timed: true, config: engine(pairs), procs: 2, setup: transferable,
		threads: []func(w *world){pops(0, 1), sequence(enterDirect, exact)},
	},
	{
		name: "stale", about: "slots that were not used since the last collection are cleared while a thread begins to use them",
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 2), clearStale),
		threads: []func(w *world){sequence(getPut(0), pops(0, 1)), sequence(clearStale, clearStale)},
	},
	{
		name: "stale-slow", about: "a slot is cleared while a thread on another P finds nothing, and then puts more than its shard holds",
		config: engine(pairs), procs: 2, places: []int{1, 0}, setup: sequence(pushes(0, 1), clearStale, pops(0, 1), clearStale),
		threads: []func(w *world){sequence(pops(0, 1), pushes(0, 3)), clearStale},
	},
	{
		name: "stale-trim", about: "the same while Trim runs",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(pushes(0, 2), clearStale),
		threads: []func(w *world){trim, sequence(clearStale, clearStale)},
	},
	{
		name: "arm", about: "an engine is armed and disarmed while a thread gets and puts",
		config: engine(pairs), procs: 2, setup: pushes(0, 1), after: armed,
		threads: []func(w *world){sequence(getPut(0), pops(0, 1)), sequence(arm, disarm)},
	},
	{
		name: "arm-stale", about: "slots of an armed engine are cleared while a thread begins to use them",
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 2), clearStale, arm), after: armed,
		threads: []func(w *world){pops(0, 1), sequence(clearStale, clearStale)},
	},
	{
		name: "arm-stale-disarm", about: "an engine is disarmed while its slots are cleared and a thread begins to use them",
		config: engine(pairs), procs: 2, places: []int{0, 1, 1}, setup: sequence(pushes(0, 1), clearStale, pops(0, 1), clearStale, arm), after: armed,
		threads: []func(w *world){pushes(0, 1), clearStale, disarm},
	},
	{
		name: "arm-trim", about: "an armed engine is trimmed",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(pushes(0, 2), arm), after: armed,
		threads: []func(w *world){pops(0, 1), trim},
	},
	{
		name: "arm-in-trim", about: "an engine is armed while it is trimmed",
		timed: true, config: engine(pairs), procs: 2, places: []int{0, 1, 1}, setup: pushes(0, 2), after: armed,
		threads: []func(w *world){pops(0, 1), trim, arm},
	},
	{
		name: "arm-grow", about: "an armed engine gets a P that has no shard, and is disarmed when it has",
		config: engine(pairs), born: 1, procs: 2, setup: arm, after: armed,
		threads: []func(w *world){getPut(0), sequence(getPut(0), disarm)},
	},
	{
		name: "arm-close", about: "an armed engine is closed while a thread gets and puts", timed: true,
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 1), arm), after: armed,
		threads: []func(w *world){getPut(0), closes},
	},
	{
		name: "arm-direct", about: "an armed engine becomes direct, and PopExact finds what is idle", timed: true,
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 2), arm), after: unarmed,
		threads: []func(w *world){pops(0, 1), sequence(enterDirect, exact)},
	},
	{
		name: "arm-shed", about: "decay sheds, and looks for what is stranded, in an engine that is armed meanwhile",
		config: engine(pairs), procs: 2, places: []int{0, 1, 1}, setup: sequence(fill(0, 2), pushes(0, 1)), after: unarmed,
		threads: []func(w *world){getPut(0), func(w *world) { w.shed(0, 2) }, arm},
	},
	{
		name: "reclaim", about: "large blocks are fetched from another shard while that gets and puts",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 2),
		threads: []func(w *world){getPut(0), sequence(reclaim, pops(0, 1))},
	},
	{
		name: "bound", about: "two threads put three where a bound of two has room for one",
		config: limited(2, singles), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){pushes(0, 2), pushes(0, 1)},
	},
	{
		name: "bound3", about: "the same with three threads",
		config: limited(2, singles), procs: 3, setup: fill(0, 1), long: true,
		threads: []func(w *world){pushes(0, 1), pushes(0, 1), pushes(0, 1)},
	},
	{
		name: "bound-pop", about: "the same with a thread that takes first",
		config: limited(2, singles), procs: 3, setup: fill(0, 1), long: true,
		threads: []func(w *world){pushes(0, 1), pushes(0, 1), sequence(pops(0, 1), pushes(0, 1))},
	},
	{
		name: "bound-full", about: "a thread puts where a bound of one has no room, while another takes and puts: one block is kept",
		config: limited(1, singles), procs: 2, setup: fill(0, 1), after: full,
		threads: []func(w *world){pushes(0, 1), getPut(0)},
	},
	{
		name: "bound-full-bytes", about: "the same with a bound in bytes",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, procs: 2, setup: fill(0, 1), after: full,
		threads: []func(w *world){pushes(0, 1), getPut(0)},
	},
	{
		name: "bound-both", about: "the class has room where the bound in bytes has none",
		config: magazine.Config{Sizes: []int{singles, 2 * singles}, MaxIdleBytes: 2 * singles, MaxIdlePerClass: 1}, procs: 2, setup: fill(1, 1),
		threads: []func(w *world){pushes(0, 1), getPut(1)},
	},
	{
		name: "bound-bytes", about: "two classes share a bound in bytes",
		config: magazine.Config{Sizes: []int{singles, 2 * singles}, MaxIdleBytes: 3 * singles}, procs: 2,
		threads: []func(w *world){
			sequence(pushes(0, 1), pushes(1, 1)),
			pushes(1, 1),
		},
	},
	{
		name: "beyond", about: "two threads put back what was out at once, one block more than bound and allowance have room for",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: singles, procs: 2,
		setup:   sequence(burst(3), pushes(0, 1)),
		threads: []func(w *world){pushes(0, 1), pushes(0, 1)}, after: full,
	},
	{
		name: "beyond-more", about: "the same from an empty pool",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: singles, procs: 2, setup: burst(3), after: full, long: true,
		threads: []func(w *world){pushes(0, 2), pushes(0, 1)},
	},
	{
		name: "beyond-peak", about: "two threads put more than was out at once, where the allowance has room for all",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: 8 * singles, peak: 2 * singles, procs: 2,
		setup:   sequence(burst(2), pushes(0, 1)),
		threads: []func(w *world){pushes(0, 1), pushes(0, 1)}, after: full,
	},
	{
		name: "beyond-pop", about: "a thread puts back what is beyond the bound, while another takes and puts",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: singles, procs: 2,
		setup:   sequence(burst(3), pushes(0, 1)),
		threads: []func(w *world){pushes(0, 1), getPut(0)},
	},
	{
		name: "beyond-trim", about: "Trim lets go of what is beyond the bound, while another puts",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: 2 * singles, procs: 2,
		setup:   sequence(burst(3), pushes(0, 1)),
		threads: []func(w *world){pushes(0, 2), trim},
	},
	{
		name: "beyond-shed", about: "decay lets go of what is beyond the bound, while another takes and puts",
		config: magazine.Config{Sizes: []int{singles}, MaxIdleBytes: singles}, beyond: 2 * singles, procs: 2,
		setup:   sequence(burst(3), pushes(0, 2)),
		threads: []func(w *world){pushes(0, 1), sheds(2)},
	},
	{
		name: "trim", about: "Trim drains the shard of a thread that is getting and putting",
		config: engine(pairs), procs: 2, setup: pushes(0, 2),
		threads: []func(w *world){getPut(0), trim},
	},
	{
		name: "trim-more", about: "the same for longer",
		config: engine(pairs), procs: 2, setup: pushes(0, 2), long: true,
		threads: []func(w *world){sequence(getPut(0), getPut(0)), trim},
	},
	{
		name: "trims", about: "two Trims at once drain every block once",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 3),
		threads: []func(w *world){trim, trim},
	},
	{
		name: "trim2", about: "two Trims at once, and a thread that gets and puts",
		config: engine(pairs), procs: 3, setup: pushes(0, 2), long: true,
		threads: []func(w *world){getPut(0), trim, trim},
	},
	{
		name: "trim-pop", about: "a thread takes a magazine from the depot to its shard while Trim empties both",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){pops(0, 1), trim},
	},
	{
		name: "trim-push", about: "a thread unloads its full shard to the depot while Trim empties both",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(spares(2), pushes(0, 4)),
		threads: []func(w *world){pushes(0, 1), trim},
	},
	{
		name: "trim-direct", about: "a thread holds a magazine with old blocks in hand, to add one or to take one, while Trim empties an engine in direct mode",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, spares(2), fill(0, 1)),
		threads: []func(w *world){sequence(pushes(0, 1), pops(0, 1)), trim},
	},
	{
		name: "trim-both", about: "one puts and one gets while Trim empties an engine in direct mode",
		timed: true, config: engine(pairs), procs: 3, setup: sequence(enterDirect, spares(2), fill(0, 2)), long: true,
		threads: []func(w *world){pushes(0, 1), pops(0, 1), trim},
	},
	{
		name: "trim-singles", about: "Trim of single blocks beside a thread that gets and puts",
		timed: true, config: engine(singles), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){sequence(pops(0, 2), pushes(0, 1)), trim},
	},
	{
		name: "trim-aba", about: "a thread is about to pop a depot's top while Trim takes all and the top's index is given out again",
		config: engine(singles), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){pops(0, 1), sequence(trim, pushes(0, 2))},
	},
	{
		name: "trim-depot", about: "Trim frees magazines that another thread is about to pop",
		config: engine(singles), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){getPut(0), trim},
	},
	{
		name: "close", about: "Puts race Close",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){sequence(pushes(0, 2), pops(0, 1)), closes},
	},
	{
		name: "close-empty", about: "Puts race Close of an engine that has no places: what is kept is found",
		timed: true, config: engine(pairs), procs: 2,
		threads: []func(w *world){sequence(pushes(0, 1), pops(0, 1), pushes(0, 1)), closes},
	},
	{
		name: "first", about: "two threads use an engine that has no shards yet",
		timed: true, config: engine(pairs), procs: 2, fresh: true,
		threads: []func(w *world){sequence(pushes(0, 1), pops(0, 1)), pushes(0, 1)},
	},
	{
		name: "trim-idle", about: "Trim does not take an engine for empty in which one block is idle while another comes and goes",
		timed: true, config: engine(pairs), procs: 3, setup: sequence(enterDirect, fill(0, 1)), long: true,
		threads: []func(w *world){pushes(0, 1), pops(0, 1), trim},
	},
	{
		name: "shed-pop", about: "decay turns the depot's stack over and takes the oldest while a thread refills its shard",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 4),
		threads: []func(w *world){sheds(1), pops(0, 2)},
	},
	{
		name: "shed-push", about: "decay beside a thread that adds to a magazine of an engine in direct mode, and takes from it",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, spares(2), fill(0, 1)),
		threads: []func(w *world){sheds(1), sequence(pushes(0, 1), pops(0, 1))},
	},
	{
		name: "shed-exact", about: "ShedExact does not miss a single block while decay reverses the stack",
		timed: true, config: engine(singles, pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){sheds(1), exact},
	},
	{
		name: "shed-trim", about: "decay and Trim at once",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 3),
		threads: []func(w *world){sheds(1), trim},
	},
	{
		name: "shed-close", about: "decay and Close at once",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 3),
		threads: []func(w *world){sheds(1), closes},
	},
	{
		name: "sheds", about: "two threads shed at once",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){sheds(1), sheds(1)},
	},
	{
		name: "drain", about: "ShedExact takes all while a thread holds some of the blocks to take one",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){drains(2), pops(0, 1)},
	},
	{
		name: "drain-push", about: "ShedExact takes all while a thread adds to a magazine and takes from it",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, spares(2), fill(0, 1)), long: true,
		threads: []func(w *world){drains(2), sequence(pushes(0, 1), pops(0, 1))},
	},
	{
		name: "drain-settle", about: "ShedExact while EnterDirect still drains the shards",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){drains(1), enterDirect},
	},
	{
		name: "drain-leave", about: "ShedExact while the engine goes back to its shards and one of them takes a magazine",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){drains(2), sequence(leavesByGate, pops(0, 1))},
	},
	{
		name: "drain-trim", about: "ShedExact while Trim empties an engine in direct mode",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 1)), long: true,
		threads: []func(w *world){drains(1), trim},
	},
	{
		name: "drain-trim1", about: "the same with single blocks",
		timed: true, config: engine(singles), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){drains(2), trim},
	},
	{
		name: "drain-shed", about: "ShedExact while decay reverses the stack and takes the oldest",
		timed: true, config: engine(singles, pairs), procs: 2, setup: sequence(enterDirect, fill(0, 1)),
		threads: []func(w *world){drains(2), sheds(1)},
	},
	{
		name: "drain-close", about: "ShedExact and Close at once",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){drains(2), closes},
	},
	{
		name: "drain-gather", about: "ShedExact of blocks of another P, while decay gathers what Ps have for themselves",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){sequence(enterDirect, drains(2)), gather},
	},
	{
		name: "drain-exact", about: "ShedExact and PopExact do not keep each other from ending",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 1)),
		threads: []func(w *world){drains(2), exact},
	},
	{
		name: "drains", about: "two ShedExacts do not keep each other from ending",
		timed: true, config: engine(pairs), procs: 2, setup: enterDirect,
		threads: []func(w *world){drains(1), drains(1)},
	},
	{
		name: "room", about: "a Put and a waiter that comes for bytes of a Budget do not miss each other",
		config: engine(singles), procs: 2, setup: charged(1),
		threads: []func(w *world){claim, put},
	},
	{
		name: "room-enter", about: "the same, and the Put may reach a shard before they are in direct mode", // 274,483 interleavings
		config: engine(pairs), procs: 2, setup: sequence(spares(1), charged(1)), long: true,
		threads: []func(w *world){claim, put},
	},
	{
		name: "room-direct", about: "the same where they are, with a thread that takes what is idle for a moment",
		config: engine(pairs), procs: 3, setup: sequence(enterDirect, spares(1), charged(1)), long: true,
		threads: []func(w *world){claim, put, func(w *world) {
			if b := w.pop(0); b != nil {
				w.put(b)
			}
		}},
	},
	{
		name: "room-full", about: "a Put that finds the pool full, while a waiter comes for bytes",
		config: magazine.Config{Sizes: []int{singles}}, procs: 2, setup: charged(1),
		threads: []func(w *world){claim, put},
	},
	{
		name: "room-trim", about: "Trim holds the last block while a waiter comes for bytes",
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 1), charged(1)), long: true,
		threads: []func(w *world){claim, letGo},
	},
	{
		name: "room-trim1", about: "the same with a single block",
		config: engine(singles), procs: 2, setup: sequence(fill(0, 1), charged(1)),
		threads: []func(w *world){claim, letGo},
	},
	{
		name: "room-close", about: "the same with Close of another pool of the Budget, and a Put after it",
		config: engine(singles), procs: 2, setup: sequence(fill(0, 1), charged(2), elsewhere),
		threads: []func(w *world){claimElsewhere, sequence(closes, put)},
	},
	{
		name: "room-decay", about: "the same with decay",
		config: engine(singles), procs: 2, setup: sequence(fill(0, 1), charged(1)),
		threads: []func(w *world){claim, decay},
	},
	{
		name: "room-gather", about: "decay moves blocks to the depot while a waiter comes for bytes",
		config: engine(pairs), procs: 2, setup: sequence(pushes(0, 1), charged(1)),
		threads: []func(w *world){claim, gather},
	},
	{
		name: "room-trim2", about: "a waiter waits for bytes, and a Put comes during Trim",
		config: engine(pairs), procs: 2, setup: sequence(enterDirect, spares(1), charged(1)), long: true,
		threads: []func(w *world){sequence(claim, put), letGo},
	},
	{
		name: "room-trims", about: "a waiter comes for bytes and another thread puts during Trim",
		config: engine(pairs), procs: 2, places: []int{0, 1, 0}, setup: sequence(enterDirect, spares(1), charged(1)), long: true,
		threads: []func(w *world){put, claim, letGo},
	},
	{
		name: "room-two", about: "a thread wants bytes at once while a waiter comes for bytes",
		config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 1), charged(1)), long: true, // 116,852 interleavings
		threads: []func(w *world){claim, tryBytes},
	},
	{
		name: "room-late", about: "a Put into a pool that has nothing idle, and a waiter that comes for bytes of another",
		config: engine(pairs), procs: 2, setup: sequence(charged(1), elsewhere),
		threads: []func(w *world){claimElsewhere, put},
	},
	{
		name: "room-look", about: "a thread puts a block and wants its bytes at once, while another wants bytes of the pool, which has nothing idle any more",
		config: engine(singles), procs: 2, setup: sequence(fill(0, 1), charged(1), pops(0, 1)),
		threads: []func(w *world){sequence(put, tryBytes), tryBytes},
		after: func(w *world) {
			for _, b := range w.blocks {
				if b.inside {
					w.run.fail("block %d is idle, and both were refused its bytes", b.id)
				}
			}
		},
	},
	{
		name: "room-charge", about: "a waiter comes for bytes and another thread wants bytes at once; there is enough for both",
		config: engine(singles), procs: 2, setup: sequence(enterDirect, fill(0, 2), charged(2)),
		threads: []func(w *world){claim, tryBytes},
	},
	{
		name: "room-cancel", about: "a waiter for bytes gives up while a block is put back, and another waits behind it",
		config: engine(singles), procs: 2, inOrder: true, setup: sequence(charged(1), claim, claim),
		threads: []func(w *world){cancels, put},
	},
	{
		name: "room-next", about: "a waiter for more bytes than are left gives up while another comes for fewer",
		config: engine(singles), procs: 2, inOrder: true,
		setup: func(w *world) {
			chargedOf(1, 2)(w)
			w.wait(w.gate, 0, 2*singles)
		},
		threads: []func(w *world){cancels, claim},
	},
	{
		name: "tier", about: "a Put into a full pool with a second tier while a waiter comes that has found nothing there",
		config: engine(singles), procs: 2, tier: true,
		threads: []func(w *world){await, put},
	},
	{
		name: "tier-pop", about: "two Gets and a Put into a full pool with a second tier",
		config: engine(singles), procs: 3, tier: true,
		threads: []func(w *world){pops(0, 1), pops(0, 1), put},
	},
	{
		name: "tier-close", about: "the same with Close: the second tier keeps nothing",
		config: engine(singles), procs: 2, tier: true,
		threads: []func(w *world){closes, put},
	},
	{
		name: "turns", about: "a waiter waits for bytes, and a younger waiter comes for the block that is put back",
		config: engine(singles), procs: 2, inOrder: true, setup: sequence(charged(1), claim),
		threads: []func(w *world){await, put},
	},
	{
		name: "turns-limit", about: "a waiter that AllocRate has delayed comes to wait for bytes, of which a younger waiter wants more, while a block is put back",
		config: engine(singles, 2*singles), procs: 2, inOrder: true,
		setup: func(w *world) {
			w.limits(2*singles, 1)
			w.charge(1, 1)
			sequence(await, await)(w)
			w.wait(w.gate, 0, 2*singles)
		},
		threads: []func(w *world){cancels, func(w *world) { w.put(w.fresh(1)) }},
	},
	{
		name: "turns-claim", about: "a block is put back while the claim of another pool's waiter, which is older, is met, and a younger waiter comes that AllocRate delays",
		config: engine(singles), procs: 3,
		setup: func(w *world) {
			w.limits(2*singles, 1)
			w.tryToAllocate(0)
			w.charge(0, 1)
			elsewhere(w)
			claimElsewhere(w)
		},
		threads: []func(w *world){put, await, func(w *world) { w.gaveBack(1) }},
	},
	{
		name: "miss", about: "a waiter comes for AllocRate while another thread, which finds no memory, gives back its miss",
		config: engine(singles), procs: 2, setup: allows(1),
		threads: []func(w *world){await, allocates},
	},
	{
		name: "miss-cancel", about: "a waiter for bytes that has a miss gives up while a block is put back, and another waits for AllocRate",
		config: engine(singles), procs: 2, setup: sequence(allowsOne, await, await),
		threads: []func(w *world){cancels, put},
	},
	{
		name: "cancel", about: "a waiter gives up while a block is put back",
		config: engine(singles), procs: 2, setup: await,
		threads: []func(w *world){cancels, put},
	},
	{
		name: "cancel-next", about: "the same, and another waits behind it",
		config: engine(singles), procs: 2, setup: sequence(await, await),
		threads: []func(w *world){cancels, put},
	},
	{
		name: "close-hand", about: "Close while a block is put back for a waiter",
		config: engine(singles), procs: 2, setup: await,
		threads: []func(w *world){closes, put},
	},
	{
		name: "close-claim", about: "Close while a block is put back, and two wait for bytes in the pool and one in another of the Budget",
		config: engine(singles), procs: 2, setup: sequence(charged(1), elsewhere, claim, claim, claimElsewhere),
		threads: []func(w *world){closes, put},
	},
	{
		name: "batch", about: "two blocks are put back while a caller comes that waits for two",
		config: engine(singles), procs: 2, setup: sequence(enterDirect, missed(2)),
		threads: []func(w *world){waitBatch(0, 2), sequence(put, put)},
	},
	{
		name: "batch-puts", about: "a caller waits for two blocks, which two threads put back",
		config: engine(singles), procs: 2, setup: sequence(missed(2), waitBatch(0, 2)),
		threads: []func(w *world){put, put},
	},
	{
		name: "batch-next", about: "a caller for two blocks and one for one wait, and three blocks are put back",
		config: engine(singles), procs: 2, inOrder: true, setup: sequence(missed(2), waitBatch(0, 2), await),
		threads: []func(w *world){put, sequence(put, put)},
	},
	{
		name: "batches", about: "a caller waits for two blocks, and another comes for two, while blocks are put back",
		config: engine(singles), procs: 2, inOrder: true, setup: sequence(missed(2), waitBatch(0, 2)),
		threads: []func(w *world){waitBatch(0, 2), sequence(put, put)},
	},
	{
		name: "batch-cancel", about: "a caller that has got one block of two gives up while another is put back, and one waits behind it",
		config: engine(singles), procs: 2, setup: sequence(missed(2), waitBatch(0, 2), await, put),
		threads: []func(w *world){cancels, put},
	},
	{
		name: "batch-line", about: "a caller for two blocks leaves the line for AllocRate, which allows one, while another thread, which finds no memory, gives back its miss",
		config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.limits(0, 3)
			w.tryToAllocate(0)
			w.tryToAllocate(0)
			sequence(waitBatch(0, 3), await, await)(w)
		},
		threads: []func(w *world){cancels, func(w *world) { w.fails(0) }},
	},
	{
		name: "batch-limit", about: "a block is put back for a caller that waits for two, while another thread, which finds no memory, gives back a miss",
		config: engine(singles), procs: 2, setup: sequence(missed(2), waitBatch(0, 2), await),
		threads: []func(w *world){put, func(w *world) { w.fails(0) }},
	},
	{
		name: "batch-limit-room", about: "a caller for two blocks waits for bytes and has two misses, while one block is put back and bytes for the other come back; another waits for a miss",
		config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.limits(3*singles, 2)
			w.charge(0, 3)
			sequence(waitBatch(0, 2), await)(w)
		},
		threads: []func(w *world){put, func(w *world) { w.gaveBack(1) }},
	},
	{
		name: "batch-never", about: "a caller wants more blocks at once than AllocRate ever allows, where one is idle, and another caller comes for that",
		config: engine(singles), procs: 2, setup: sequence(enterDirect, missed(1), fill(0, 1)),
		threads: []func(w *world){waitBatch(0, 3), await},
	},
	{
		name: "batch-close", about: "Close while a caller has got one block of two and the other is put back",
		config: engine(singles), procs: 2, setup: sequence(missed(2), waitBatch(0, 2), put),
		threads: []func(w *world){closes, put},
	},
	{
		name: "batch-closes", about: "Close while a caller comes for two blocks and finds one idle",
		config: engine(singles), procs: 2, setup: sequence(missed(2), fill(0, 1)),
		threads: []func(w *world){waitBatch(0, 2), closes},
	},
	{
		name: "batch-room", about: "a caller comes for two blocks of a Budget that has bytes for one, while one is put back",
		config: engine(singles), procs: 2, setup: chargedOf(1, 2),
		threads: []func(w *world){waitBatch(0, 2), put},
	},
	{
		name: "batch-rooms", about: "two callers of two pools of a Budget come for two blocks each, the whole of it, while one of two is put back",
		config: engine(singles), procs: 3, setup: sequence(charged(2), elsewhere),
		threads: []func(w *world){waitBatch(0, 2), waitBatchElsewhere(2), put},
	},
	{
		name: "batch-room-part", about: "a caller has got one block of three of a Budget, and waits for bytes, while bytes for one come back and another caller comes",
		config: engine(singles), procs: 2, inOrder: true, setup: sequence(charged(3), waitBatch(0, 3), put),
		threads: []func(w *world){claim, func(w *world) { w.gaveBack(1) }},
	},
	{
		name: "batch-room-cancel", about: "a caller that has got one block of two gives up while another caller, of another pool of the Budget, comes for bytes",
		config: engine(singles), procs: 2, setup: sequence(charged(2), elsewhere, waitBatch(0, 2), put),
		threads: []func(w *world){cancels, claimElsewhere},
	},
	{
		name: "batch-room-close", about: "Close while a caller has got one block of two, and another, of another pool of the Budget, waits for bytes",
		config: engine(singles), procs: 2, setup: sequence(charged(2), elsewhere, waitBatch(0, 2), put, claimElsewhere),
		threads: []func(w *world){closes, put},
	},
	{
		name: "batch-brings", about: "a caller for two blocks has found one, where another caller, of another pool of the Budget, waits for bytes or comes to",
		config: engine(singles), procs: 2, setup: sequence(chargedOf(2, 2), elsewhere, enterDirect, fill(0, 1)),
		threads: []func(w *world){batch(0, 2), claimElsewhere},
	},
	{
		name: "batch-brings-first", about: "a caller for two blocks has found one, where another caller waits for one or comes to",
		config: engine(singles), procs: 2, setup: sequence(missed(2), enterDirect, fill(0, 1)),
		threads: []func(w *world){batch(0, 2), await},
	},
	{
		name: "batch-brings-late", about: "a caller for four blocks, which has found three, comes to an older one for two, while the timer for the misses of both is late",
		config: engine(singles), procs: 2, late: []int{3}, setup: sequence(missed(4), fill(0, 3), found(0, 3), waitBatch(0, 2)),
		threads: []func(w *world){brings(0, 4)},
	},
	{
		name: "batch-brings-bytes", about: "a caller for four blocks, which has found three, comes to an older one for two, while bytes for three come back",
		config: engine(singles), procs: 2, setup: sequence(charged(6), fill(0, 3), found(0, 3), waitBatch(0, 2)),
		threads: []func(w *world){brings(0, 4), func(w *world) { w.gaveBack(3) }},
	},
	{
		name: "batch-take-back", about: "a waiter that AllocRate has delayed comes to wait for bytes, which a younger caller for two blocks has got as a block, and a third comes",
		config: engine(singles, 2*singles), procs: 2,
		setup: func(w *world) {
			w.limits(4*singles, 2)
			w.tryToAllocate(0)
			w.tryToAllocate(0)
			w.charge(1, 1)
			w.wait(w.gate, 1, 0)
			sequence(waitBatch(0, 2), put)(w)
		},
		threads: []func(w *world){func(w *world) { w.fails(0) }, claim},
	},
	{
		name: "batch-in-line", about: "the same, where AllocRate has not allowed the younger caller enough misses to go without that block",
		config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.limits(3*singles, 2)
			w.tryToAllocate(0)
			w.charge(0, 1)
			missedElsewhere(w)
			w.wait(w.other, 0, 0)
			sequence(waitBatch(0, 2), put)(w)
		},
		threads: []func(w *world){func(w *world) { w.does(nil, func(*operation) { w.other.MissesPass() }) }, claim},
	},
	{
		name: "gather", about: "blocks in shards are moved to the depot, in parts, while their owner gets and puts",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){getPut(0), gather},
	},
	{
		name: "gather-parts", about: "the same with a magazine of several blocks, which another P takes from then",
		timed: true, config: engine(pairs), procs: 2, places: []int{1, 1}, setup: pushes(0, 2),
		threads: []func(w *world){pops(0, 1), gather},
	},
	{
		name: "one-p", about: "two threads on one P, one of which calls Trim",
		config: engine(pairs), procs: 1, places: []int{0, 0}, setup: pushes(0, 2),
		long:    true,
		threads: []func(w *world){getPut(0), sequence(pops(0, 1), trim)},
	},
	{
		name: "grow", about: "a thread on a P that the engine has no shard for, and one that uses the old array",
		config: engine(pairs), procs: 2, born: 1, setup: pushes(0, 2),
		threads: []func(w *world){sequence(getPut(0), getPut(0)), getPut(0)},
	},
	{
		name: "grow2", about: "two threads on Ps that the engine has no shard for",
		config: engine(pairs), procs: 3, born: 1, setup: pushes(0, 1),
		threads: []func(w *world){func(*world) {}, pops(0, 1), pops(0, 1)},
	},
	{
		name: "grow-trim", about: "the same while Trim replaces the array too",
		config: engine(pairs), procs: 3, born: 1, setup: pushes(0, 1), long: true,
		threads: []func(w *world){getPut(0), getPut(0), trim},
	},
	{
		name: "direct", about: "blocks in another shard are found once the engine is in direct mode",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){sequence(enterDirect, exact), pops(0, 1)},
	},
	{
		name: "exact", about: "PopExact does not miss a block that changes its place",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){exact, pops(0, 1)},
	},
	{
		name: "settle", about: "PopExact while EnterDirect still drains the shards",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){exact, enterDirect},
	},
	{
		name: "settle3", about: "the same with a thread that gets and puts",
		config: engine(pairs), procs: 3, setup: pushes(0, 1), long: true,
		threads: []func(w *world){exact, enterDirect, getPut(0)},
	},
	{
		name: "leave-direct", about: "the engine goes back to its shards under two users",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 1)),
		threads: []func(w *world){getPut(0), leaveDirect},
	},
	{
		name: "add", about: "Prewarm and Trim at once",
		timed: true, config: engine(pairs), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){fill(0, 1), trim},
	},
	{
		name: "wake", about: "a Put and a new waiter do not miss each other",
		timed: true, config: engine(singles), procs: 2,
		threads: []func(w *world){await, put},
	},
	{
		name: "wake-pairs", about: "the same, with the blocks in a shard at first",
		timed: true, config: engine(pairs), procs: 2, setup: enterDirect,
		threads: []func(w *world){await, put},
	},
	{
		name: "wake-enter", about: "the same, and the Put may reach a shard before the waiter enters direct mode",
		timed: true, config: engine(pairs), procs: 2, setup: spares(1),
		threads: []func(w *world){await, put},
	},
	{
		name: "wake-full", about: "a Put that finds the pool full, while a waiter comes",
		config: limited(1, singles), procs: 2, setup: sequence(enterDirect, fill(0, 1)),
		threads: []func(w *world){sequence(await, await), put},
	},
	{
		name: "wake-leave", about: "a Put that would end direct mode, while a waiter comes",
		config: engine(pairs), procs: 2, setup: enterDirect,
		threads: []func(w *world){await, sequence(leavesByGate, put)},
	},
	{
		name: "wake-leaves", about: "a Put that has kept its block would end direct mode, while a waiter comes",
		config: engine(pairs), procs: 2, setup: enterDirect,
		threads: []func(w *world){await, leavesByGate},
	},
	{
		name: "wake-trim", about: "Trim takes the block that a new waiter could have",
		timed: true, config: engine(singles), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){await, sequence(trim, put)},
	},
	{
		name: "wake-trim2", about: "a thread puts and then waits, during Trim",
		config: engine(pairs), procs: 2, setup: sequence(enterDirect, spares(2), fill(0, 1)),
		threads: []func(w *world){sequence(put, await), trim},
	},
	{
		name: "wake-trims", about: "a waiter comes and another thread puts during Trim",
		config: engine(pairs), procs: 2, places: []int{0, 1, 0}, setup: sequence(enterDirect, spares(2), fill(0, 1)), long: true,
		threads: []func(w *world){put, await, trim},
	},
	{
		name: "wake-close", about: "Close while a waiter comes",
		config: engine(singles), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){await, closes},
	},
	{
		name: "try", about: "TryGet says that nothing is idle, while a Get takes the idle block",
		timed: true, config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){pops(0, 1), try},
	},
	{
		name: "try-put", about: "TryGet says that nothing is idle, during a Put",
		timed: true, config: engine(pairs), procs: 2, setup: spares(1),
		threads: []func(w *world){pushes(0, 1), try},
	},
	{
		name: "try2", about: "two TryGets and a Get of a block that is idle on another P",
		timed: true, config: engine(pairs), procs: 3, setup: pushes(0, 1), long: true,
		threads: []func(w *world){pops(0, 1), try, try},
	},
	{
		name: "exact-leave", about: "PopExact while the engine goes back to its shards and one of them takes a magazine",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){exact, sequence(leavesByGate, pops(0, 1))},
	},
	{
		name: "exact-trim", about: "PopExact while Trim empties an engine in direct mode",
		timed: true, config: engine(pairs), procs: 2, setup: sequence(enterDirect, fill(0, 2)),
		threads: []func(w *world){exact, trim},
	},
	{
		name: "way", about: "classes of a small shard send each other's magazines to the depots",
		config: magazine.Config{Sizes: []int{pairs - 1024, pairs}, MaxIdleBytes: 4 * 2 * 4 * pairs}, procs: 2, setup: spares(2),
		threads: []func(w *world){sequence(pushes(0, 3), pushes(1, 3)), sequence(pops(0, 1), pops(1, 1))},
	},
	{
		name: "way-trim", about: "the same during Trim",
		config: magazine.Config{Sizes: []int{pairs - 1024, pairs}, MaxIdleBytes: 4 * 2 * 4 * pairs}, procs: 2, setup: sequence(spares(2), pushes(0, 3)),
		threads: []func(w *world){pushes(1, 1), trim},
	},
	{
		name: "wake2", about: "two waiters wait, two blocks are put back",
		config: engine(singles), procs: 3, setup: enterDirect,
		threads: []func(w *world){await, await, sequence(put, put)},
	},
}

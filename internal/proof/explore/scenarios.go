//go:build dewpond_explore

package main

import "github.com/dewpond/dewpond/internal/magazine"

// A scenario is a few threads that use one small engine. Everything in it is
// deterministic but the order in which the threads take their steps.
type scenario struct {
	name    string
	about   string
	config  magazine.Config
	procs   int
	born    int  // GOMAXPROCS when the engine is made, if less than procs
	sharedP bool // all threads run on one P
	setup   func(w *world)
	threads []func(w *world)
	long    bool // takes more than a few seconds
}

// Magazines of two blocks: 64 KiB / 32 KiB. Single blocks above that.
const (
	pairs   = 32 << 10
	singles = 64 << 10
)

func engine(sizes ...int) magazine.Config {
	return magazine.Config{Sizes: sizes, MaxIdleBytes: 64 << 20}
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

func trim(w *world)    { w.engine.Trim(w.release) }
func shut(w *world)    { w.engine.Close(w.release) }
func gather(w *world)  { w.engine.Gather() }
func scatter(w *world) { w.engine.Scatter() }
func await(w *world)   { w.wait(0) }
func put(w *world)     { w.put(w.fresh(0)) }
func exact(w *world)   { w.popExact(0) }

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
		config: engine(pairs), procs: 3, setup: fill(0, 4), long: true,
		threads: []func(w *world){pops(0, 2), pushes(0, 3), getPut(0)},
	},
	{
		name: "overflow", about: "two shards put more than their magazines hold",
		config: engine(pairs), procs: 2,
		threads: []func(w *world){pushes(0, 5), pushes(0, 5)},
	},
	{
		name: "bound", about: "two threads put three where a bound of two has room for one",
		config: limited(2, singles), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){pushes(0, 2), pushes(0, 1)},
	},
	{
		name: "bound3", about: "three threads do",
		config: limited(2, singles), procs: 3, setup: fill(0, 1), long: true,
		threads: []func(w *world){pushes(0, 1), pushes(0, 1), pushes(0, 1)},
	},
	{
		name: "bound-pop", about: "the same with one who takes first",
		config: limited(2, singles), procs: 3, setup: fill(0, 1), long: true,
		threads: []func(w *world){pushes(0, 1), pushes(0, 1), sequence(pops(0, 1), pushes(0, 1))},
	},
	{
		name: "bound-bytes", about: "two classes share a bound in bytes",
		config: magazine.Config{Sizes: []int{singles, 2 * singles}, MaxIdleBytes: 3 * singles}, procs: 2,
		threads: []func(w *world){
			sequence(pushes(0, 1), pushes(1, 1)),
			sequence(pushes(1, 1), pushes(0, 1)),
		},
	},
	{
		name: "trim", about: "Trim drains the shard of a thread that is getting and putting",
		config: engine(pairs), procs: 2, setup: pushes(0, 2),
		threads: []func(w *world){sequence(getPut(0), getPut(0)), trim},
	},
	{
		name: "trims", about: "two Trims at once drain every block once",
		config: engine(pairs), procs: 2, setup: pushes(0, 3),
		threads: []func(w *world){trim, trim},
	},
	{
		name: "trim2", about: "two Trims at once, and a thread that gets and puts",
		config: engine(pairs), procs: 3, setup: pushes(0, 2), long: true,
		threads: []func(w *world){getPut(0), trim, trim},
	},
	{
		name: "trim-depot", about: "Trim frees magazines that another thread is about to pop",
		config: engine(singles), procs: 2, setup: fill(0, 2),
		threads: []func(w *world){getPut(0), trim},
	},
	{
		name: "close", about: "Puts race Close",
		config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){sequence(pushes(0, 2), pops(0, 1)), shut},
	},
	{
		name: "one-p", about: "two threads on one P, and Trim's is one of them",
		config: engine(pairs), procs: 1, sharedP: true, setup: pushes(0, 2),
		threads: []func(w *world){sequence(getPut(0), pushes(0, 1)), sequence(getPut(0), trim)},
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
		name: "gather", about: "blocks in another shard are found once the engine is gathered",
		config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){sequence(gather, exact), pops(0, 1)},
	},
	{
		name: "exact", about: "a block is in nobody's hands unseen while PopExact looks",
		config: engine(pairs), procs: 2, setup: sequence(gather, fill(0, 2)),
		threads: []func(w *world){exact, pops(0, 1)},
	},
	{
		name: "settle", about: "PopExact while Gather still drains the shards",
		config: engine(pairs), procs: 2, setup: pushes(0, 1),
		threads: []func(w *world){exact, gather},
	},
	{
		name: "settle3", about: "the same with a thread that gets and puts",
		config: engine(pairs), procs: 3, setup: pushes(0, 1), long: true,
		threads: []func(w *world){exact, gather, getPut(0)},
	},
	{
		name: "scatter", about: "the engine goes back to its shards under two users",
		config: engine(pairs), procs: 2, setup: sequence(gather, fill(0, 1)),
		threads: []func(w *world){getPut(0), scatter},
	},
	{
		name: "add", about: "Prewarm races Trim",
		config: engine(pairs), procs: 2, setup: fill(0, 1),
		threads: []func(w *world){fill(0, 1), trim},
	},
	{
		name: "wake", about: "a Put and one who begins to wait do not miss each other",
		config: engine(singles), procs: 2,
		threads: []func(w *world){await, put},
	},
	{
		name: "wake-pairs", about: "the same where blocks lie in a shard at first",
		config: engine(pairs), procs: 2, setup: gather,
		threads: []func(w *world){await, put},
	},
	{
		name: "wake2", about: "two wait, two blocks come",
		config: engine(singles), procs: 3, setup: gather, long: true,
		threads: []func(w *world){await, await, sequence(put, put)},
	},
}

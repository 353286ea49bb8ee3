//go:build dewpond_explore && !dewpond_engine

package main

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/hooks"
	"github.com/dewpond/dewpond/internal/memory"
)

// The scenarios of this file run a BytePool, or memory.State beside an engine: lease.go,
// decayer.go and blocks.go as they ship.

// A pooled is what a world has for them.
type pooled struct {
	pool               *dewpond.BytePool
	leases             map[unsafe.Pointer]*owner
	shared, shared2    *owner
	held, held2        []byte
	outside            int // blocks that are out of the pool
	state              *memory.State
	refusals, accepted int
	freed              int
	ticked             []*tickedPool
}

// poolCount gives each pool a name of its own, so that none searches for a free one.
var poolCount int

func (w *world) makePool(o dewpond.BytePoolOptions) {
	poolCount++
	o.Name = fmt.Sprint("explored ", poolCount)
	w.leases = map[unsafe.Pointer]*owner{}
	w.pool = dewpond.MustBytePool(o)
	w.pool.Lease(1).Release()
}

// An owner is one owner of a leased block, with its copies of the Lease.
type owner struct {
	lease    dewpond.Lease
	at       unsafe.Pointer // where the block begins
	group    *int           // owners of the block that have not begun to release
	ended    bool           // a Release has returned nil
	released bool           // a Release has been called
}

// lease makes a Lease and checks that no other owner has the block.
func (w *world) lease(n int) *owner {
	l := w.pool.Lease(n)
	o := &owner{lease: l, group: new(int)}
	o.at = w.address(l)
	*o.group = 1
	if other := w.leases[o.at]; other != nil && *other.group > 0 {
		w.run.fail("a leased block was leased again")
	}
	w.leases[o.at] = o
	return o
}

// leaseOf makes a Lease of a slice that no Get has returned.
func (w *world) leaseOf(b []byte) *owner {
	w.outside--
	o := &owner{lease: w.pool.LeaseOf(b), at: unsafe.Pointer(unsafe.SliceData(b)), group: new(int)}
	*o.group = 1
	return o
}

// use leases a block, reads it and gives it back.
func (w *world) use() {
	o := w.lease(1)
	w.read(o)
	w.release(o)
}

// address returns where the block of a valid lease begins, without an access.
func (w *world) address(l dewpond.Lease) unsafe.Pointer {
	current := w.run.current
	w.run.current = nil // the explorer does not see this access
	defer func() { w.run.current = current }()
	return unsafe.Pointer(unsafe.SliceData(l.Bytes()))
}

// read calls Bytes, on any copy of the lease.
func (w *world) read(o *owner) {
	ended := o.ended
	var at unsafe.Pointer
	if !panics(func() { at = unsafe.Pointer(unsafe.SliceData(o.lease.Bytes())) }) {
		switch {
		case ended:
			w.run.fail("Bytes of a Lease that was released before")
		case at != o.at:
			w.run.fail("Bytes of another owner's block")
		}
		return
	}
	if !o.released {
		w.run.fail("Bytes panicked on a valid Lease")
	}
}

// retain makes another owner, or returns nil.
func (w *world) retain(o *owner) (another *owner) {
	return w.share(o, "Retain", o.at, dewpond.Lease.Retain)
}

// slice makes another owner, of the last byte, or returns nil.
func (w *world) slice(o *owner) (another *owner) {
	return w.share(o, "Slice", unsafe.Add(o.at, o.lease.Len()-1), func(l dewpond.Lease) dewpond.Lease { return l.Slice(l.Len()-1, l.Len()) })
}

// share makes another owner, whose bytes begin at an address, or returns nil.
func (w *world) share(o *owner, method string, at unsafe.Pointer, share func(l dewpond.Lease) dewpond.Lease) (another *owner) {
	ended := o.ended
	if panics(func() { another = &owner{lease: share(o.lease), at: at, group: o.group} }) {
		if !o.released {
			w.run.fail("%s panicked on a valid Lease", method)
		}
		return nil
	}
	if ended {
		w.run.fail("%s of a Lease that was released before", method)
	}
	*o.group++
	if w.address(another.lease) != at {
		w.run.fail("%s has another owner's block", method)
	}
	return another
}

// truncate makes every copy of the lease shorter.
func (w *world) truncate(o *owner) {
	ended := o.ended
	var cut dewpond.Lease
	switch panicked := panics(func() { cut = o.lease.Truncate(1) }); {
	case panicked && !o.released:
		w.run.fail("Truncate panicked on a valid Lease")
	case !panicked && ended:
		w.run.fail("Truncate of a Lease that was released before")
	case !panicked:
		o.lease = cut
	}
}

// release calls Release, on any copy of the lease.
func (w *world) release(o *owner) {
	if o == nil {
		return
	}
	if !o.released {
		o.released = true
		*o.group--
	}
	switch first := hooks.Release(o.lease); {
	case !first:
		w.refusals++
	case o.ended:
		w.run.fail("an owner has released twice")
	default:
		o.ended = true
	}
}

// panics reports whether f panics with a panic of dewpond's.
func panics(f func()) (yes bool) {
	defer func() {
		if e := recover(); e != nil {
			if e == "aborted" {
				panic(e)
			}
			if _, bug := e.(runtime.Error); bug {
				panic(e)
			}
			yes = true
		}
	}()
	f()
	return false
}

// checkPool checks that every block that was got is back once, and that a timer is
// armed that will release what is idle.
func (w *world) checkPool() {
	if w.pool == nil {
		return
	}
	if w.shared != nil {
		w.use() // finds the handles in order
	}
	s := w.pool.Stats()
	if s.Gets != s.Puts-s.Dropped.Double+uint64(w.outside) {
		w.run.fail("%d Gets, %d Puts of which %d were refused, %d blocks are out", s.Gets, s.Puts, s.Dropped.Double, w.outside)
	}
	if w.scenario.timers && s.IdleBytes > 0 && len(w.timers) == 0 {
		w.run.fail("%d bytes are idle and no timer is armed", s.IdleBytes)
	}
	if len(w.timers) > 1 {
		w.run.fail("%d timers are armed", len(w.timers))
	}
	w.pool.Close()
}

// fire calls the function of the pool's timer.
func (w *world) fire() {
	if len(w.timers) > 0 {
		f := w.timers[0]
		w.timers = w.timers[1:]
		f()
	}
}

// whenOut is the word of a block of 64 bytes at address 0, the only one of its table.
var whenOut = memory.WhenOut(0, 64)

// isOut makes a block that is out, with a state that says so.
func isOut(w *world) {
	w.state = new(memory.State)
	w.state.Add(whenOut)
	w.state.Issue(whenOut)
	w.fresh(0)
}

// putBack is a Put of the block, by any holder of its slice.
func (w *world) putBack() {
	b := w.blocks[0]
	if !w.state.Return(whenOut) {
		w.refusals++
		return
	}
	if b.inside {
		w.run.fail("a block was accepted while it was idle")
	}
	w.accepted++
	w.push(b)
}

// removes does what Trim does to a block that it has taken out: the ledger gets it, and
// may make it idle again.
func (w *world) removes() {
	b := w.pop(0)
	if b == nil {
		return
	}
	if !w.state.Remove(whenOut) {
		w.run.fail("a block that came out of the pool was not idle")
		return
	}
	w.state.Add(whenOut)
	w.push(b)
}

// frees is a Free of a block that the pool may not have: an error that the ledger
// counts.
func (w *world) frees() {
	if w.state.Remove(whenOut) {
		if w.accepted == 0 && !w.state.Free(whenOut) {
			w.run.fail("a block that is out was freed")
		}
		w.freed++
	}
}

var poolScenarios = []scenario{
	{
		name: "lease-copies", about: "two copies of a Lease are released at once", config: engine(singles), procs: 2,
		setup: func(w *world) { w.smallPool(); w.shared = w.lease(1) },
		threads: []func(w *world){
			func(w *world) { w.release(w.shared) },
			func(w *world) { w.release(w.shared) },
		},
		after: wantRefusals(1),
	},
	{
		name: "lease-stale", about: "Bytes of a copy while the other is released and the handle has a new lease, of a larger block", config: engine(singles), procs: 2,
		setup: func(w *world) { w.smallPool(); w.shared = w.lease(1) },
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.release(w.lease(100)) },
			func(w *world) { w.read(w.shared); w.release(w.shared) },
		},
		after: wantRefusals(1),
	},
	{
		name: "lease-retain", about: "Retain of a copy while the other is released", config: engine(singles), procs: 2,
		setup: func(w *world) { w.smallPool(); w.shared = w.lease(1) },
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.use() },
			func(w *world) { w.release(w.retain(w.shared)) },
		},
	},
	{
		name: "lease-owners", about: "two owners release at once, one of which was retained", config: engine(singles), procs: 2,
		setup: func(w *world) { w.smallPool(); w.shared = w.lease(1); w.shared2 = w.retain(w.shared) },
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.use() },
			func(w *world) { w.read(w.shared2); w.release(w.shared2) },
		},
	},
	{
		name: "lease-heirs", about: "two retained owners release at once, after the first has", config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.smallPool()
			first := w.lease(1)
			w.shared, w.shared2 = w.retain(first), w.retain(first)
			w.release(first)
		},
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.use() },
			func(w *world) { w.read(w.shared2); w.release(w.shared2) },
		},
	},
	{
		name: "lease-chain", about: "a retained owner retains, while another copy of its Lease is released", config: engine(singles), procs: 1, places: []int{0, 0},
		setup: func(w *world) {
			w.smallPool()
			first := w.lease(1)
			w.shared = w.retain(first)
			w.release(first)
		},
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.use() },
			func(w *world) { w.release(w.retain(w.shared)) },
		},
	},
	{
		name: "lease-part", about: "a Lease of 100 bytes is truncated and a part is cut off it, while another copy is released", config: engine(singles), procs: 2,
		setup: func(w *world) { w.smallPool(); w.shared = w.lease(100) },
		threads: []func(w *world){
			func(w *world) { w.release(w.shared); w.use() },
			func(w *world) { part := w.slice(w.shared); w.truncate(w.shared); w.release(part) },
		},
		after: wantPutsOf(128, 1),
	},
	{
		name: "lease-of", about: "the Lease of a slice that is no block is released, and its handle has a new lease", config: engine(singles), procs: 1, places: []int{0, 0},
		setup: func(w *world) {
			w.smallPool()
			w.shared = w.leaseOf(make([]byte, 1, 200))
		},
		threads: []func(w *world){
			func(w *world) { w.release(w.shared) },
			func(w *world) { w.release(w.leaseOf(make([]byte, 1, 128))) }, // as good as a block
		},
		after: wantPutsOf(128, 1),
	},
	{
		name: "state-returns", about: "two Puts of one block off the heap, and a Trim", config: engine(singles), procs: 3, setup: isOut,
		threads: []func(w *world){(*world).putBack, (*world).putBack, (*world).removes},
		after:   accepted(1),
	},
	{
		name: "state-frees", about: "a Free of a block that is being put back", config: engine(singles), procs: 2, setup: isOut,
		threads: []func(w *world){
			func(w *world) {
				if w.state.Return(whenOut) {
					w.accepted++
				}
			},
			(*world).frees,
		},
		after: accepted(1),
	},
	{
		name: "decay-put", about: "a timer finds the pool empty while a thread puts", config: engine(singles), procs: 2, timers: true,
		setup: func(w *world) { w.decayingPool() },
		threads: []func(w *world){
			func(w *world) { w.pool.Put(w.held); w.outside-- },
			(*world).fire,
		},
	},
	{
		name: "decay-puts", about: "the same with two threads that put", config: engine(singles), procs: 3, timers: true, long: true,
		setup: func(w *world) { w.decayingPool() },
		threads: []func(w *world){
			func(w *world) { w.pool.Put(w.held); w.outside-- },
			func(w *world) { w.pool.Put(w.held2); w.outside-- },
			(*world).fire,
		},
	},
}

func (w *world) smallPool() {
	w.makePool(dewpond.BytePoolOptions{Classes: []int{64, 128}, IdleTimeout: dewpond.NoDecay, Zero: dewpond.ZeroNever})
}

// decayingPool has a timer, nothing idle, and two blocks out. Its blocks and handles
// leave no room in a shard.
func (w *world) decayingPool() {
	w.makePool(dewpond.BytePoolOptions{Classes: []int{singles}, Zero: dewpond.ZeroNever})
	w.pool.Trim()
	w.held, w.held2 = w.pool.Get(1), w.pool.Get(1)
	w.outside = 2
}

// wantPutsOf checks how many blocks of a size have come back.
func wantPutsOf(size int, n uint64) func(w *world) {
	return func(w *world) {
		for _, c := range w.pool.Stats().Classes {
			if c.Size == size && c.Puts != n {
				w.run.fail("%d blocks of %d bytes came back, want %d", c.Puts, size, n)
			}
		}
	}
}

func wantRefusals(n int) func(w *world) {
	return func(w *world) {
		if w.refusals != n {
			w.run.fail("%d calls of Release were refused, want %d", w.refusals, n)
		}
	}
}

func accepted(n int) func(w *world) {
	return func(w *world) {
		if w.accepted != n {
			w.run.fail("%d Puts of one block were accepted, want %d", w.accepted, n)
		}
	}
}

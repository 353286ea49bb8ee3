//go:build dewpond_explore

package main

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A budget is the Budget of a BytePool in small, for a pool of one class: what of
// budget.go and budgetroom.go sees to it that nobody waits in vain. It counts blocks,
// not bytes, and its lock is the queue's, as there.
type budget struct {
	limit, used int
	waiting     int
	claims      int
}

// reserve is account.reserve: one step, for it swaps one word.
func (w *world) reserve() bool {
	b := &w.budget
	atomics.Explore.Access(unsafe.Pointer(&b.used), true)
	if b.used >= b.limit {
		return false
	}
	b.used++
	return true
}

func (w *world) uncharge() {
	atomics.Explore.Access(unsafe.Pointer(&w.budget.used), true)
	w.budget.used--
}

func (w *world) claimed() bool {
	atomics.Explore.Access(unsafe.Pointer(&w.budget.waiting), false)
	return w.budget.waiting > 0
}

func (w *world) claims(n int) {
	atomics.Explore.Access(unsafe.Pointer(&w.budget.waiting), true)
	w.budget.waiting += n
	w.budget.claims += n
}

// claim is Budget.claimLocked, up to where its caller sleeps, of one who is the first.
func (w *world) claim() {
	w.lock()
	defer w.unlock()
	if w.claims(1); w.makeRoomLocked() {
		w.claims(-1)
	}
}

// makeRoom is account.makeRoom.
func (w *world) makeRoom() bool {
	w.lock()
	defer w.unlock()
	return !w.claimed() && w.makeRoomLocked()
}

func (w *world) makeRoomLocked() bool {
	if w.reserve() {
		return true
	}
	w.engine.Gather()
	w.shedExact(0, 1, w.uncharge)
	return w.reserve()
}

// giveBack is BytePool.Put of a block that is charged.
func (w *world) giveBack(b *block) {
	switch w.push(b) {
	case magazine.Kept:
	case magazine.KeptDirect: // BytePool.returned
		if !w.claimed() {
			return
		}
		w.lock()
		defer w.unlock()
		if w.budget.claims > 0 {
			w.shedExact(0, many, w.uncharge)
			w.serveClaimsLocked()
		}
	default:
		w.uncharge()
		w.serveClaims()
	}
}

// serveClaims is account.serve.
func (w *world) serveClaims() {
	if w.claimed() {
		w.lock()
		defer w.unlock()
		w.serveClaimsLocked()
	}
}

func (w *world) serveClaimsLocked() {
	for w.budget.claims > 0 && w.reserve() {
		w.claims(-1)
	}
}

// decays is what decay does to a pool of a Budget, and letsGo what Trim does.
func (w *world) decays(n int) {
	w.shedBy(n, func(release func(uint8, unsafe.Pointer)) (int, bool) { return w.engine.Shed(0, n, release), false }, w.uncharge)
	w.serveClaims()
}

func (w *world) letsGo(how func(func(uint8, unsafe.Pointer)) int64, what op) {
	w.empty(how, what, w.uncharge)
	w.serveClaims()
}

// checkClaims: nobody sleeps while there is room for him or a block that could make
// some, or where a Put would not see him; and what is charged is what there is.
func (w *world) checkClaims(idle int) {
	b := &w.budget
	switch {
	case b.claims == 0:
	case b.used < b.limit:
		w.run.fail("somebody sleeps while %d of %d are charged", b.used, b.limit)
	case idle > 0:
		w.run.fail("somebody sleeps while %d blocks are idle that could be let go", idle)
	case !w.engine.Gathered() && !w.engine.Closed():
		w.run.fail("somebody sleeps while the engine uses its shards")
	}
	if b.used > b.limit {
		w.run.fail("%d are charged of %d", b.used, b.limit)
	}
}

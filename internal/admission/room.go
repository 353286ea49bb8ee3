package admission

import (
	"math"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// Room in a Budget is made by letting idle blocks of its pools go. Those who wait for
// it are served in the order in which they came to any of the pools.
//
// While anybody does, every pool of the Budget is gathered, and nothing is idle in them:
// claimLocked makes it so, and each block that is put back then comes past returned.

// shed lets idle blocks go until n bytes more are within the Budget, and charges them.
// It finds only what lies in depots, and waits for nobody.
func (a *account) shed(n int) (ok bool) {
	b := a.budget
	defer func() { // for those who began to wait while blocks were on their way out
		if asleep := a.serveInReach(); asleep != nil {
			if ok {
				a.uncharge(int64(n))
			}
			panic(b.sleepers.Apart(asleep.gate.name))
		}
	}()
	for b.waiting.Load() == 0 {
		if a.reserve(n) {
			return true
		}
		g, class := b.mostIdle()
		if g == nil || g.shed(class, b.missing(n, g.sizes[class])) == 0 {
			return false
		}
		g.owner.Loosened()
	}
	return false
}

// mostIdle returns which class of which pool has the most bytes in its depot, or nil.
func (b *Budget) mostIdle() (most *Gate, class uint8) {
	var bytes int
	for g := range b.gates() {
		for c, size := range g.sizes {
			if n := g.engine.Deposited(uint8(c)) * size; n > bytes {
				most, class, bytes = g, uint8(c), n
			}
		}
	}
	return most, class
}

// missing returns how many blocks of a size must go before n bytes more are within the
// Budget, at least one.
func (b *Budget) missing(n, size int) int {
	over := int64(n) - b.limit + b.used.Load()
	return int(max(1, min((over+int64(size)-1)/int64(size), math.MaxInt32)))
}

// inReach reports whether n bytes more would be within the Budget if all blocks that lie
// in depots were let go.
func (b *Budget) inReach(n int) bool {
	over := int64(n) - b.limit + b.used.Load()
	for g := range b.gates() {
		for c, size := range g.sizes {
			over -= int64(g.engine.Deposited(uint8(c))) * int64(size)
		}
	}
	return over <= 0
}

// makeRoom is shed, but finds every idle block of every pool. If all together would not
// suffice it lets none go and returns false. That answer is exact for each pool, not for
// one instant across all of them: for each there was a moment during the call at which it
// had no more idle than that, or none.
func (a *account) makeRoom(n int) bool {
	made, panics := false, true
	defer func() {
		if made && panics { // a report of what was found, or a Source's Free
			a.uncharge(int64(n))
			a.serve()
		}
	}()
	a.tryMakeRoom(n, &made)
	panics = false
	return made
}

// tryMakeRoom is makeRoom where made is true also if it panics after that.
func (a *account) tryMakeRoom(n int, made *bool) {
	b := a.budget
	b.mu.Lock()
	defer b.unlock()
	switch {
	case b.waiting.Load() > 0:
		return
	case a.reserve(n):
		*made = true
		return
	}
	b.gatherLocked()
	if b.inReach(n) {
		*made = a.makeRoomLocked(n)
		return
	}
	*made = a.reserve(n) // of what others have let go meanwhile
}

// gatherLocked makes the depots of all pools hold what they have idle.
func (b *Budget) gatherLocked() {
	b.refusedNow()
	for g := range b.gates() {
		g.engine.Gather()
	}
}

// makeRoomLocked lets idle blocks of the pools, which are gathered, go until n bytes
// more are within the Budget, and charges them.
func (a *account) makeRoomLocked(n int) bool {
	b := a.budget
	for g := range b.gates() {
		for class := len(g.sizes) - 1; class >= 0; class-- {
			for g.shedLocked(uint8(class), b.missing(n, g.sizes[class])) {
				if a.reserve(n) {
					return true
				}
			}
		}
	}
	return a.reserve(n) // of what others have let go meanwhile
}

// shedLocked lets up to n blocks of a class go and reports whether there were any. The
// pool is gathered.
func (g *Gate) shedLocked(class uint8, n int) (any bool) {
	shed, _ := g.engine.ShedExact(class, n, g.free(&g.queue.late))
	if shed > 0 {
		g.owner.Loosened()
	}
	return shed > 0
}

// returned comes after a block of a class has become idle in a gathered pool: if somebody
// waits for bytes, it is let go.
func (g *Gate) returned(class uint8) {
	if g.account == nil || g.account.budget.waiting.Load() == 0 {
		return
	}
	b := g.account.budget
	b.mu.Lock()
	defer b.unlock()
	if b.claims.Len() > 0 {
		g.shedLocked(class, many)
		b.mustServeLocked()
	}
}

// serve comes after uncharge: it lets those allocate who wait for bytes. It panics
// where it cannot wake them.
func (a *account) serve() {
	if a == nil || a.budget.waiting.Load() == 0 {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.budget.mustServeLocked()
}

// serveInReach is serve for timers and cleanups, which nobody has called. It returns the
// waiter that must wait for a call from its own bubble, or nil.
func (a *account) serveInReach() (asleep *waiter) {
	if a == nil || a.budget.waiting.Load() == 0 {
		return nil
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.budget.serveLocked()
}

// serveLater is serveInReach for a finalizer, for which all finalizers of the process wait.
func (a *account) serveLater() {
	if a.budget.waiting.Load() > 0 {
		go a.serveInReach()
	}
}

// mustServeLocked is serveLocked for a call, which panics where it cannot wake somebody.
func (b *Budget) mustServeLocked() {
	if asleep := b.serveLocked(); asleep != nil {
		panic(b.sleepers.Apart(asleep.gate.name))
	}
}

// serveLocked lets the first allocate, and the next, as long as there are bytes. It
// returns the waiter that could allocate but cannot be woken from here, or nil.
func (b *Budget) serveLocked() (asleep *waiter) {
	for place := b.claims.Front(); place != nil; place = b.claims.Front() {
		w := place.Value.(*waiter)
		if !w.gate.account.reserve(w.size()) {
			return nil
		}
		if !b.sleepers.InReach() {
			w.gate.account.uncharge(int64(w.size()))
			return w
		}
		w.allowLocked()
	}
	return nil
}

// claimLocked makes a waiter wait for bytes too: AllocLimit has allowed it a miss, or it
// wants more than any class. None waits for more than the limit: GetContext has refused
// that.
func (b *Budget) claimLocked(w *waiter) {
	w.claim = b.claims.PushBack(w)
	for place := w.claim.Prev(); place != nil && place.Value.(*waiter).turn > w.turn; place = w.claim.Prev() {
		b.claims.MoveBefore(w.claim, place) // this one came before and was delayed by AllocLimit
	}
	if b.waiting.Add(1) > 1 {
		b.serveLocked() // nothing is idle, but who is first now may want no more than is left
		return
	}
	a := w.gate.account
	if !a.reserve(w.size()) {
		b.gatherLocked()
		if !a.makeRoomLocked(w.size()) {
			return
		}
	}
	w.allowLocked()
}

// claimsLocked reports whether somebody waits for bytes for the pool.
func (a *account) claimsLocked(g *Gate) bool {
	if a != nil {
		for place := a.budget.claims.Front(); place != nil; place = place.Next() {
			if place.Value.(*waiter).gate == g {
				return true
			}
		}
	}
	return false
}

// endClaimsLocked ends with ErrClosed the waits for bytes of a pool that is closed.
func (b *Budget) endClaimsLocked(g *Gate) {
	for place := b.claims.Front(); place != nil; {
		w := place.Value.(*waiter)
		if place = place.Next(); w.gate == g {
			w.closeLocked()
		}
	}
}

// turnLocked returns the turn of a waiter that begins to wait.
func (a *account) turnLocked() uint64 {
	if a == nil {
		return 0
	}
	a.budget.turn++
	return a.budget.turn
}

// olderLocked reports whether somebody waits for bytes who came before a waiter.
func (a *account) olderLocked(w *waiter) bool {
	if a == nil {
		return false
	}
	first := a.budget.claims.Front()
	return first != nil && first.Value.(*waiter).turn < w.turn
}

// refusedNow notes a refusal.
func (b *Budget) refusedNow() { b.refusal.Store(bubble.StampOf(atomics.Now())) }

// mayScatter reports whether a pool of the Budget may use its shards again. The lock
// is held.
func (a *account) mayScatter() bool {
	return a == nil || a.budget.waiting.Load() == 0 && bubble.Since(a.budget.refusal.Load(), atomics.Now()) >= scatterAfter
}

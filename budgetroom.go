package dewpond

import (
	"math"
	"time"
)

// Room in a Budget is made by letting idle blocks of its pools go. Those who wait for
// it are served in the order in which they came to any of the pools.
//
// While anybody does, every pool of the budget is gathered, and nothing is idle in
// them: who begins to wait makes it so (makeRoomLocked), and each block that is put
// back then comes past returned. A Put that ended before it could see a waiter has
// left its block where the one who begins to wait finds it, for he counts himself
// first and looks second, and Put does both the other way round. It is the same with
// uncharge, after which serve looks whether somebody waits.

// shed lets idle blocks go until n bytes more are within the budget, and charges them.
// It finds only what lies in depots, and waits for nobody.
func (a *account) shed(n int) bool {
	b := a.budget
	defer a.serve() // those who began to wait while we had blocks in hand
	for b.waiting.Load() == 0 {
		if a.reserve(n) {
			return true
		}
		p, class := b.mostIdle()
		if p == nil {
			return false
		}
		shed := p.engine.Shed(class, b.missing(n, p.classes.Size(class)), p.free)
		if shed == 0 {
			return false
		}
		p.decay.freed()
	}
	return false
}

// mostIdle returns which class of which pool has the most bytes in its depot, or nil.
func (b *Budget) mostIdle() (most *BytePool, class uint8) {
	var bytes int
	for _, m := range *b.members.Load() {
		p := m.pool.Value()
		if p == nil {
			continue
		}
		for c := range p.classes.Len() {
			if n := p.engine.Deposited(uint8(c)) * p.classes.Size(uint8(c)); n > bytes {
				most, class, bytes = p, uint8(c), n
			}
		}
	}
	return most, class
}

// missing returns how many blocks of a size must go before n bytes more are within the
// budget, at least one.
func (b *Budget) missing(n, size int) int {
	over := b.used.Load() + int64(n) - b.limit
	return int(max(1, min((over+int64(size)-1)/int64(size), math.MaxInt32)))
}

// inReach reports whether n bytes more would be within the budget if all blocks were
// let go that lie in depots.
func (b *Budget) inReach(n int) bool {
	over := b.used.Load() + int64(n) - b.limit
	for _, m := range *b.members.Load() {
		p := m.pool.Value()
		if p == nil {
			continue
		}
		for c := range p.classes.Len() {
			over -= int64(p.engine.Deposited(uint8(c))) * int64(p.classes.Size(uint8(c)))
		}
	}
	return over <= 0
}

// makeRoom is shed, but finds every idle block of every pool, and lets none go where
// all together would not do. Where it returns false there was for each pool a moment
// during the call at which it had no more idle than that, or none.
func (a *account) makeRoom(n int) bool {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.waiting.Load() > 0:
		return false
	case a.reserve(n):
		return true
	}
	b.gatherLocked()
	if b.inReach(n) {
		return a.makeRoomLocked(n)
	}
	return a.reserve(n) // of what others have let go meanwhile
}

// gatherLocked makes the depots of all pools hold what they have idle.
func (b *Budget) gatherLocked() {
	b.refusedNow()
	for _, m := range *b.members.Load() {
		if p := m.pool.Value(); p != nil {
			p.engine.Gather()
		}
	}
}

// makeRoomLocked lets idle blocks of the pools, which are gathered, go until n bytes
// more are within the budget, and charges them.
func (a *account) makeRoomLocked(n int) bool {
	b := a.budget
	for _, m := range *b.members.Load() {
		p := m.pool.Value()
		if p == nil {
			continue
		}
		for class := p.classes.Len() - 1; class >= 0; class-- {
			for p.shedLocked(uint8(class), b.missing(n, p.classes.Size(uint8(class)))) {
				if a.reserve(n) {
					return true
				}
			}
		}
	}
	return a.reserve(n) // of what others have let go meanwhile
}

// returned is called after a block of a class has become idle in a gathered pool.
func (p *BytePool) returned(class uint8) {
	if p.account == nil || p.account.budget.waiting.Load() == 0 {
		return
	}
	b := p.account.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claims.Len() > 0 {
		p.shedLocked(class, math.MaxInt)
		b.serveLocked()
	}
}

// shedLocked lets up to n blocks of a class go and reports whether there were any. The
// pool is gathered.
func (p *BytePool) shedLocked(class uint8, n int) (any bool) {
	shed, _ := p.engine.ShedExact(class, n, p.free)
	if shed > 0 {
		p.decay.freed()
	}
	return shed > 0
}

// serve is called after uncharge: it lets those allocate who wait for bytes.
func (a *account) serve() {
	if a == nil || a.budget.waiting.Load() == 0 {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.budget.serveLocked()
}

// serveLocked lets the first allocate, and the next, as long as there are bytes. Who
// waits in a bubble of testing/synctest cannot be woken by a cleanup or timer from
// outside of it: he waits until somebody inside gives back.
func (b *Budget) serveLocked() {
	for place := b.claims.Front(); place != nil; place = b.claims.Front() {
		w := place.Value.(*waiter)
		if w.bubble && !inBubble(time.Now()) || !w.pool.account.reserve(w.size()) {
			return
		}
		w.removeLocked()
		w.grant <- grant{}
	}
}

// claimLocked makes a waiter, to whom AllocLimit has allowed a miss, wait for bytes
// too. Nobody can wait in vain for more than the limit: GetContext has refused that.
func (b *Budget) claimLocked(w *waiter) {
	w.claim = b.claims.PushBack(w)
	for place := w.claim.Prev(); place != nil && place.Value.(*waiter).turn > w.turn; place = w.claim.Prev() {
		b.claims.MoveBefore(w.claim, place) // AllocLimit has delayed him who came before
	}
	if b.waiting.Add(1) > 1 {
		b.serveLocked() // nothing is idle, but who is first now may want no more than is left
		return
	}
	a := w.pool.account
	if !a.reserve(w.size()) {
		b.gatherLocked()
		if !a.makeRoomLocked(w.size()) {
			return
		}
	}
	w.removeLocked()
	w.grant <- grant{}
}

// turnLocked returns the turn of who begins to wait.
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
func (b *Budget) refusedNow() { b.refusal.Store(int64(time.Since(b.start))) }

// mayScatter reports whether a pool of the budget may use its shards again. The lock
// is held.
func (a *account) mayScatter() bool {
	return a == nil || a.budget.waiting.Load() == 0 &&
		time.Since(a.budget.start)-time.Duration(a.budget.refusal.Load()) >= scatterAfter
}

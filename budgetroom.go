package dewpond

import (
	"math"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/late"
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
func (a *account) shed(n int) (ok bool) {
	b := a.budget
	defer func() { // for those who began to wait while we had blocks in hand
		if asleep := a.serveInReach(); asleep != nil {
			if ok {
				a.uncharge(int64(n))
			}
			panic(b.sleepers.Apart(asleep.pool.name))
		}
	}()
	for b.waiting.Load() == 0 {
		if a.reserve(n) {
			return true
		}
		p, class := b.mostIdle()
		if p == nil {
			return false
		}
		if p.shed(class, b.missing(n, p.classes.Size(class))) == 0 {
			return false
		}
		p.decay.Loosened()
	}
	return false
}

// shed lets go of up to n blocks of a class that lie in the depot, and returns how many
// those were. Whoever calls it calls p.account.serve afterwards.
func (p *BytePool) shed(class uint8, n int) int {
	var l late.List
	defer l.End()
	return p.engine.Shed(class, n, p.free(&l))
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
	over := int64(n) - b.limit + b.used.Load()
	return int(max(1, min((over+int64(size)-1)/int64(size), math.MaxInt32)))
}

// inReach reports whether n bytes more would be within the budget if all blocks were
// let go that lie in depots.
func (b *Budget) inReach(n int) bool {
	over := int64(n) - b.limit + b.used.Load()
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

// unlock unlocks mu, and then reports what has come up under it, which may panic.
func (b *Budget) unlock() {
	l := b.late
	b.late = late.List{}
	b.mu.Unlock()
	l.End()
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
	defer b.unlock()
	if b.claims.Len() > 0 {
		p.shedLocked(class, math.MaxInt)
		b.mustServeLocked()
	}
}

// shedLocked lets up to n blocks of a class go and reports whether there were any. The
// pool is gathered.
func (p *BytePool) shedLocked(class uint8, n int) (any bool) {
	shed, _ := p.engine.ShedExact(class, n, p.free(p.lateLocked()))
	if shed > 0 {
		p.decay.Loosened()
	}
	return shed > 0
}

// serve is called after uncharge: it lets those allocate who wait for bytes. It panics
// where it cannot wake them.
func (a *account) serve() {
	if a == nil || a.budget.waiting.Load() == 0 {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.budget.mustServeLocked()
}

// serveInReach is serve for timers and cleanups, which nobody has called. It returns who
// has to wait until somebody in its own bubble gives back, or nil.
func (a *account) serveInReach() (asleep *waiter) {
	if a == nil || a.budget.waiting.Load() == 0 {
		return nil
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.budget.serveLocked()
}

// mustServeLocked is serveLocked for a call, which panics where it cannot wake somebody.
func (b *Budget) mustServeLocked() {
	if asleep := b.serveLocked(); asleep != nil {
		panic(b.sleepers.Apart(asleep.pool.name))
	}
}

// serveLocked lets the first allocate, and the next, as long as there are bytes. It
// returns who could allocate but cannot be woken from here, or nil.
func (b *Budget) serveLocked() (asleep *waiter) {
	for place := b.claims.Front(); place != nil; place = b.claims.Front() {
		w := place.Value.(*waiter)
		if !w.pool.account.reserve(w.size()) {
			return nil
		}
		if !b.sleepers.InReach() {
			w.pool.account.uncharge(int64(w.size()))
			return w
		}
		w.removeLocked()
		w.grant <- grant{}
	}
	return nil
}

// claimLocked makes a waiter, to whom AllocLimit has allowed a miss, or that wants more
// than any class, wait for bytes too. Nobody can wait in vain for more than the limit: GetContext has refused that.
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

// claimsLocked reports whether somebody waits for bytes for the pool.
func (a *account) claimsLocked(p *BytePool) bool {
	if a != nil {
		for place := a.budget.claims.Front(); place != nil; place = place.Next() {
			if place.Value.(*waiter).pool == p {
				return true
			}
		}
	}
	return false
}

// endClaimsLocked ends with ErrClosed the waits for bytes of a pool that is closed.
func (b *Budget) endClaimsLocked(p *BytePool) {
	for place := b.claims.Front(); place != nil; {
		w := place.Value.(*waiter)
		if place = place.Next(); w.pool == p {
			w.removeLocked()
			w.grant <- grant{err: ErrClosed}
		}
	}
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
func (b *Budget) refusedNow() { b.refusal.Store(bubble.StampOf(time.Now())) }

// mayScatter reports whether a pool of the budget may use its shards again. The lock
// is held.
func (a *account) mayScatter() bool {
	return a == nil || a.budget.waiting.Load() == 0 &&
		bubble.Since(a.budget.refusal.Load(), time.Now()) >= scatterAfter
}

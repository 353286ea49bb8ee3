package admission

import (
	"math"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// Room in a Budget is made by freeing idle blocks of its pools. Waiters for bytes are served
// in the order in which they began to wait for any of the pools.
//
// While there are waiters for bytes, nothing is idle in any pool of the Budget: claimLocked ensures
// it, and each block that is put back after that passes returned. Both put a pool that has
// something idle in direct mode.

// makeRoomInDepots frees idle blocks until n more bytes are within the Budget, and charges
// them. It finds only blocks in depots, and does not block.
func (a *account) makeRoomInDepots(n int) (ok bool) {
	b := a.budget
	defer func() { // for waiters that came while blocks were being freed
		if asleep := a.grantBytesInReach(); asleep != nil && !asleep.gate.bury() {
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
		if g == nil || g.shedInDepot(class, b.missing(n, g.sizes[class])) == 0 {
			return false
		}
		g.owner.Loosened()
	}
	return false
}

// mostIdle returns the pool and the class with the most bytes in the depot, or nil.
func (b *Budget) mostIdle() (most *Gate, class uint8) {
	var bytes int
	for _, g := range b.members.holding() {
		for c, size := range g.sizes {
			if n := g.engine.Deposited(uint8(c)) * size; n > bytes {
				most, class, bytes = g, uint8(c), n
			}
		}
	}
	return most, class
}

// missing returns how many blocks of a size must be freed before n more bytes are within the
// Budget, at least one.
func (b *Budget) missing(n, size int) int {
	over := int64(n) - b.limit + b.used.Load()
	return int(max(1, min((over+int64(size)-1)/int64(size), math.MaxInt32)))
}

// inReach reports whether n more bytes would be within the Budget if all blocks in depots
// were freed.
func (b *Budget) inReach(n int) bool {
	return int64(n) <= b.limit-b.used.Load()+b.members.deposited()
}

// makeRoom is makeRoomInDepots for every idle block of every pool, also those in shards. If all idle
// blocks together would not suffice, it frees none and returns false. That answer is exact
// for each pool, not for one instant across pools: for each pool there was a moment during
// the call at which it had no more idle blocks than makeRoom found.
func (a *account) makeRoom(n int) bool {
	charged, panics := false, true
	defer func() {
		if charged && panics { // a report of what was found, or an Allocator's Free
			a.uncharge(int64(n))
			a.grantBytes()
		}
	}()
	a.tryMakeRoom(n, &charged)
	panics = false
	return charged
}

// tryMakeRoom is makeRoom that sets charged even if it panics after it has charged.
func (a *account) tryMakeRoom(n int, charged *bool) {
	b := a.budget
	before := b.short.Load()
	b.mu.Lock()
	defer b.unlock()
	switch {
	case b.waiting.Load() > 0:
		return
	case a.reserve(n):
		*charged = true
		return
	case b.short.Load() != before && int64(n) >= b.room: // all of another look came during this call
		return
	}
	b.enterDirectLocked()
	if b.inReach(n) {
		*charged = a.makeRoomLocked(n)
		return
	}
	if *charged = a.reserve(n); !*charged { // what other goroutines have freed meanwhile may suffice
		b.room = int64(n)
		b.short.Add(1)
	}
}

// enterDirectLocked moves the idle blocks of all pools into their depots.
func (b *Budget) enterDirectLocked() {
	b.refusedNow()
	b.members.enterDirect()
}

// makeRoomLocked frees idle blocks of the pools, which are in direct mode, until n more bytes are
// within the Budget, and charges them.
func (a *account) makeRoomLocked(n int) bool {
	b := a.budget
	for _, g := range b.members.holding() {
		for class := len(g.sizes) - 1; class >= 0; class-- {
			for g.shedLocked(uint8(class), b.missing(n, g.sizes[class])) {
				if a.reserve(n) {
					return true
				}
			}
		}
	}
	return a.reserve(n) // what other goroutines have freed meanwhile may suffice
}

// shedLocked frees up to n blocks of a class and reports whether it freed any. The pool is
// in direct mode.
func (g *Gate) shedLocked(class uint8, n int) (any bool) {
	shed, _ := g.engine.ShedExact(class, n, g.free(&g.queue.late))
	if shed > 0 {
		g.owner.Loosened()
	}
	return shed > 0
}

// returned comes after a block has become idle in the pool. If there are waiters for bytes, it frees
// the block. They may have come while the pool had nothing idle, and then it is not in direct
// mode.
func (g *Gate) returned() {
	if g.account == nil || g.account.budget.waiting.Load() == 0 {
		return
	}
	b := g.account.budget
	b.mu.Lock()
	defer b.unlock()
	if b.claims.Len() > 0 && g.engine.EnterDirect() {
		for class := range g.sizes {
			g.shedLocked(uint8(class), many)
		}
		b.mustGrantBytesLocked()
	}
}

// grantBytes comes after uncharge: it lets waiters for bytes allocate. It panics if it cannot
// wake them.
func (a *account) grantBytes() {
	if a == nil || a.budget.waiting.Load() == 0 {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	a.budget.mustGrantBytesLocked()
}

// grantBytesInReach is grantBytes for timers and cleanups, where a panic would reach no caller.
// It returns the waiter that must wait for a call from its own bubble, or nil.
func (a *account) grantBytesInReach() (asleep *waiter) {
	if a == nil || a.budget.waiting.Load() == 0 {
		return nil
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	return a.budget.grantBytesLocked()
}

// grantBytesLater is grantBytesInReach for a finalizer. It does not block, because all
// finalizers of the process run one after the other. One collection may find very many blocks,
// so it starts a goroutine only where the lock is held, and one for all that come meanwhile.
func (a *account) grantBytesLater() {
	b := a.budget
	if b.waiting.Load() == 0 {
		return
	}
	if b.mu.TryLock() {
		defer b.mu.Unlock()
		b.grantBytesLocked()
		return
	}
	if !b.granting.Swap(true) {
		go func() {
			b.granting.Store(false) // before it looks: what is uncharged from now on starts another
			a.grantBytesInReach()
		}()
	}
}

// mustGrantBytesLocked is grantBytesLocked for a call: it panics if it cannot wake a waiter.
func (b *Budget) mustGrantBytesLocked() {
	if asleep := b.grantBytesLocked(); asleep != nil && !asleep.gate.buryLocked() {
		panic(b.sleepers.Apart(asleep.gate.name))
	}
}

// grantBytesLocked lets waiters for bytes allocate, oldest first, as long as there are bytes. It
// returns the waiter that could allocate but cannot be woken by the caller, or nil.
func (b *Budget) grantBytesLocked() (asleep *waiter) {
	for w := b.firstClaim(); w != nil; w = b.firstClaim() {
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

// firstClaim returns the oldest waiter for bytes, or nil.
func (b *Budget) firstClaim() *waiter {
	if place := b.claims.Front(); place != nil {
		return place.Value.(*waiter)
	}
	return nil
}

// claimLocked makes a waiter wait for bytes: AllocRate has allowed it a miss, or it wants
// more than any class holds. No waiter wants more than the limit: GetContext refuses that.
func (b *Budget) claimLocked(w *waiter) {
	w.claim = b.claims.PushBack(w)
	for place := w.claim.Prev(); place != nil && place.Value.(*waiter).turn > w.turn; place = w.claim.Prev() {
		b.claims.MoveBefore(w.claim, place) // this one came before and was delayed by AllocRate
	}
	if b.waiting.Add(1) > 1 {
		b.grantBytesLocked() // nothing is idle, but the first waiter may now want no more than is left
		if b.firstClaim() == w {
			b.takeBackLocked(w)
		}
		return
	}
	a := w.gate.account
	if !a.reserve(w.size()) {
		b.enterDirectLocked()
		if !a.makeRoomLocked(w.size()) {
			b.takeBackLocked(w)
			return
		}
	}
	w.allowLocked()
}

// takeBackLocked frees what younger waiters have been given while w had no claim, so that no
// waiter for bytes waits for a waiter behind it. Only the first of a class has been given any. What
// is freed may serve w at once: then the others keep what they have.
func (b *Budget) takeBackLocked(w *waiter) {
	if b.turn == w.turn {
		return // nobody is younger
	}
	any := false
	for _, g := range b.members.all() {
		for class := range g.sizes {
			younger := g.queue.firstOf(uint8(class))
			if younger == nil || younger.turn <= w.turn || b.firstClaim() != w {
				continue
			}
			for block := younger.takeBlock(); block != nil; block = younger.takeBlock() {
				g.counters.At(uint8(class)).puts.Add(1)
				g.dropFullLocked(uint8(class), block)
				any = true
			}
			younger.backInLineLocked()
		}
	}
	if any {
		b.grantBytesLocked()
	}
}

// claimsLocked reports whether a waiter of the pool waits for bytes.
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

// endClaimsLocked ends the waits for bytes of a closed pool with ErrClosed.
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

// olderLocked reports whether a waiter for bytes came before w.
func (a *account) olderLocked(w *waiter) bool {
	if a == nil {
		return false
	}
	first := a.budget.firstClaim()
	return first != nil && first.turn < w.turn
}

// refusedNow records the time of a refusal.
func (b *Budget) refusedNow() { b.refusal.Store(bubble.StampOf(atomics.Now())) }

// mayLeaveDirect reports whether a pool of the Budget may use its shards again. The caller holds
// the lock.
func (a *account) mayLeaveDirect() bool {
	return a == nil || a.budget.waiting.Load() == 0 && bubble.Since(a.budget.refusal.Load(), atomics.Now()) >= directFor
}

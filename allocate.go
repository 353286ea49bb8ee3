package dewpond

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
)

// classFor returns the class of a size that a caller asked for, or false for one
// above the largest.
func (p *BytePool) classFor(method string, n int) (class uint8, ok bool) {
	if n < 0 {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative", method, n, p.name))
	}
	return p.classes.Class(n)
}

// allocate makes a fresh block for a caller, a miss. See fresh.
func (p *BytePool) allocate(class uint8) ([]byte, error) {
	b, err := p.fresh(class)
	if err == nil {
		p.missed(class, b)
	}
	return b, err
}

// missed makes a fresh block the caller's.
func (p *BytePool) missed(class uint8, b []byte) {
	p.count.class[class].misses.Add(1)
	p.watch(b)
	p.note(b)
}

// allocateAllowed is allocate where AllocLimit has allowed a miss. Where there is no
// block that was none: the next who asks, or who waits already, may allocate in its
// stead.
func (p *BytePool) allocateAllowed(class uint8) (b []byte, err error) {
	defer func() { // also if the Source panics
		if b == nil {
			p.returnMiss()
		}
	}()
	if b, err = p.fresh(class); err == nil {
		p.missed(class, b)
	}
	return b, err
}

// fresh makes a block that is all zero, with which the Budget was charged. Where the
// Source has none the Budget gets its bytes back.
func (p *BytePool) fresh(class uint8) (b []byte, err error) {
	size := p.classes.Size(class)
	if p.source == nil {
		b = make([]byte, size)
		p.account.hold(class, b)
		return b, nil
	}
	defer func() { // also if the Source panics
		if b == nil {
			p.uncharge(class)
		}
	}()
	b, err = p.source.Alloc(size)
	switch {
	case err != nil && p.engine.Closed(): // Close ends the Source after the engine
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("dewpond: a block of %d bytes for pool %q: %w", size, p.name, err)
	}
	return b, nil
}

// oversize makes a slice that no class holds for Get, which the Budget does not refuse.
func (p *BytePool) oversize(n int) []byte {
	b := make([]byte, n) // or panics, before anything is counted
	if p.account != nil {
		if !p.chargeBytes(n, true) {
			p.account.chargeAnyway(n)
			p.count.overBudget.Add(1)
		}
		p.account.holdLarge(b)
	}
	p.count.oversize.Add(1)
	return b
}

// tryOversize is oversize where the Budget, if there is one, has room for it.
func (p *BytePool) tryOversize(n int) ([]byte, error) {
	switch {
	case p.account == nil:
		return p.oversize(n), nil
	case p.chargeBytes(n, false) || p.account.makeRoom(n):
		return p.chargedOversize(n), nil
	}
	return nil, ErrExhausted
}

// chargedOversize is oversize where the Budget was charged.
func (p *BytePool) chargedOversize(n int) (b []byte) {
	defer func() {
		if b == nil { // no machine has as much, and make panics
			p.account.uncharge(int64(n))
			p.account.serve()
		}
	}()
	b = make([]byte, n)
	p.account.holdLarge(b)
	p.count.oversize.Add(1)
	return b
}

// takeMiss reports whether AllocLimit allows a miss now, and takes it from what is
// left. While somebody waits for one, what is left is his.
func (p *BytePool) takeMiss() bool {
	return p.limiter.unlimited() || p.queue.waiting.Load() == 0 && p.limiter.allow()
}

// returnMiss gives back what takeMiss or a grant has allowed, to those who wait first.
func (p *BytePool) returnMiss() {
	if p.limiter.unlimited() {
		return
	}
	p.limiter.restore(bubble.Of(time.Now()))
	p.queue.mu.Lock()
	defer p.unlock()
	p.allowLocked()
}

// charge reports whether the Budget, if there is one, has room for a block of the
// class, and takes it. It lets other blocks go for that where it finds them at once.
// Get lets them go also where that is not enough, to go past the Budget by less.
func (p *BytePool) charge(class uint8, get bool) bool {
	return p.account == nil || p.chargeBytes(p.classes.Size(class), get)
}

// chargeBytes is charge for any size, where there is a Budget.
func (p *BytePool) chargeBytes(n int, get bool) bool {
	return p.account.charge(n) || (get || p.account.budget.inReach(n)) && p.account.shed(n)
}

// uncharge gives back what charge or a grant has taken, to those who wait first.
func (p *BytePool) uncharge(class uint8) {
	p.account.uncharge(int64(p.classes.Size(class)))
	p.account.serve()
}

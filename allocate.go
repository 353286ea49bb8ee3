package dewpond

import "fmt"

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
		p.count.class[class].misses.Add(1)
		p.watch(b)
		p.note(b)
	}
	return b, err
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
	return p.allocate(class)
}

// fresh makes a block that is all zero, with which the Budget was charged. Where the
// Source has none the Budget gets its bytes back.
func (p *BytePool) fresh(class uint8) (b []byte, err error) {
	size := p.classes.Size(class)
	if p.source == nil {
		return make([]byte, size), nil
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

// oversize makes a slice that no class holds.
func (p *BytePool) oversize(n int) []byte {
	p.count.oversize.Add(1)
	return make([]byte, n)
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
	p.limiter.restore()
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.allowLocked()
}

// charge reports whether the Budget, if there is one, has room for a block of the
// class, and takes it. It lets other blocks go for that where it finds them at once.
// Get lets them go also where that is not enough, to go past the Budget by less.
func (p *BytePool) charge(class uint8, get bool) bool {
	size := p.classes.Size(class)
	return p.account == nil || p.account.charge(size) ||
		(get || p.account.budget.inReach(size)) && p.account.shed(size)
}

// uncharge gives back what charge or a grant has taken, to those who wait first.
func (p *BytePool) uncharge(class uint8) {
	p.account.uncharge(int64(p.classes.Size(class)))
	p.account.serve()
}

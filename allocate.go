package dewpond

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// classFor returns the class of a size that a caller asked for, or false for one
// above the largest.
func (p *BytePool) classFor(method string, n int) (class uint8, ok bool) {
	if n < 0 {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative", method, n, p.name))
	}
	return p.classes.Class(n)
}

// allocate makes a fresh block for a caller, a miss that the gate has charged. Where there
// is no block giveBack is called.
func (p *BytePool) allocate(class uint8, giveBack func(class uint8)) ([]byte, error) {
	b, err := p.fresh(class, giveBack)
	if err == nil {
		p.count.class[class].misses.Add(1)
		p.watch(b)
		p.note(b)
	}
	return b, err
}

// fresh makes a block that is all zero, which the gate has charged. Where the Source has
// none giveBack is called.
func (p *BytePool) fresh(class uint8, giveBack func(class uint8)) (b []byte, err error) {
	size := p.classes.Size(class)
	if p.source == nil {
		b = make([]byte, size)
		p.gate.Hold(class, blockOf(b))
		return b, nil
	}
	defer func() { // also if the Source panics
		if b == nil {
			giveBack(class)
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
	if p.gate.OverrunBytes(n) {
		p.count.overBudget.Add(1)
	}
	p.gate.HoldLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b
}

// tryOversize is oversize where the Budget, if there is one, has room for it.
func (p *BytePool) tryOversize(n int) ([]byte, error) {
	if !p.gate.TryBytes(n) {
		return nil, ErrExhausted
	}
	return p.chargedOversize(n), nil
}

// chargedOversize is oversize where the gate has charged it.
func (p *BytePool) chargedOversize(n int) (b []byte) {
	defer func() {
		if b == nil { // no machine has as much, and make panics
			p.gate.UnchargeBytes(n)
		}
	}()
	b = make([]byte, n)
	p.gate.HoldLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b
}

// An owner is a BytePool as its gate sees it.
type owner BytePool

// Free lets go of a block that the pool no longer has.
func (o *owner) Free(class uint8, block magazine.Block, l *late.List) {
	p := (*BytePool)(o)
	b := p.whole(class, block)
	p.checks.unwatch(watched(class, b), l)
	if p.source != nil {
		defer l.Catch()
		p.source.Free(b)
	}
}

// Loosened has settle called, after blocks were let go.
func (o *owner) Loosened() { o.decay.Loosened() }

// Kept has decay look at the pool, in which something has become idle.
func (o *owner) Kept() { o.decay.Kept() }

package dewpond

import (
	"context"
	"fmt"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// TryGet is Get, but where no block of the class is idle anywhere in the pool and
// AllocLimit or Budget does not allow to allocate one now, it returns ErrExhausted. For a
// Budget, what is idle in any of its pools is let go first, as far as it takes, and if
// that helps. Off the heap it may be the system that refuses: the error wraps the
// system's. After Close TryGet returns ErrClosed. It panics if n is negative. Above the
// largest class it is the Budget alone that may refuse.
//
// The first refusal in a while costs tens of microseconds, for each pool of the
// Budget: blocks that lie idle with other processors are gathered first. The pool then
// stays gathered, and every Get and Put a little slower, until a tenth of a second has
// passed without a refusal.
func (p *BytePool) TryGet(n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGet("TryGet", n)
	p.countRefusal(err)
	return b, err
}

// GetContext is TryGet, but instead of ErrExhausted it waits: until a block of
// the class is put back, until AllocLimit and Budget allow to allocate (for the Budget
// any Put to any of its pools counts), or until ctx is done, whose error it then
// returns. Those who wait are served in the order in which they came, to any pool of a
// Budget. ctx is looked at only before waiting. Close ends every wait with ErrClosed.
// A block that is larger than the whole Budget is not waited for: ErrExhausted.
//
// While a call waits in a testing/synctest bubble the pool, with all of its Budget, is
// that bubble's alone: who would have to wake it from elsewhere, or to wait beside it,
// panics.
func (p *BytePool) GetContext(ctx context.Context, n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGet("GetContext", n)
	if err == ErrExhausted {
		b, err = p.wait(ctx, n)
	}
	p.countRefusal(err)
	return b, err
}

// wait is GetContext where TryGet is refused.
func (p *BytePool) wait(ctx context.Context, n int) (b []byte, err error) {
	class, ok := p.classes.Class(n)
	size := n
	if ok {
		size = p.classes.Size(class)
	}
	if budget := p.gate.Budget(); budget != nil && int64(size) > budget.Limit() {
		return nil, fmt.Errorf("%w: a block of %d bytes for pool %q is more than its Budget of %d will ever have",
			ErrExhausted, size, p.name, budget.Limit())
	}
	if !ok {
		if err := p.gate.WaitBytes(ctx, n); err != nil {
			return nil, err
		}
		return p.chargedOversize(n), nil
	}
	block, err := p.gate.Wait(ctx, class)
	switch {
	case err != nil:
		return nil, err
	case block != nil:
		b = p.reused(class, block)
	default:
		if b, err = p.allocate(class, p.gate.Return); err != nil {
			return nil, err
		}
	}
	return b[:n], nil
}

// countRefusal counts an error that TryGet or GetContext returns, whatever it is,
// unless the pool is closed.
func (p *BytePool) countRefusal(err error) {
	if err != nil && err != ErrClosed {
		p.count.refused.Add(1)
	}
}

// tryGet is TryGet without counting a refusal, which GetContext may yet avoid.
func (p *BytePool) tryGet(method string, n int) ([]byte, error) {
	class, ok := p.classFor(method, n)
	if ok {
		if b := p.reuse(class); b != nil {
			return b[:n], nil
		}
	}
	switch {
	case p.engine.Closed():
		return nil, ErrClosed
	case !ok:
		return p.tryOversize(n)
	}
	b, err := p.allocateOrReuse(class)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// allocateOrReuse returns a fresh block where AllocLimit and the Budget allow it and the
// Source has memory, else one that lies idle in any shard.
func (p *BytePool) allocateOrReuse(class uint8) ([]byte, error) {
	block, err := p.gate.TryGet(class)
	if block != nil || err != nil {
		return p.reused(class, block), err
	}
	b, err := p.allocate(class, p.gate.Return)
	if err == nil || err == ErrClosed {
		return b, err
	}
	if p.checks != nil {
		p.checks.Flush()
	}
	if block, e := p.gate.Idle(class); e != ErrExhausted {
		return p.reused(class, block), e
	}
	return nil, err
}

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

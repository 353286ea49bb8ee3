package dewpond

import (
	"context"
	"fmt"
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

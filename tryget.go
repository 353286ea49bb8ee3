package dewpond

import "context"

// TryGet is Get, but where no block of the class is idle anywhere in the pool and
// AllocLimit does not allow to allocate one now, it returns ErrExhausted. After
// Close it returns ErrClosed. It panics if n is negative.
//
// The first refusal in a while costs tens of microseconds: blocks that lie idle
// with other processors are gathered first. The pool then stays gathered, and
// every Get and Put a little slower, until a tenth of a second has passed without
// a refusal.
func (p *BytePool) TryGet(n int) ([]byte, error) {
	b, err := p.tryGet("TryGet", n)
	p.countRefusal(err)
	return b, err
}

// GetContext is TryGet, but instead of ErrExhausted it waits: until a block of
// the class is put back, until AllocLimit allows to allocate, or until ctx is
// done, whose error it then returns. Those who wait are served in the order in
// which they came. ctx is looked at only before waiting. Close ends every wait
// with ErrClosed.
func (p *BytePool) GetContext(ctx context.Context, n int) ([]byte, error) {
	b, err := p.tryGet("GetContext", n)
	if err == ErrExhausted {
		class, _ := p.classes.Class(n)
		if b, err = p.wait(ctx, class); err == nil {
			b = b[:n]
		}
	}
	p.countRefusal(err)
	return b, err
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
		return p.oversize(n), nil
	case !p.mayAllocate():
		b, err := p.reuseAnywhere(class)
		if err != nil {
			return nil, err
		}
		return b[:n], nil
	}
	b, err := p.allocateAllowed(class)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// reuseAnywhere returns a block that lies idle in any shard. Where it returns
// ErrExhausted, there was a moment during the call when none did.
func (p *BytePool) reuseAnywhere(class uint8) ([]byte, error) {
	p.queue.refusedNow()
	for {
		if b, exact := p.reuseExact(class); exact {
			if b == nil {
				return nil, ErrExhausted
			}
			return b, nil
		}
		if !p.engine.Gather() {
			return nil, ErrClosed
		}
	}
}

package dewpond

import (
	"context"
	"fmt"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// TryGet is like [BytePool.Get], but returns [ErrExhausted] if no block of the class is
// idle anywhere in the pool and the pool's AllocLimit or [Budget] does not allow it to
// allocate one now. Before a Budget refuses, its pools let go of as many idle blocks as
// needed, if that helps. Above the largest class only the Budget may refuse. Off the heap
// the system may refuse memory: then the error wraps the system's error. After
// [BytePool.Close] TryGet returns [ErrClosed]. TryGet(0) needs no block, so nothing but
// Close refuses it: see Get. It panics if n is negative.
//
// The first refusal in a while takes tens of microseconds for each pool of the Budget,
// because it gathers the idle blocks of other processors in one place. The pool then
// keeps all idle blocks there, which makes every Get and Put a little slower, until a tenth of a
// second has passed without a refusal.
func (p *BytePool) TryGet(n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGet("TryGet", n)
	p.countRefusal(err)
	return b, err
}

// GetContext is like [BytePool.TryGet], but instead of returning [ErrExhausted] it waits
// until a block of the class is put back, until AllocLimit and the [Budget] allow it to
// allocate (any Put to any pool of the Budget may give it room), or until ctx is done. In
// the last case it returns the error of ctx. Waiting calls are served in the order in
// which they arrived, across all pools of a Budget. If a call need not wait, it does not
// look at ctx. Close ends every wait with [ErrClosed]. GetContext does not wait for a
// block that is larger than the whole Budget, but returns an error that wraps
// ErrExhausted.
//
// A caller that needs several blocks at once must not collect them one by one: two that each
// hold one of the last two blocks, and wait for another, wait for each other. They should
// call [BytePool.GetBatch].
//
// While a call waits in a [testing/synctest] bubble the pool and all pools of its Budget
// belong to that bubble: a call from outside the bubble that would wake it, or wait
// beside it, panics.
func (p *BytePool) GetContext(ctx context.Context, n int) ([]byte, error) {
	p = p.actual()
	b, err := p.tryGet("GetContext", n)
	if err == ErrExhausted {
		b, err = p.wait(ctx, n)
	}
	p.countRefusal(err)
	return b, err
}

// wait is GetContext after TryGet was refused.
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
	if err := ctx.Err(); err != nil { // TryGet has looked for it everywhere
		return nil, err
	}
	if !ok {
		if err := p.gate.WaitBytes(ctx, n); err != nil {
			return nil, err
		}
		return p.chargedOversize(n), nil
	}
	blocks, err := p.gate.Wait(ctx, class, 1, nil)
	switch {
	case err != nil:
		return nil, err
	case len(blocks) > 0:
		b = p.reused(class, blocks[0])
	default:
		if b, err = p.allocate(class, p.returnOne); err != nil {
			return nil, err
		}
	}
	return b[:n], nil
}

// returnOne gives back the permission to allocate a block that could not be made.
func (p *BytePool) returnOne(class uint8) { p.gate.Return(class, 1) }

// countRefusal counts any error that TryGet or GetContext returns, except ErrClosed.
func (p *BytePool) countRefusal(err error) {
	if err != nil && err != ErrClosed {
		p.count.refused.Add(1)
	}
}

// tryGet is TryGet without counting a refusal, because GetContext may wait instead.
func (p *BytePool) tryGet(method string, n int) ([]byte, error) {
	class, ok := p.classFor(method, n)
	if ok && n > 0 {
		if b := p.reuse(class); b != nil {
			return b[:n], nil
		}
	}
	switch {
	case p.engine.Closed():
		return nil, ErrClosed
	case n == 0:
		return noBytes[:], nil
	case !ok:
		return p.tryOversize(n)
	}
	b, err := p.allocateOrReuse(class)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// allocateOrReuse returns a fresh block if AllocLimit and the Budget allow it and the
// Source has memory, and otherwise an idle block of any shard.
func (p *BytePool) allocateOrReuse(class uint8) ([]byte, error) {
	block, err := p.gate.TryGet(class)
	if block != nil || err != nil {
		return p.reused(class, block), err
	}
	return p.allocateOrReuseIdle(class)
}

// allocateOrReuseIdle is allocateOrReuse for a block that the gate has charged.
func (p *BytePool) allocateOrReuseIdle(class uint8) ([]byte, error) {
	b, err := p.allocate(class, p.returnOne)
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

// classFor returns the class for a size that a caller asked for, or false if the size is
// above the largest class.
func (p *BytePool) classFor(method string, n int) (class uint8, ok bool) {
	if n < 0 {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative", method, n, p.name))
	}
	return p.classes.Class(n)
}

// allocate makes a fresh block for a caller. The gate has charged the miss. If there is
// no block, giveBack is called.
func (p *BytePool) allocate(class uint8, giveBack func(class uint8)) ([]byte, error) {
	b, err := p.fresh(class, giveBack)
	if err == nil {
		p.count.class[class].misses.Add(1)
		p.watch(b)
		p.note(b)
	}
	return b, err
}

// fresh makes a block that is all zero. The gate has charged it. If the Source fails,
// giveBack is called.
func (p *BytePool) fresh(class uint8, giveBack func(class uint8)) (b []byte, err error) {
	size := p.classes.Size(class)
	if p.source == nil {
		b = p.make(size)
		p.gate.Hold(class, blockOf(b))
		return b, nil
	}
	made := false
	defer func() { // also if the Source panics
		if !made {
			giveBack(class)
		}
	}()
	b, err = p.source.Alloc(size)
	switch {
	case err != nil && p.engine.Closed(): // Close ends the Source after the engine
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("dewpond: a block of %d bytes for pool %q: %w", size, p.name, err)
	case len(b) != size || cap(b) != size || addressOf(b)%blockAlignment != 0:
		panic(fmt.Sprintf("dewpond: the Source of pool %q returned %d bytes with cap %d at %#x for a block of %d bytes: a block has its size as length and cap and begins at a multiple of %d",
			p.name, len(b), cap(b), addressOf(b), size, blockAlignment))
	}
	made = true
	return b, nil
}

// make makes memory on the Go heap that is all zero.
func (p *BytePool) make(n int) []byte {
	if p.elements != nil {
		return p.elements.make(n)
	}
	return make([]byte, n)
}

// oversize makes a slice above the largest class for Get, which the Budget does not
// refuse.
func (p *BytePool) oversize(n int) []byte {
	b := p.make(n) // may panic, before anything is counted
	if p.gate.OverrunBytes(n) {
		p.count.overBudget.Add(1)
	}
	p.gate.HoldLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b
}

// tryOversize is oversize if the Budget has room for the slice or there is no Budget.
func (p *BytePool) tryOversize(n int) ([]byte, error) {
	if !p.gate.TryBytes(n) {
		return nil, ErrExhausted
	}
	return p.chargedOversize(n), nil
}

// chargedOversize is oversize for a slice that the gate has charged.
func (p *BytePool) chargedOversize(n int) (b []byte) {
	defer func() {
		if b == nil { // make panics: n is larger than any memory
			p.gate.UnchargeBytes(n)
		}
	}()
	b = p.make(n)
	p.gate.HoldLarge(dataOf(b), n)
	p.count.oversize.Add(1)
	return b
}

// An owner is a BytePool as admission.Owner, for its gate.
type owner BytePool

// Free lets go of a block that the pool no longer has.
func (o *owner) Free(class uint8, block magazine.Block, l *late.List) {
	p := (*BytePool)(o)
	b := p.sliceOf(class, block)
	p.checks.unwatch(watched(class, b), l)
	if p.source != nil {
		defer l.Catch()
		p.source.Free(b)
	}
}

// Loosened tells decay that blocks were let go, so that it calls settle.
func (o *owner) Loosened() { o.decay.Loosened() }

// Kept tells decay that a block has become idle, so that it looks at the pool.
func (o *owner) Kept() { o.decay.Kept() }

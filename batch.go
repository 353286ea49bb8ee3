package dewpond

import (
	"context"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// A batch is one call of GetBatch. The elements of blocks are, in this order, idle blocks that
// are not yet ready for the caller, blocks that are, and nil.
type batch struct {
	pool    *BytePool
	class   uint8
	large   bool // no class holds n bytes
	n       int
	size    int // bytes that are charged for each
	blocks  [][]byte
	idle    int
	ready   int
	charged int // how many may still be allocated
}

func (b *batch) get(ctx context.Context) error {
	p := b.pool
	if p.engine.Closed() {
		return ErrClosed
	}
	if b.n == 0 { // needs no blocks
		for i := range b.blocks {
			b.blocks[i] = noBytes[:]
		}
		return nil
	}
	if err := p.beyondBudget(len(b.blocks), b.size); err != nil {
		return err
	}
	defer b.undo() // what is left after an error, or when a report or Source panics
	if err := b.collect(ctx); err != nil {
		return err
	}
	for b.charged > 0 {
		if err := b.allocate(); err != nil {
			return err
		}
	}
	for b.idle > 0 {
		block := b.takeIdle()
		last := b.idle + b.ready // so that there is no gap if makeReady panics; then it has put the block back
		b.blocks[b.idle], b.blocks[last] = b.blocks[last], nil
		p.makeReady(block)
		b.blocks[last] = block[:b.n]
		b.ready++
	}
	b.ready = 0 // the caller has them
	return nil
}

// collect gets as many idle blocks and permissions to allocate as the batch needs.
func (b *batch) collect(ctx context.Context) (err error) {
	p, all := b.pool, len(b.blocks)
	for !b.large && b.idle < all {
		block := p.sliceOf(b.class, p.engine.Pop(b.class))
		if block == nil {
			break
		}
		b.blocks[b.idle] = block
		b.idle++
	}
	switch missing := all - b.idle; {
	case missing == 0:
		return nil
	case b.large:
		if !p.gate.TryBytes(all * b.size) {
			err = waitErrorOf(p.name, p.gate.WaitBytes(ctx, all*b.size))
		}
	case !p.gate.Allow(b.class, missing):
		err = b.wait(ctx)
	}
	if err == nil {
		b.charged = all - b.idle
	}
	return err
}

// wait collects idle blocks and permissions by the gate, to which it passes what is there.
func (b *batch) wait(ctx context.Context) error {
	ctx.Done() // if ctx is nil it panics here, while the batch still has its blocks
	p, all := b.pool, len(b.blocks)
	var found []magazine.Block
	for b.idle > 0 {
		found = append(found, blockOf(b.takeIdle()))
	}
	found, err := p.gate.Wait(ctx, b.class, all, found)
	for _, block := range found {
		b.blocks[b.idle] = p.sliceOf(b.class, block)
		b.idle++
	}
	if err != ErrExhausted {
		return waitErrorOf(p.name, err)
	}
	return exhausted("of %d blocks for pool %q not all are idle, and its AllocLimit never allows that many misses at once", all, p.name)
}

// allocate uses one permission to allocate.
func (b *batch) allocate() error {
	b.charged--
	var block []byte
	var err error
	if b.large {
		block, err = b.pool.chargedOversize(b.n)
	} else {
		block, err = b.pool.allocateOrReuseIdle(b.class)
	}
	if err != nil {
		return err
	}
	b.blocks[b.idle+b.ready] = block[:b.n]
	b.ready++
	return nil
}

// takeIdle takes the last of the idle blocks out of the batch. There must be one.
func (b *batch) takeIdle() (block []byte) {
	b.idle--
	block, b.blocks[b.idle] = b.blocks[b.idle], nil
	return block
}

// undo gives back everything that the call has, also if a report panics.
func (b *batch) undo() { late.Finish(b.undoSome) }

// undoSome gives back some of what the call has.
func (b *batch) undoSome() (more bool) {
	p := b.pool
	switch {
	case b.charged > 0:
		n := b.charged
		b.charged = 0
		if b.large {
			p.gate.UnchargeBytes(n * b.size)
		} else {
			p.gate.Return(b.class, n)
		}
	case b.ready > 0:
		b.ready--
		at := b.idle + b.ready
		block := b.blocks[at]
		b.blocks[at] = nil
		p.Put(block)
	case b.idle > 0:
		p.gate.Put(b.class, blockOf(b.takeIdle()))
	default:
		return false
	}
	return true
}

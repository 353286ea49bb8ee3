package dewpond

import (
	"context"
	"fmt"
	"math"

	"github.com/dewpond/dewpond/internal/magazine"
)

// GetBatch is like [BytePool.GetContext] for several blocks at once: it sets every element of
// blocks to a slice of n bytes, each on a block of its own. It gets all of them or none: if it
// returns an error, every element is nil. The caller owns the blocks, and gives each back with
// [BytePool.Put]. Without elements GetBatch does nothing and returns nil.
//
// Callers that need several blocks and wait for them must get all of them by one call of
// GetBatch: while a call waits, its caller must hold no block of the pool or of another pool
// of its [Budget]. Then every call is served, whatever other callers ask for, as soon as they
// have put back enough. Calls of GetBatch and GetContext are served in the order in which they
// arrived: what is put back is collected for a call that came first, even if it would serve a
// later one.
//
// A batch must be possible: if it is larger than the whole Budget, GetBatch returns at once an
// error that wraps [ErrExhausted]. So it does if [BytePoolOptions.AllocLimit] is fewer than
// len(blocks) misses a second and the call cannot be served now: it might wait for ever.
// GetBatch panics if n is negative. If n is 0 it needs no blocks, as Get.
//
// A block that a call has collected counts as in use. If the call then returns an error, the
// block counts as put back.
func (p *BytePool) GetBatch(ctx context.Context, blocks [][]byte, n int) error {
	p = p.actual()
	class, ok := p.classFor("GetBatch", n)
	clear(blocks)
	if len(blocks) == 0 {
		return nil
	}
	b := batch{pool: p, class: class, large: !ok, n: n, size: n, blocks: blocks}
	if ok {
		b.size = p.classes.Size(class)
	}
	err := b.get(ctx)
	p.countRefusal(err)
	return err
}

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
	if budget := p.gate.Budget(); budget != nil && int64(len(b.blocks)) > min(budget.Limit(), math.MaxInt)/int64(b.size) {
		return fmt.Errorf("%w: %d blocks of %d bytes for pool %q are more than its Budget of %d will ever have",
			ErrExhausted, len(b.blocks), b.size, p.name, budget.Limit())
	}
	defer b.giveBack() // what is left after an error, or when a report or Source panics
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
		last := b.idle + b.ready // so that there is no gap if issue panics; then it has put the block back
		b.blocks[b.idle], b.blocks[last] = b.blocks[last], nil
		p.issue(block)
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
			err = p.gate.WaitBytes(ctx, all*b.size)
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
	if err == ErrExhausted {
		return fmt.Errorf("%w: of %d blocks for pool %q not all are idle, and its AllocLimit never allows so many misses at once", err, all, p.name)
	}
	return err
}

// allocate uses one permission to allocate.
func (b *batch) allocate() error {
	b.charged--
	var block []byte
	if b.large {
		block = b.pool.chargedOversize(b.n)
	} else {
		var err error
		if block, err = b.pool.allocateOrReuseIdle(b.class); err != nil {
			return err
		}
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

// giveBack gives back everything that the call has.
func (b *batch) giveBack() {
	p := b.pool
	switch {
	case b.charged > 0:
		n := b.charged
		b.charged = 0
		defer b.giveBack() // also if a report panics
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
		defer b.giveBack()
		p.Put(block)
	case b.idle > 0:
		block := b.takeIdle()
		defer b.giveBack()
		p.gate.Put(b.class, blockOf(block))
	}
}

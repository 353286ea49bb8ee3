package dewpond

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
)

// Prewarm allocates count blocks for Gets of size bytes, so that the first of
// them hit. They count neither as misses nor against AllocLimit. Where the
// pool's bounds leave no room for all of them it keeps those that fit and returns
// an error that says how many; after Close it returns ErrClosed.
func (p *BytePool) Prewarm(size, count int) error {
	p = p.actual()
	class, ok := p.classFor("Prewarm", size)
	switch {
	case !ok:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the largest class is %d bytes; give Classes a larger one",
			size, count, p.name, p.classes.Largest())
	case count < 0:
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the count is negative", size, count, p.name)
	}
	if p.engine.Closed() { // also where there is nothing to do
		return ErrClosed
	}
	for i := range count {
		if p.engine.Closed() { // whatever the Budget says
			return ErrClosed
		}
		if !p.gate.Charge(class) {
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: its Budget of %d bytes has room for %d blocks of %d bytes",
				size, count, p.name, p.gate.Budget().Limit(), i, p.classes.Size(class))
		}
		b, err := p.fresh(class, p.gate.Uncharge)
		if err != nil {
			return err
		}
		switch p.gate.Add(class, blockOf(b)) {
		case magazine.Full:
			return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: room for %d blocks of %d bytes; raise MaxIdleBytes or MaxIdlePerClass",
				size, count, p.name, i, p.classes.Size(class))
		case magazine.Closed:
			return ErrClosed
		}
	}
	return nil
}

// Trim lets go of every block that was idle when it was called and still is, those
// that lie with other processors too, and returns their bytes. Blocks that are put
// back meanwhile may stay, or that leave the quarantine of a pool that is checked. Off
// the heap it then gives memory that is in no block to the system. It stops the world
// twice, each time for tens of microseconds, and longer where others stop it too. Until
// that is over every Get finds nothing idle and allocates, which may be thousands of
// times, and TryGet and GetContext wait where AllocLimit does not let them do that. Trims
// of many pools at once draw this out for all of them: call one after another.
func (p *BytePool) Trim() (released int64) {
	p = p.actual()
	var l late.List
	defer l.End()
	released = p.checks.trimQuarantine(false, &l) + p.gate.Trim(&l)
	if p.leased.Load() {
		p.handles.Trim(forgetHandle) // after the blocks, to which they may still point
	}
	if p.ledger != nil {
		// What the system refuses stays in Stats.CommittedBytes, and is asked again.
		_, _ = p.ledger.Decommit()
	}
	return released
}

// trimReserved is Trim as decay does it.
func (p *BytePool) trimReserved() {
	var l late.List
	defer l.End()
	p.checks.trimQuarantine(false, &l)
	decay.InTurn(p.engine.TrimReserved, p.free(&l))
	p.gate.ServeInReach()
}

// Close lets go of every idle block and makes the pool keep nothing more: Get
// allocates, TryGet, GetContext and Prewarm return ErrClosed, Put drops. It wakes
// all who wait. Blocks that are out stay valid. A second Close does nothing.
//
// Off the heap Close also gives up the pool's memory and address space. While blocks
// are out, or a timer is about to let some go, it cannot: then it returns an error that says how many, as does every
// further Close, and the Put of the last one gives them up. Whoever uses a block after
// that faults. Get then takes from the Go heap, and counts HeapFallback.
func (p *BytePool) Close() error {
	p = p.actual()
	p.gate.MustReach()
	p.decay.Stop()
	var l late.List
	defer l.End()
	defer livePools.Remove(p.entry)
	defer p.gate.End()
	defer p.handles.Close(forgetHandle)
	p.checks.trimQuarantine(true, &l)
	p.gate.Close(&l)
	if p.checks != nil && !p.checks.heap {
		p.checks.Leaks(0, time.Time{}, &l) // nobody else will find these
		if !p.checks.All() {
			p.checks.End() // nor forget them
		}
	}
	if p.ledger != nil {
		if err := p.ledger.Close(); err != nil {
			return fmt.Errorf("dewpond: Close of pool %q: %w", p.name, err)
		}
	}
	return nil
}

// settle is what decay calls after it has let blocks go, and after others have.
func (p *BytePool) settle() {
	if p.checks != nil {
		p.checks.Flush()
		p.reportOld()
	}
	if p.ledger != nil {
		_, _ = p.ledger.Decommit() // as Trim does
	}
}

package dewpond

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/learn"
)

// A Hint hands out blocks for bodies whose size nobody knows beforehand, and that grow by
// the built-in append: what a decompressor, an encoder or a client of a message broker
// returns. It learns from the bodies that are put back which size to hand out, and adopts
// those that append has moved to memory of their own. Make one with [BytePool.Hint] for
// each kind of body:
//
//	bodies := pool.Hint()
//
//	b := bodies.Get() // length 0
//	b, err := decoder.DecodeAll(frame, b)
//	...
//	bodies.Put(b)
//
// All methods may be called by any number of goroutines at once. Use a Hint for as long
// as its kind of body is used: one that is made for each body learns nothing.
//
// The size rises when bodies outgrow it and falls slowly, so that about one body in 16
// outgrows it, or none where all have one size. Fewer outgrow their blocks, because Get
// also hands out larger ones that are idle.
//
// As append loses the block that it moves a body out of, the pool cannot count the blocks
// of a Hint one by one. In [Stats.InUseBytes] a Hint has the number of its blocks that
// were not put back, times its present size. With [CheckAll] they are no leaks when the
// collector finds them; [BytePool.ReportLeaks], and dewtest at the end of a test, report
// those that were not put back by the stack that made the Hint.
type Hint struct {
	_    noCopy
	pool *BytePool
	made []uintptr // stack of the call of BytePool.Hint, with CheckAll

	fits     learn.Bodies // which class Get hands out
	out      atomic.Int64 // Gets minus Puts
	reported atomic.Int64 // how many of these ReportLeaks has reported
}

// Hint returns a [Hint] on blocks of this pool. It panics if the pool has a [Source], as
// those off the heap: a block that a body outgrows would be lost to it.
func (p *BytePool) Hint() *Hint {
	p = p.actual()
	if p.source != nil {
		panic(fmt.Sprintf("dewpond: Hint of pool %q: its blocks are not on the Go heap, and append would lose those that it outgrows", p.name))
	}
	h := &Hint{pool: p}
	if p.checks.everything() {
		h.made = check.Here()
	}
	h.fits.Init(&p.classes)
	p.hints.add(h)
	return h
}

// Get returns an empty slice of a block that has the size that bodies have had, or of an
// idle one of up to twice that size. The caller owns it until [Hint.Put]. Like
// [BytePool.Get] it is never refused.
func (h *Hint) Get() []byte {
	p, class := h.pool, h.fits.Class()
	b := p.reuse(class)
	// Bodies that have outgrown their blocks have left larger ones.
	most := 2 * p.classes.Size(class)
	for larger := class + 1; b == nil && int(larger) < p.classes.Len() && p.classes.Size(larger) <= most; larger++ {
		if b = p.reuse(larger); b != nil {
			class = larger
		}
	}
	if b == nil {
		b = p.Get(p.classes.Size(class))
	}
	p.count.class[class].hinted.Add(1)
	h.out.Add(1)
	if p.onGet&watch != 0 {
		p.checks.Excuse(addressOf(b))
	}
	return b[:0]
}

// Put gives back a body that has grown from what [Hint.Get] returned, whether append has
// moved it or not, as [BytePool.Adopt] does. The Hint learns from the length of b, unless
// it is 0. Put ignores a slice of cap 0.
func (h *Hint) Put(b []byte) {
	if cap(b) == 0 {
		return
	}
	h.out.Add(-1)
	h.fits.Learn(len(b))
	h.pool.adopt(b, true)
}

// hints are the Hints of a pool.
type hints struct {
	mu   sync.Mutex // held for one look at all
	all  []weak.Pointer[Hint]
	kept []*Hint // those that ReportLeaks must find, even if nothing else refers to them
}

func (h *hints) add(hint *Hint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == cap(h.all) {
		h.all = slices.DeleteFunc(h.all, func(w weak.Pointer[Hint]) bool { return w.Value() == nil })
	}
	h.all = append(h.all, weak.Make(hint))
	if hint.made != nil {
		h.kept = append(h.kept, hint)
	}
}

// inUse returns how many bytes are out of all Hints.
func (h *hints) inUse() (bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		if hint := w.Value(); hint != nil {
			bytes += max(0, hint.out.Load()) * int64(hint.fits.Size())
		}
	}
	return bytes
}

// reportLeaks reports each block that is out of a Hint once, and returns how many it
// reported.
func (h *hints) reportLeaks(c *checks) (n int) {
	h.mu.Lock()
	kept := h.kept
	h.mu.Unlock()
	for _, hint := range kept {
		out := max(0, hint.out.Load())
		for range out - hint.reported.Swap(out) {
			c.report(check.Violation{Kind: check.Leak, Size: hint.fits.Size(), Got: hint.made})
			n++
		}
	}
	return n
}

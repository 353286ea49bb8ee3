package dewpond

import (
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/learn"
	"github.com/dewpond/dewpond/misuse"
)

// A BodyPool hands out blocks of a [BytePool] for bodies whose size nobody knows beforehand,
// and that grow by the built-in append: what a decompressor, an encoder or a client of a
// message broker returns. It learns from the bodies that are put back which size to hand
// out, and adopts those that append has moved to memory of their own. Make one with
// [BytePool.Bodies] for each kind of body:
//
//	bodies := pool.Bodies()
//
//	b := bodies.Get() // length 0
//	b, err := decoder.DecodeAll(frame, b)
//	...
//	bodies.Put(b)
//
// All methods may be called by any number of goroutines at once. Use a BodyPool for as long
// as its kind of body is used: one that is made for each body learns nothing.
//
// The size rises when bodies outgrow it and falls slowly, so that about one body in 16
// outgrows it, or none where all have one size. Fewer outgrow their blocks, because Get
// also hands out larger ones that are idle.
//
// A few large bodies do not make the blocks of all others large. While most bodies fill less
// than an eighth of the size it falls quickly, and up to three bodies in a row that are more
// than eight times as large do not raise it. So where one body in 12 has 1 MiB and the others
// 200 bytes, those hold at most 512. The price is that append allocates memory for each of the
// large ones:
// https://github.com/dewpond/dewpond/blob/main/docs/tuning.md#bodies-of-many-sizes has what
// other sizes cost. Where callers know which bodies are large, a BodyPool for each kind avoids it.
//
// As append loses the block that it moves a body out of, the pool cannot count the blocks
// of a BodyPool one by one. In [Stats.InUseBytes] a BodyPool has the number of its blocks
// that were not put back, times its present size. With [CheckAll] they are no leaks when the
// collector finds them; dewtest, at the end of a test or by its ReportLeaks, reports those
// that were not put back by the stack that made the BodyPool.
type BodyPool struct {
	_      noCopy
	blocks *BytePool
	maker  []uintptr // stack of the call of BytePool.Bodies, with CheckAll

	fits     learn.Bodies // which class Get hands out
	out      atomic.Int64 // Gets minus Puts, at least 0
	outBytes atomic.Int64 // of the blocks that are out, by what Get returned
	reported atomic.Int64 // how many of these were reported as leaks
}

// Get returns an empty slice of a block that has the size that bodies have had, or of an
// idle one of up to twice that size. The caller owns it until [BodyPool.Put]. Like
// [BytePool.Get] it is never refused.
func (p *BodyPool) Get() []byte {
	blocks, class := p.blocks, p.fits.Class()
	b := blocks.sampled(blocks.reuse(class))
	// Bodies that have outgrown their blocks have left larger ones.
	most := learn.Spread * blocks.classes.Size(class)
	for larger := class + 1; b == nil && int(larger) < blocks.classes.Len() && blocks.classes.Size(larger) <= most; larger++ {
		if b = blocks.sampled(blocks.reuse(larger)); b != nil {
			class = larger
		}
	}
	if b == nil { // not Get: nobody has asked for that size
		b = blocks.sampled(blocks.getBlock(class))
	}
	blocks.count.class.At(class).bodies.Add(1)
	p.outBytes.Add(int64(blocks.gate.Size(class)))
	p.out.Add(1)
	if blocks.onGet&watch != 0 {
		blocks.checks.Excuse(addressOf(b))
	}
	return b[:0]
}

// Put gives back a body that has grown from what [BodyPool.Get] returned, whether append has
// moved it or not, as [BytePool.Adopt] does. The BodyPool learns from the length of b, or if that is
// 0, as of b[:0], from the cap: whether append has moved the body. Put ignores a slice of cap 0.
func (p *BodyPool) Put(b []byte) {
	if cap(b) == 0 {
		return
	}
	// The block that Get returned is b, or lost to it. Its size is not known, but that of all.
	for out := p.out.Load(); out > 0; out = p.out.Load() {
		if p.out.CompareAndSwap(out, out-1) {
			mean := p.outBytes.Load() / out
			p.outBytes.Add(-mean)
			p.blocks.engine.GoneBytes(mean)
			break
		}
	}
	if len(b) > 0 {
		p.fits.Learn(len(b))
	} else {
		p.fits.LearnCap(cap(b))
	}
	if class, ok := p.blocks.classes.Floor(cap(b)); ok {
		if size, fits := p.blocks.classes.Size(class), p.fits.Size(); fits <= size && size <= 2*fits {
			p.blocks.engine.Wanted(class, 1) // Get hands it out
		}
	}
	p.blocks.noteAsked(len(b))
	p.blocks.adoptOrPut(b, true)
}

// bodyPools are the BodyPools of a BytePool.
type bodyPools struct {
	mu   sync.Mutex // held for one look at all
	all  []weak.Pointer[BodyPool]
	kept []*BodyPool // those whose leaks must be found, even if nothing else refers to them
}

func (s *bodyPools) add(p *BodyPool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == cap(s.all) {
		s.all = slices.DeleteFunc(s.all, func(w weak.Pointer[BodyPool]) bool { return w.Value() == nil })
	}
	s.all = append(s.all, weak.Make(p))
	if p.maker != nil {
		s.kept = append(s.kept, p)
	}
}

// inUse returns how many bytes are out of all BodyPools.
func (s *bodyPools) inUse() (bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.all {
		if p := w.Value(); p != nil {
			bytes += max(0, p.out.Load()) * int64(p.fits.Size())
		}
	}
	return bytes
}

// reportLeaks reports each block that is out of a BodyPool once, and returns how many it
// reported.
func (s *bodyPools) reportLeaks(c *checks) (n int) {
	s.mu.Lock()
	kept := s.kept
	s.mu.Unlock()
	for _, p := range kept {
		out := max(0, p.out.Load())
		for range out - p.reported.Swap(out) {
			c.report(misuse.Violation{Kind: misuse.Leak, Size: p.fits.Size(), Count: 1, Bytes: p.fits.Size(), Got: p.maker})
			n++
		}
	}
	return n
}

// A SliceBodyPool is to a [SlicePool] what a [BodyPool] is to a [BytePool]: it hands out slices
// whose number of elements nobody knows beforehand, and that grow by the built-in append. It
// learns from those that are put back which size to hand out, and adopts those that append has
// moved to memory of their own. Make one with [SlicePool.Bodies] for each kind of slice.
//
// All methods may be called by any number of goroutines at once. What is said of a BodyPool
// of sizes, statistics and leaks holds here too.
type SliceBodyPool[T any] struct{ bodies *BodyPool }

// Get returns an empty slice with room for as many elements as slices have had, or an idle one
// with up to twice that. The caller owns it until [SliceBodyPool.Put]. Like [SlicePool.Get] it
// is never refused.
func (p *SliceBodyPool[T]) Get() []T { return sliceOf[T](p.bodies.Get(), 0) }

// Put gives back a slice that has grown from what [SliceBodyPool.Get] returned, whether append
// has moved it or not, as [SlicePool.Adopt] does. The SliceBodyPool learns from the length of s, or if
// that is 0 from the cap, as [BodyPool.Put] does. Put ignores a slice of cap 0.
func (p *SliceBodyPool[T]) Put(s []T) { p.bodies.Put(bytesOf(s)) }

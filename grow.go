package dewpond

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/learn"
)

// Grow returns b with room for another n bytes, as [slices.Grow] does. If b's cap is too
// small, Grow copies b's bytes to a larger block of this pool and puts b's block back.
// b may be nil. Grow panics if n is negative.
func (p *BytePool) Grow(b []byte, n int) []byte {
	if n < 0 || len(b)+n < 0 {
		panic(fmt.Sprintf("dewpond: Grow by %d bytes from %d on pool %q: the size is negative or overflows", n, len(b), p.Name()))
	}
	if n <= cap(b)-len(b) {
		return b
	}
	return moved(p, b, append(p.Get(len(b) + n)[:0], b...))
}

// moved puts back s, whose elements are now in grown, and returns grown. If the Put
// panics, in a Source's Free, in Reset or in a report, no caller gets grown, so moved puts
// it back too.
func moved[T any](p interface{ Put([]T) }, s, grown []T) []T {
	returned := false
	defer func() {
		if !returned {
			p.Put(grown)
		}
	}()
	p.Put(s)
	returned = true
	return grown
}

// Append appends x to b, as the built-in append does. If b's cap is too small, Append
// copies b's bytes to a larger block of this pool and puts b's block back. b may be nil,
// and x may be part of b.
func (p *BytePool) Append(b []byte, x ...byte) []byte { return appended(p, b, x) }

// AppendString is [BytePool.Append] for the bytes of a string.
func (p *BytePool) AppendString(b []byte, s string) []byte { return appended(p, b, s) }

func appended[X []byte | string](p *BytePool, b []byte, x X) []byte {
	if len(x) <= cap(b)-len(b) {
		return append(b, x...)
	}
	p = p.actual()
	n := withRoom(b, len(x), p.classes.Largest())
	return moved(p, b, append(append(p.Get(n)[:0], b...), x...))
}

// withRoom returns for how many elements an Append of more elements to s gets a slice.
// Above the largest class it leaves room, as append does: otherwise each of many small
// appends would copy everything.
func withRoom[T any](s []T, more, largest int) int {
	n := len(s) + more
	if n > largest {
		return max(n, cap(s)+cap(s)/4)
	}
	return n
}

// ReadAll reads from r until [io.EOF] or another error, and returns what it has read: in a
// block, or above the largest class in a slice that is not pooled, as [io.ReadAll] does.
// The caller owns it, and puts it back even if it is empty. An io.EOF is not returned.
// With any other error ReadAll also returns what it has read before, which the caller puts
// back too:
//
//	body, err := pool.ReadAll(r)
//	defer pool.Put(body)
//
// If r has a method Len, as a [strings.Reader] has, ReadAll takes one block for all that r
// has. Otherwise it begins with 512 bytes and takes a block of twice the size whenever one
// is full: it does not trust what somebody else says of r's length, such as the N of an
// [io.LimitedReader] or a Content-Length. A caller that trusts it uses [BytePool.Get] and
// [io.ReadFull].
//
// r must not keep the slices that it reads into. If r panics, the block goes back.
func (p *BytePool) ReadAll(r io.Reader) (b []byte, err error) {
	size := learn.Least
	if n := lenOf(r); n > 0 {
		size = n + 1 // for the Read that returns io.EOF
	}
	b = p.Get(size)[:0]
	done := false
	defer func() {
		if !done {
			p.Put(b)
		}
	}()
	for err == nil {
		if len(b) == cap(b) {
			full := b
			b = nil // Grow puts it back, also if that panics
			b = p.Grow(full, len(full))
		}
		room := b[len(b):cap(b)]
		var n int
		n, err = r.Read(room)
		if n < 0 || n > len(room) {
			panic(fmt.Sprintf("dewpond: ReadAll: Read returned %d for %d bytes", n, len(room)))
		}
		b = b[:len(b)+n]
	}
	done = true
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// lenOf returns how many bytes a reader says that it has in memory, or 0 if it does not
// say so.
func lenOf(r io.Reader) int {
	if l, ok := r.(interface{ Len() int }); ok {
		if n := l.Len(); n < math.MaxInt-bytes.MinRead {
			return max(0, n)
		}
	}
	return 0
}

// Adopt is like [BytePool.Put] for a slice that did not come from Get: one that append has
// moved out of its block, or one that somebody else has made. Its cap is cut to the
// largest class that fits, and the pool owns it from then on. The caller must own b
// alone, b must begin where its memory was allocated, and that must be memory of Go: a
// part of a larger slice would keep all of it alive, and its bytes would have two owners.
//
// What the pool adopts counts as [Stats.Adopted] and as a Put, but was never in use. The
// block that b has replaced stays in use until it is put back too:
//
//	block := pool.Get(1500)
//	body := decode(block[:0]) // may append
//	if cap(body) != cap(block) {
//		pool.Adopt(body)
//	}
//	pool.Put(block)
//
// Where the block is lost when b replaces it, use a [Hint].
//
// Adopt ignores a slice of cap 0. It refuses, and counts in Stats, what cannot become a
// block: a slice whose cap is more than the largest class (DroppedOversize), less than
// the smallest class, or more than twice the class that it would be cut to, and one that
// does not begin at a multiple of 16 (DroppedForeign). It drops what Put would drop, and
// what the pool's [Budget] has no room for (DroppedFull). A pool with a [Source], as those
// off the heap, adopts nothing: there Adopt is Put. A pool with a Budget or [CheckAll]
// knows its own blocks, and there Adopt of one of them is Put too; other pools adopt it,
// which leaves InUseBytes too high.
func (p *BytePool) Adopt(b []byte) { p.actual().adopt(b, false) }

// adopt is Adopt or, hinted, Put of a Hint.
func (p *BytePool) adopt(b []byte, hinted bool) {
	class, ok := p.classes.Floor(cap(b))
	switch {
	case cap(b) == 0:
		return
	case cap(b) > p.classes.Largest(), p.source != nil:
		p.Put(b)
		return
	case !ok, cap(b) > 2*p.classes.Size(class), addressOf(b)%blockAlignment != 0:
		p.count.droppedForeign.Add(1)
		return
	case p.knows(class, b):
		p.putKnown(class, b, hinted)
		return
	}
	size := p.classes.Size(class)
	b = b[:size:size]
	if !p.gate.Adopt(class, blockOf(b)) {
		p.count.class[class].unissued.Add(1)
		return
	}
	watched := p.onPut&watchAll != 0
	if watched && p.checks.Adopt(addressOf(b), b) != check.Accepted {
		// Another goroutine has just adopted it.
		p.gate.Disown(class, blockOf(b))
		p.count.droppedDouble.Add(1)
		return
	}
	p.count.class[class].adopted.Add(1)
	p.giveBack(class, b, watched)
}

// knows reports whether the pool can tell that a slice, which would be cut to a class,
// belongs to one of its blocks.
func (p *BytePool) knows(class uint8, b []byte) bool {
	if p.onPut&watchAll != 0 || p.onPut&watchSome != 0 && check.Watched(addressOf(b)) {
		if p.checks.Overlaps(addressOf(b), cap(b)) {
			return true
		}
	}
	return p.onPut&askBudget != 0 && p.gate.Holds(class, addressOf(b))
}

// putKnown is Put for a slice that the pool knows. hinted says that a Hint handed out the
// block.
func (p *BytePool) putKnown(class uint8, b []byte, hinted bool) {
	size := p.classes.Size(class)
	if cap(b) != size && p.onPut&watchAll == 0 { // a part of a block, or what was adopted before
		p.count.droppedForeign.Add(1)
		return
	}
	if p.putBlock(class, b[:size:size]) && hinted {
		p.count.class[class].unissued.Add(1)
	}
}

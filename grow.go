package dewpond

import "fmt"

// Grow returns b with room for another n bytes, as slices.Grow does: b itself
// where its cap allows, else a larger block of this pool with b's bytes, and b's
// block goes back. b may be nil. It panics if n is negative.
func (p *BytePool) Grow(b []byte, n int) []byte {
	if n < 0 || len(b)+n < 0 {
		panic(fmt.Sprintf("dewpond: Grow by %d bytes from %d on pool %q: the size is negative or overflows", n, len(b), p.Name()))
	}
	if n <= cap(b)-len(b) {
		return b
	}
	return p.moved(b, append(p.Get(len(b) + n)[:0], b...))
}

// moved gives back the block that what is in grown was in. Where that panics, in a
// Source's Free or a report, nobody will have grown, so it goes back too.
func (p *BytePool) moved(b, grown []byte) []byte {
	returned := false
	defer func() {
		if !returned {
			p.Put(grown)
		}
	}()
	p.Put(b)
	returned = true
	return grown
}

// Append appends x to b, as append does: in place where b's cap allows, else in a
// larger block of this pool, and b's block goes back. b may be nil, and x may be
// part of b.
func (p *BytePool) Append(b []byte, x ...byte) []byte {
	if len(x) <= cap(b)-len(b) {
		return append(b, x...)
	}
	p = p.actual()
	n := len(b) + len(x)
	if n > p.classes.Largest() {
		// No more classes to grow by: leave room, as append would, or many
		// small appends would copy everything each time.
		n = max(n, cap(b)+cap(b)/4)
	}
	return p.moved(b, append(append(p.Get(n)[:0], b...), x...))
}

package dewpond

import "fmt"

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
	return p.moved(b, append(p.Get(len(b) + n)[:0], b...))
}

// moved puts back b, whose bytes are now in grown, and returns grown. If the Put panics,
// in a Source's Free or in a report, no caller gets grown, so moved puts it back too.
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

// Append appends x to b, as the built-in append does. If b's cap is too small, Append
// copies b's bytes to a larger block of this pool and puts b's block back. b may be nil,
// and x may be part of b.
func (p *BytePool) Append(b []byte, x ...byte) []byte {
	if len(x) <= cap(b)-len(b) {
		return append(b, x...)
	}
	p = p.actual()
	n := len(b) + len(x)
	if n > p.classes.Largest() {
		// There is no larger class. Leave room, as append does: otherwise each of many
		// small appends would copy everything.
		n = max(n, cap(b)+cap(b)/4)
	}
	return p.moved(b, append(append(p.Get(n)[:0], b...), x...))
}

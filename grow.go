package dewpond

import (
	"bytes"
	"io"
	"math"
)

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

func appended[X []byte | string](p *BytePool, b []byte, x X) []byte {
	if len(x) <= cap(b)-len(b) {
		return append(b, x...)
	}
	n := withRoom(b, len(x), p.actual().classes.Largest())
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

package contender

import (
	"math/bits"
	"slices"

	"github.com/dewpond/dewpond"
)

// The contenders written here share dewpond's own size classes, so that they
// differ in how they keep blocks and in nothing else. Lookup is as quick as
// dewpond's: one load from a table that is read-only once made.

const (
	maxSmall   = 32 << 10 // largest size that the table answers
	maxClasses = 64
)

var (
	sizes = dewpond.DefaultClasses()
	small = smallClasses() // of (n+15)/16 bytes
)

// A class is a size class: bits 0-7 its index, above them its size in bytes. The
// zero class holds nothing.
type class uint32

// index is below maxClasses, which spares the bounds check of an array that long.
func (c class) index() int { return int(c % maxClasses) }
func (c class) size() int  { return int(c >> 8) }

// fit is the smallest class that holds n bytes, or the zero class.
func fit(n int) class {
	if uint(n) <= maxSmall {
		return small[(uint(n)+15)/16]
	}
	return search(n)
}

func search(n int) class {
	i, _ := slices.BinarySearch(sizes, n)
	if i == len(sizes) {
		return 0
	}
	return class(sizes[i]<<8 | i)
}

func smallClasses() (table [maxSmall/16 + 1]class) {
	for i := range table {
		table[i] = search(16 * i)
	}
	return table
}

// slots is how many blocks of a size the bounded contenders keep: 64 MiB worth,
// but 64 to 1024 of them; a power of two.
func slots(size int) int {
	return 1 << (bits.Len(uint(min(max(64<<20/size, 64), 1024))) - 1)
}

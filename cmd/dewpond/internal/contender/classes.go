package contender

import (
	"math/bits"
	"slices"

	"github.com/dewpond/dewpond"
)

// The contenders that are written here share dewpond's size classes, so that they differ only
// in how they keep blocks. The lookup is as fast as dewpond's: one load from a table that never
// changes once it is made.

const (
	maxSmall   = 32 << 10 // the largest size in the table
	maxClasses = 64
)

var (
	sizes = dewpond.DefaultClasses()
	small = smallClasses() // of (n+15)/16 bytes
)

// A class is a size class. Bits 0-7 are its index, the bits above them its size in bytes. The
// zero class holds nothing.
type class uint32

// index returns a number below maxClasses, so that an array of that length needs no bounds check.
func (c class) index() int { return int(c % maxClasses) }
func (c class) size() int  { return int(c >> 8) }

// fit returns the smallest class that holds n bytes, or the zero class.
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

// slots is [slots] of the class with a size, or as many as Room has for sizes of that class; a power of two.
func (o Options) slots(size int) int {
	n := slots(size)
	for asked, blocks := range o.Room {
		if fit(asked).size() == size {
			n = max(n, 1<<bits.Len(uint(blocks-1)))
		}
	}
	return n
}

// slots returns how many blocks of a size the bounded contenders keep: 64 MiB of them, but at
// least 64 and at most 1024; a power of two.
func slots(size int) int {
	return 1 << (bits.Len(uint(min(max(64<<20/size, 64), 1024))) - 1)
}

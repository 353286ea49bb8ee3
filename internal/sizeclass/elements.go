package sizeclass

import "fmt"

// The classes of a pool of slices are numbers of elements. Their sizes in bytes are what
// New makes a table of. A size need not be a multiple of Multiple, nor one that Go
// allocates exactly.

// minSliceSize is the smallest class of slices, in bytes: a smaller block of the Go heap
// may share 16 bytes with another.
const minSliceSize = 32

// DefaultElements returns the default classes for elements of size bytes, in elements: as
// many as the default classes in bytes hold. There is none for elements that none of
// those holds.
func DefaultElements(size int) (classes []int) {
	for _, bytes := range defaults {
		n := bytes / size
		if n > 0 && (len(classes) == 0 || n > classes[len(classes)-1]) {
			classes = append(classes, n)
		}
	}
	return classes
}

// CheckElements is [Check] for classes in elements of size bytes, on the Go heap.
func CheckElements(classes []int, size int) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(classes) == 0 {
		fail("no class: give at least one number of elements")
	}
	if len(classes) > MaxClasses {
		fail("%d classes: at most %d", len(classes), MaxClasses)
	}
	least, most := (minSliceSize+size-1)/size, MaxSize/size
	for i, n := range classes {
		switch {
		case n < least || n > most:
			fail("class %d: a class of elements of %d bytes is %d to %d elements", n, size, least, most)
		case fills(n, size) != n:
			fail("class %d: elements of %d bytes are pooled in steps of %d bytes; use %d", n, size, Multiple, fills(n, size))
		}
		if i > 0 && n <= classes[i-1] {
			fail("class %d after %d: classes must ascend strictly", n, classes[i-1])
		}
	}
	return errs
}

// fills returns how many elements of size bytes are in the steps of the table that n of
// them need. If that is more than n, the table could not tell the two.
func fills(n, size int) int {
	return (n*size + Multiple - 1) / Multiple * Multiple / size
}

package sizeclass

import (
	"fmt"
	"slices"
)

// Check returns one error for each class that breaks a rule, with a size that breaks
// none; it returns no error when the classes are fit for [New]. With onHeap every class
// must also be an exact Go allocation size: make would round any other size up, and the
// difference would be lost in each block.
func Check(classes []int, onHeap bool) []error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(classes) == 0 {
		fail("no class: give at least one block size")
	}
	if len(classes) > MaxClasses {
		fail("%d classes: at most %d", len(classes), MaxClasses)
	}
	for i, size := range classes {
		switch {
		case size < MinSize || size > MaxSize:
			fail("class %d: a block size is %d to %d bytes", size, MinSize, MaxSize)
		case size%Multiple != 0:
			fail("class %d: a block size is a multiple of %d; %s", size, Multiple, instead(classes, size, onHeap))
		case onHeap && goSize(size) != size:
			fail("class %d: Go would allocate %d bytes for it; %s", size, goSize(size), instead(classes, size, onHeap))
		}
		if i > 0 && size <= classes[i-1] {
			fail("class %d after %d: block sizes must ascend strictly", size, classes[i-1])
		}
	}
	return errs
}

// goSize returns how many bytes Go allocates for a pointer-free object of size bytes.
// Go does not publish its table, but append rounds a capacity up to it. Above 32 KiB,
// where a trial allocation would be expensive, Go rounds to pages of 8 KiB.
func goSize(size int) int {
	const page = 8 << 10
	if size > MaxSmall {
		return (size + page - 1) / page * page
	}
	return cap(append([]byte(nil), make([]byte, size)...))
}

// instead names what to use in the place of a size that is between the limits: the
// nearest sizes on both sides that break no rule and are not classes already.
func instead(classes []int, size int, onHeap bool) string {
	fits := func(size int) bool { return !onHeap || goSize(size) == size }
	down := size / Multiple * Multiple
	for !fits(down) { // MinSize fits
		down -= Multiple
	}
	up := (size + Multiple - 1) / Multiple * Multiple
	if onHeap {
		up = goSize(up) // MaxSize is whole pages
	}
	switch hasDown, hasUp := slices.Contains(classes, down), slices.Contains(classes, up); {
	case hasDown && hasUp:
		return fmt.Sprintf("remove it, %d and %d are classes already", down, up)
	case hasDown:
		return fmt.Sprintf("use %d", up)
	case hasUp:
		return fmt.Sprintf("use %d", down)
	}
	return fmt.Sprintf("use %d or %d", down, up)
}

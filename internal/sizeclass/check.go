package sizeclass

import (
	"fmt"
	"runtime/metrics"
	"slices"
	"sync"
)

// Check returns one error for each class that breaks a rule, and says what to do; it returns no
// error when the classes are fit for [New]. On the heap a class may have any size. As make
// rounds it up to a size of Go's own, a second class of one such size would save nothing: it is
// an error. Elsewhere a class is a multiple of Multiple.
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
		case size%Multiple != 0 && !onHeap:
			fail("class %d: outside the Go heap a block size is a multiple of %d; %s", size, Multiple, instead(classes, size))
		}
		switch {
		case i == 0 || size > MaxSize:
		case size <= classes[i-1]:
			fail("class %d after %d: block sizes must ascend strictly", size, classes[i-1])
		case onHeap && classes[i-1] > 0 && goSize(size) == goSize(classes[i-1]):
			fail("classes %d and %d: Go allocates %d bytes for either; remove %d", classes[i-1], size, goSize(size), classes[i-1])
		}
	}
	return errs
}

// Allocated returns how many bytes Go allocates for each of some classes, which may be the
// classes themselves.
func Allocated(classes []int) []int {
	if !slices.ContainsFunc(classes, func(size int) bool { return goSize(size) != size }) {
		return classes
	}
	sizes := make([]int, len(classes))
	for i, size := range classes {
		sizes[i] = goSize(size)
	}
	return sizes
}

// Rooms returns how many bytes to allocate for a block of each of some classes, in a multiple of
// unit, so that it begins at a multiple of alignment, a power of two. Go's own sizes divide pages,
// without gaps. It returns false if that cannot be.
func Rooms(classes []int, unit, alignment int) (rooms []int, ok bool) {
	rooms = make([]int, len(classes))
	for i, size := range classes {
		for rooms[i] = size; goSize(rooms[i])%alignment != 0; rooms[i] += unit {
			if rooms[i] > 2*size {
				return nil, false
			}
		}
	}
	return rooms, true
}

// goSize returns how many bytes Go allocates for a pointer-free object of size bytes. Above 32 KiB
// Go rounds to pages of 8 KiB.
func goSize(size int) int {
	const page = 8 << 10
	if size > MaxSmall {
		return (size + page - 1) / page * page
	}
	sizes := goSizes()
	if i, _ := slices.BinarySearch(sizes, size); i < len(sizes) {
		return sizes[i]
	}
	return tried(size)
}

// goSizes returns the sizes up to MaxSmall that Go allocates, ascending. Go publishes no table of
// them, but a metric counts objects by size, and each of its buckets ends one byte above a size. It
// takes no trial allocations, which for the default classes are 350 KiB. A runtime without
// the metric has no sizes here.
var goSizes = sync.OnceValue(func() (sizes []int) {
	s := [...]metrics.Sample{{Name: "/gc/heap/allocs-by-size:bytes"}}
	if metrics.Read(s[:]); s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	for _, end := range s[0].Value.Float64Histogram().Buckets {
		if 1 < end && end <= MaxSmall+1 {
			sizes = append(sizes, int(end)-1)
		}
	}
	return sizes
})

// tried is goSize by a trial allocation: append rounds a capacity up to what Go allocates.
func tried(size int) int { return cap(append([]byte(nil), make([]byte, size)...)) }

// instead names what to use in the place of a size that is between the limits: the
// nearest multiples on both sides that are not classes already.
func instead(classes []int, size int) string {
	down := size / Multiple * Multiple
	up := down + Multiple
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

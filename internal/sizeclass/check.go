package sizeclass

import "fmt"

// Check returns one error for each class that breaks the rules, saying what
// would do instead; none when classes are fit for New. With onHeap every class
// must also be an exact Go allocation size: make would round any other up, and
// the difference would be lost in each block.
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
			fail("class %d: a block size is a multiple of %d; %d or %d would do",
				size, Multiple, size/Multiple*Multiple, (size/Multiple+1)*Multiple)
		case onHeap && goSize(size) != size:
			fail("class %d: Go would allocate %d bytes for it; %s would do", size, goSize(size), neighbours(size))
		}
		if i > 0 && size <= classes[i-1] {
			fail("class %d after %d: block sizes ascend strictly", size, classes[i-1])
		}
	}
	return errs
}

// goSize returns how many bytes Go allocates for a pointer-free object of size
// bytes. Go does not publish its table, but append rounds a capacity up to it;
// above 32 KiB, where trying would be dear, Go rounds to pages of 8 KiB.
func goSize(size int) int {
	const page = 8 << 10
	if size > MaxSmall {
		return (size + page - 1) / page * page
	}
	return cap(append([]byte(nil), make([]byte, size)...))
}

// neighbours names the exact Go sizes on both sides of size, within the limits.
func neighbours(size int) string {
	up := goSize(size)
	for down := size - Multiple; down >= MinSize; down -= Multiple {
		if goSize(down) == down {
			return fmt.Sprintf("%d or %d", down, up)
		}
	}
	return fmt.Sprint(up)
}

package dewpond_test

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)

// BenchmarkSlicePool is a Get, a write to the first and the last element and a Put of a
// SlicePool. In turn with it the same is done with a BytePool, and with a sync.Pool of
// pointers to slices of the class, each with the same clearing.
func BenchmarkSlicePool(b *testing.B) {
	for _, size := range []int{128, 1024, 8192} {
		for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroNever} {
			bytes := newPool(b, dewpond.BytePoolOptions{Zero: zero})
			floats := newSlices(b, dewpond.SlicePoolOptions[float64]{Zero: zero})
			ours := func(n int) { floatLoop(floats, size/8, n) }
			compareSlices(b, "float64/of BytePool", size, zero, ours, func(n int) { ourLoop(bytes, size, n) })
			compareSlices(b, "float64/of sync.Pool", size, zero, ours, syncSlices(size/8, zero == dewpond.ZeroOnPut, 1.0))
		}
		// Entries have pointers: to clear them the collector must be told.
		each := size / int(unsafe.Sizeof(entry{}))
		bytes := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		entries := newSlices(b, dewpond.SlicePoolOptions[entry]{})
		own := make([]entry, cap(entries.Get(each)))
		ours := func(n int) { entryLoop(entries, each, n) }
		compareSlices(b, "entry/of BytePool", size, dewpond.ZeroOnPut, ours, func(n int) {
			for range n {
				block := bytes.Get(size)
				block[0], block[size-1] = 1, 1
				clear(own)
				bytes.Put(block)
			}
		})
		compareSlices(b, "entry/of sync.Pool", size, dewpond.ZeroOnPut, ours, syncSlices(each, true, entry{Value: 1}))
	}
}

// syncSlices returns the loop with a sync.Pool.
func syncSlices[T any](size int, clears bool, write T) func(n int) {
	pool := sync.Pool{New: func() any { s := make([]T, size); return &s }}
	return func(n int) {
		for range n {
			s := pool.Get().(*[]T)
			(*s)[0], (*s)[size-1] = write, write
			if clears {
				clear(*s)
			}
			pool.Put(s)
		}
	}
}

func compareSlices(b *testing.B, of string, size int, zero dewpond.ZeroPolicy, ours, control func(n int)) {
	b.Run(fmt.Sprintf("%s/size=%d/zero=%d", of, size, zero), func(b *testing.B) { compareRounds(b, ours, control) })
}

// floatLoop and entryLoop are ourLoop for slices.
func floatLoop(p *dewpond.SlicePool[float64], size, n int) {
	for range n {
		s := p.Get(size)
		s[0], s[len(s)-1] = 1, 1
		p.Put(s)
	}
}

func entryLoop(p *dewpond.SlicePool[entry], size, n int) {
	for range n {
		s := p.Get(size)
		s[0].Value, s[len(s)-1].Value = 1, 1
		p.Put(s)
	}
}

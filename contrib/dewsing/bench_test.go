package dewsing_test

import (
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewsing"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkGetPut is a buffer of 16 KiB, with a sync.Pool of arrays of that size, as sing
// has one for each size, in turn. Neither is cleared.
func BenchmarkGetPut(b *testing.B) {
	ours := dewsing.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name(), Zero: dewpond.ZeroNever}))
	arrays := sync.Pool{New: func() any { return new([16 << 10]byte) }}
	turns.Take(b, 100_000, func() {
		buf := ours.Get(16 << 10)
		buf[0] = 1
		ours.Put(buf)
	}, func() {
		buf := arrays.Get().(*[16 << 10]byte)[:]
		buf[0] = 1
		arrays.Put((*[16 << 10]byte)(buf))
	})
}

package dewpond_test

import (
	"fmt"
	"testing"

	"github.com/dewpond/dewpond"
)

// BenchmarkSampled is a Get, a touch and a Put with CheckSampled, in turn with the same
// with CheckOff. BenchmarkCheckAll says what tests pay.
func BenchmarkSampled(b *testing.B) { benchmarkCheck(b, dewpond.CheckSampled) }

func BenchmarkCheckAll(b *testing.B) { benchmarkCheck(b, dewpond.CheckAll) }

func benchmarkCheck(b *testing.B, mode dewpond.CheckMode) {
	for _, size := range []int{128, 8192} {
		for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroNever, dewpond.ZeroOnPut} {
			checked := newPool(b, dewpond.BytePoolOptions{Zero: zero, Check: mode})
			off := newPool(b, dewpond.BytePoolOptions{Zero: zero})
			b.Run(fmt.Sprintf("size=%d/zero=%v/goroutines=1", size, zero == dewpond.ZeroOnPut), func(b *testing.B) {
				compareRounds(b, func(n int) { ourLoop(checked, size, n) }, func(n int) { ourLoop(off, size, n) })
			})
			b.Run(fmt.Sprintf("size=%d/zero=%v/goroutines=GOMAXPROCS", size, zero == dewpond.ZeroOnPut), func(b *testing.B) {
				compareRounds(b,
					func(n int) { parallel(n, func(n int) { ourLoop(checked, size, n) }) },
					func(n int) { parallel(n, func(n int) { ourLoop(off, size, n) }) })
			})
		}
	}
}

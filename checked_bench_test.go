package dewpond_test

import (
	"fmt"
	"runtime"
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

// BenchmarkSampledPools is a Get and Put with CheckSampled of so many pools in turn, which all have blocks in
// quarantine. Its control is the same without checks.
func BenchmarkSampledPools(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			pools := func(mode dewpond.CheckMode) (all []*dewpond.BytePool) {
				for range n {
					all = append(all, newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever, Check: mode}))
				}
				return all
			}
			inTurn := func(all []*dewpond.BytePool) func(uses int) {
				return func(uses int) {
					for range uses / 8 / n {
						for _, p := range all {
							var blocks [8][]byte
							for i := range blocks {
								blocks[i] = p.Get(128)
							}
							for _, block := range blocks {
								p.Put(block)
							}
						}
					}
				}
			}
			checked, off := inTurn(pools(dewpond.CheckSampled)), inTurn(pools(dewpond.CheckOff))
			checked(n * 512 * 1024) // the quarantines are full
			compareRounds(b, checked, off)
		})
	}
}

// BenchmarkCheckAllPool is a Get, a write and a Put of a Pool with CheckAll, so many calls
// deep. Its control is two calls of runtime.Callers that return as many frames as the stacks
// of the Get and of the Put have: what these would cost if the runtime recorded them, and
// nothing else were done.
func BenchmarkCheckAllPool(b *testing.B) {
	trades := dewpond.MustPool(dewpond.PoolOptions[trade]{Name: "watched trades", Check: dewpond.CheckAll})
	defer trades.Close()
	// As many frames of a stack are the library's: those of Put, asked, putWatched, put and
	// callers.
	const ours = 5
	var pcs [32]uintptr
	record := func() { runtime.Callers(1, pcs[:]) }
	for _, depth := range []int{0, 10, 20} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			compareRounds(b,
				func(n int) { further(depth, func() { useTrades(trades, n) }) },
				func(n int) {
					further(depth, func() {
						for range n {
							further(ours-2, record) // and itself, and record
							further(ours-2, record)
						}
					})
				})
		})
	}
}

// further calls f so many calls further down.
//
//go:noinline
func further(calls int, f func()) {
	if calls == 0 {
		f()
		return
	}
	further(calls-1, f)
}

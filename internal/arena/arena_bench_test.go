package arena

import (
	"fmt"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

func onBothBench(b *testing.B, bench func(b *testing.B, c Config)) {
	b.Run("heap", func(b *testing.B) { bench(b, Config{OnHeap: true}) })
	if platform().maps() {
		b.Run("mapped", func(b *testing.B) { bench(b, Config{}) })
	}
}

func BenchmarkOwns(b *testing.B) {
	onBothBench(b, func(b *testing.B, c Config) {
		a := newTest(b, c)
		block := mustAlloc(b, a, 8192)
		for b.Loop() {
			if !a.Owns(block) {
				b.Fatal("not owned")
			}
		}
	})
}

func BenchmarkIssue(b *testing.B) {
	onBothBench(b, func(b *testing.B, c Config) {
		a := newTest(b, c)
		block := mustAlloc(b, a, 8192)
		for b.Loop() {
			a.Issue(block)
		}
	})
}

// BenchmarkIssueReturn times what Put and Get of one block cost beyond the pool's own
// work.
func BenchmarkIssueReturn(b *testing.B) {
	onBothBench(b, func(b *testing.B, c Config) {
		a := newTest(b, c)
		block := mustAlloc(b, a, 8192)
		for b.Loop() {
			a.Issue(block)
			a.Return(block)
		}
	})
}

// BenchmarkIssueReturnNeighbours does the same on two goroutines whose blocks are
// neighbours, to show whether one slows down the other.
func BenchmarkIssueReturnNeighbours(b *testing.B) {
	for _, size := range []int{64, 256, 1024, 4096} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			a := newTest(b, Config{})
			const round = 10_000
			blocks := [][]byte{mustAlloc(b, a, size), mustAlloc(b, a, size)}
			for b.Loop() {
				var wg go125.WaitGroup
				for _, block := range blocks {
					wg.Go(func() {
						for range round {
							a.Issue(block)
							a.Return(block)
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/round, "ns/pair")
		})
	}
}

func BenchmarkAllocFree(b *testing.B) {
	for _, size := range []int{128, 8192, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			a := newTest(b, Config{})
			mustAlloc(b, a, size)
			for b.Loop() {
				a.Free(mustAlloc(b, a, size))
			}
		})
	}
}

// BenchmarkDecommit times Decommit of 64 MiB that were touched: in adjacent spans of 64
// KiB, and of every other one.
func BenchmarkDecommit(b *testing.B) {
	for _, every := range []int{1, 2} {
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			a := newTest(b, Config{})
			const size, count = 64 << 10, 1024
			var released int64
			for b.Loop() {
				b.StopTimer()
				var blocks, keep [][]byte
				for i := range count * every {
					block := mustAlloc(b, a, size)
					if i%every != 0 {
						keep = append(keep, block)
						continue
					}
					for i := 0; i < size; i += 4096 {
						block[i] = 1
					}
					blocks = append(blocks, block)
				}
				for _, block := range blocks {
					a.Free(block)
				}
				b.StartTimer()
				n, err := a.Decommit()
				if err != nil {
					b.Fatal(err)
				}
				released += n
				b.StopTimer()
				for _, block := range keep {
					a.Free(block)
				}
				if _, err := a.Decommit(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(released)/float64(b.N)/(1<<20), "MiB/op")
		})
	}
}

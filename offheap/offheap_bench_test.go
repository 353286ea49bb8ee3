package offheap_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/offheap"
)

// BenchmarkGetPut times a Get, a write of the first and last byte and a Put off the
// heap, alternating with the same on the heap.
func BenchmarkGetPut(b *testing.B) {
	for _, size := range []int{128, 8192} {
		for _, procs := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("size=%d/goroutines=%d", size, procs), func(b *testing.B) {
				off := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}, offheap.Options{})
				on, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
				if err != nil {
					b.Fatal(err)
				}
				const round = 20_000
				loop := func(p *dewpond.BytePool) time.Duration {
					start := time.Now()
					var wg go125.WaitGroup
					for range procs {
						wg.Go(func() {
							for range round / procs {
								b := p.Get(size)
								b[0], b[len(b)-1] = 1, 1
								p.Put(b)
							}
						})
					}
					wg.Wait()
					return time.Since(start)
				}
				var offTook, onTook time.Duration
				for b.Loop() {
					offTook += loop(off)
					onTook += loop(on)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(offTook)/float64(b.N)/round, "offheap-ns")
				b.ReportMetric(float64(onTook)/float64(b.N)/round, "heap-ns")
			})
		}
	}
}

// BenchmarkGrow times how long a pool takes to grow by 64 MiB, page by page or by 1 MiB
// at a time, each page written to, and to give them back; coupled and uncoupled in
// turn.
func BenchmarkGrow(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	for _, size := range []int{4096, 1 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			o := dewpond.BytePoolOptions{Classes: []int{4096, 1 << 20}, Zero: dewpond.ZeroNever, IdleTimeout: dewpond.NoDecay, MaxIdleBytes: 1 << 30}
			coupled, uncoupled := newPool(b, o, offheap.Options{Coupled: true}), newPool(b, o, offheap.Options{})
			blocks := make([][]byte, 64<<20/size)
			grow := func(p *dewpond.BytePool) time.Duration {
				start := time.Now()
				for i := range blocks {
					blocks[i] = p.Get(size)
					for at := 0; at < size; at += 4096 {
						blocks[i][at] = 1
					}
				}
				for _, b := range blocks {
					p.Put(b)
				}
				p.Trim()
				return time.Since(start)
			}
			var on, off time.Duration
			for b.Loop() {
				on += grow(coupled)
				off += grow(uncoupled)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(on)/float64(b.N)/64/1e3, "coupled-us/MiB")
			b.ReportMetric(float64(off)/float64(b.N)/64/1e3, "uncoupled-us/MiB")
			b.ReportMetric(float64(on)/float64(off), "ratio")
		})
	}
}

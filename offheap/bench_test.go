package offheap_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// BenchmarkGetPut is a Get, a touch of the first and last byte and a Put off the
// heap, with the same on the heap in turn.
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
					var wg sync.WaitGroup
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

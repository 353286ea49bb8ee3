package contender

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkMicro runs batches of four contenders in turn, and reports the median of each and
// dewpond's ratio to the others. So all figures of a table are of the same minutes.
//
//	go test -run '^$' -bench Micro ./internal/contender
func BenchmarkMicro(b *testing.B) {
	for _, size := range []int{128, 8192} {
		for _, goroutines := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("size=%d/goroutines=%d", size, goroutines), func(b *testing.B) {
				compare(b, size, goroutines, dewpondContender, syncpoolClass, mcacheContender, nop)
			})
		}
	}
}

// compare takes the median of at least 200 batches of each contender, in about 3 s.
func compare(b *testing.B, size, goroutines int, contenders ...Contender) {
	const count, least = 20_000, 200
	views := make([][]View, len(contenders))
	for i, c := range contenders {
		p := c.New(Options{})
		for range goroutines {
			views[i] = append(views[i], p.View())
		}
		batch(views[i], size, count)
	}
	ns := make([][]float64, len(contenders))
	b.ResetTimer()
	for range max(b.N/count, least) {
		for i := range contenders {
			ns[i] = append(ns[i], float64(batch(views[i], size, count))/float64(count*goroutines))
		}
	}
	b.ReportMetric(0, "ns/op") // of all contenders together, which means nothing
	median := func(i int) float64 { return slices.Sorted(slices.Values(ns[i]))[len(ns[i])/2] }
	for i, c := range contenders {
		b.ReportMetric(median(i), c.Name+"-ns/op")
		if i > 0 {
			b.ReportMetric(median(0)/median(i), "x-"+c.Name)
		}
	}
}

func batch(views []View, size, count int) time.Duration {
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for _, v := range views {
		wg.Go(func() {
			<-gate
			v.Loop(size, count)
		})
	}
	began := time.Now()
	close(gate)
	wg.Wait()
	return time.Since(began)
}

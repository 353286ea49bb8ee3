package contender

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// BenchmarkOffHeap compares the pool on mapped memory with the heap pool and with sync.Pool. It runs
// rounds of batches in turn, and reports the median, the least and the largest ratio of the rounds:
// a machine whose speed drifts slows all three pools.
//
//	go test -run '^$' -bench OffHeap ./internal/contender
func BenchmarkOffHeap(b *testing.B) {
	for _, size := range []int{128, 1024, 8192} {
		for _, goroutines := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("size=%d/goroutines=%d", size, goroutines), func(b *testing.B) {
				compareOffHeap(b, size, goroutines)
			})
		}
	}
}

func compareOffHeap(b *testing.B, size, goroutines int) {
	const (
		count  = 20_000 // operations of one goroutine in a batch
		turns  = 25     // batches of each contender in a round, whose median counts
		rounds = 12
	)
	contenders := []Contender{dewpondOffHeap, dewpondContender, syncpoolClass}
	views := make([][]View, len(contenders))
	for i, c := range contenders {
		p := c.New(Options{})
		for range goroutines {
			views[i] = append(views[i], p.View())
		}
		batch(views[i], size, count)
	}
	runtime.GC() // otherwise some batches would pay for the garbage of other contenders
	medians := make([][]float64, len(contenders))
	b.ResetTimer()
	for range max(b.N/count, rounds) {
		ns := make([][]float64, len(contenders))
		for range turns {
			for i := range contenders {
				ns[i] = append(ns[i], float64(batch(views[i], size, count))/float64(count*goroutines))
			}
		}
		for i := range contenders {
			medians[i] = append(medians[i], middle(ns[i]))
		}
	}
	b.ReportMetric(0, "ns/op") // of all contenders together, which means nothing
	for i, c := range contenders {
		b.ReportMetric(middle(medians[i]), c.Name+"-ns/op")
		if i > 0 {
			ratios := make([]float64, len(medians[i]))
			for round := range ratios {
				ratios[round] = medians[0][round] / medians[i][round]
			}
			b.ReportMetric(middle(ratios), "x-"+c.Name)
			b.ReportMetric(slices.Min(ratios), "x-"+c.Name+"-min")
			b.ReportMetric(slices.Max(ratios), "x-"+c.Name+"-max")
		}
	}
}

func middle(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }

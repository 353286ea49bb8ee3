package dewpond_test

import (
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/percpu"
)

// BenchmarkHotPath holds what a hit costs beside what it cannot be without: ratio is a
// Get, a touch and a Put of one size, less the touch alone, to two pairs of Pin and
// Unpin. All three are measured in turn, round by round.
func BenchmarkHotPath(b *testing.B) {
	if !percpu.Pinned {
		b.Skip("the portable engine pins nothing")
	}
	for _, size := range []int{128, 8192} {
		b.Run("size="+sizeName(size), func(b *testing.B) {
			const round = 2_000
			p := newPool(b, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
			ourLoop(p, size, 1000)
			block := p.Get(size)
			var hits, pins, ratios []float64
			for b.Loop() {
				start := time.Now()
				ourLoop(p, size, round)
				first := time.Now()
				touchLoop(block, round)
				second := time.Now()
				pinLoop(round)
				third := time.Now()
				hit := float64(first.Sub(start)-second.Sub(first)) / round
				pin := float64(third.Sub(second)) / round
				hits, pins, ratios = append(hits, hit), append(pins, pin), append(ratios, hit/pin)
			}
			p.Put(block)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(hits), "hit-ns")
			b.ReportMetric(middle(pins), "pins-ns")
			b.ReportMetric(middle(ratios), "ratio")
		})
	}
}

func sizeName(n int) string {
	if n == 128 {
		return "128"
	}
	return "8192"
}

//go:noinline
func touchLoop(b []byte, n int) {
	for range n {
		touchOne(b)
	}
}

//go:noinline
func touchOne(b []byte) { b[0], b[len(b)-1] = 1, 1 }

func pinLoop(n int) {
	for range n {
		percpu.Pin()
		percpu.Unpin()
		percpu.Pin()
		percpu.Unpin()
	}
}

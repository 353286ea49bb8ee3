package dewpond_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// BenchmarkGuarded holds a pool of which so many Gets a second are sampled beside one that guards
// nothing: ratio is a Get, touch and Put of the one to one of the other. control is the same of two that
// guard nothing, so what ratio is beyond it is what guarding costs. All three are measured in turn.
func BenchmarkGuarded(b *testing.B) {
	for _, rate := range []float64{10, 100, 1000} {
		for _, size := range []int{128, 8192} {
			b.Run(fmt.Sprintf("rate=%v/size=%s", rate, sizeName(size)), func(b *testing.B) {
				o := dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}
				var pools [3]*dewpond.BytePool
				for i := range 2 {
					pools[i] = newPool(b, o)
				}
				if _, why := dewpond.GuardAs(b, fmt.Sprint("touch=", rate)); why != "" {
					b.Skip(why)
				}
				pools[2] = newPool(b, o)
				const round = 20_000
				for _, p := range pools {
					ourLoop(p, size, 1000)
				}
				var controls, ratios []float64
				for n := 0; b.Loop(); n++ {
					var took [3]float64
					for i := range pools {
						i = (i + n) % 3
						start := time.Now()
						ourLoop(pools[i], size, round)
						took[i] = float64(time.Since(start))
					}
					controls, ratios = append(controls, took[1]/took[0]), append(ratios, took[2]/took[0])
				}
				s := pools[2].Stats()
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(middle(controls), "control")
				b.ReportMetric(middle(ratios), "ratio")
				b.ReportMetric(s.GuardRate, "samples/s")
			})
		}
	}
}

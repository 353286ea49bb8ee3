package dewpond_test

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// ourLoop and theirLoop are one loop written twice: through an interface or a type
// parameter the calls would be indirect, which users' calls are not.
func ourLoop(p *dewpond.BytePool, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

func theirLoop(p *classPools, size, n int) {
	for range n {
		b := p.Get(size)
		b[0], b[len(b)-1] = 1, 1
		p.Put(b)
	}
}

// parallel shares n among a goroutine for each P.
func parallel(n int, loop func(n int)) {
	var wg go125.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	for range procs {
		wg.Go(func() { loop(n / procs) })
	}
	wg.Wait()
}

// compareRounds runs ours and its control in turn and reports the medians of their
// rounds' times, and of the rounds' ratios.
func compareRounds(b *testing.B, ours, control func(n int)) {
	compareRoundsOf(b, 20_000, ours, control)
}

// compareRoundsOf is compareRounds with rounds of so many uses. Of ten rounds, with -benchtime 10x, the
// median ratio of all rounds that there could be is between ratio-low and ratio-high in 98 runs of 100.
func compareRoundsOf(b *testing.B, round int, ours, control func(n int)) {
	ours(round/20 + 1)
	control(round/20 + 1)
	var took, controls, ratios []float64
	for b.Loop() {
		start := time.Now()
		ours(round)
		middle := time.Now()
		control(round)
		took = append(took, float64(middle.Sub(start))/float64(round))
		controls = append(controls, float64(time.Since(middle))/float64(round))
		ratios = append(ratios, took[len(took)-1]/controls[len(controls)-1])
	}
	reportRatios(b, took, controls, ratios)
}

// compareUses compares two uses one at a time, in turn, each after what before does and with its time alone
// measured. The figure of a round is the median of its uses: a processor that is shared spoils few of them.
func compareUses(b *testing.B, round int, before func(use func()), ours, control func()) {
	time := func(use func()) float64 {
		before(use)
		start := time.Now()
		use()
		return float64(time.Since(start))
	}
	var took, controls, ratios []float64
	for b.Loop() {
		var us, them []float64
		for i := range round {
			if i%2 == 0 {
				us, them = append(us, time(ours)), append(them, time(control))
			} else {
				them, us = append(them, time(control)), append(us, time(ours))
			}
		}
		took, controls = append(took, middle(us)), append(controls, middle(them))
		ratios = append(ratios, middle(us)/middle(them))
	}
	reportRatios(b, took, controls, ratios)
}

// reportRatios reports the medians of rounds, and an interval of the median ratio.
func reportRatios(b *testing.B, took, controls, ratios []float64) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(middle(took), "dewpond-ns")
	b.ReportMetric(middle(controls), "control-ns")
	b.ReportMetric(middle(ratios), "ratio")
	if n := len(ratios); n > 5 { // of fewer there is no interval
		half := int(math.Sqrt(float64(n)))
		b.ReportMetric(ratios[n/2-half-1], "ratio-low")
		b.ReportMetric(ratios[n/2+half], "ratio-high")
	}
}

// middle returns the median.
func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// versus compares two loops, in one goroutine and in one for each P.
func versus(b *testing.B, name string, ours, control func(n int)) {
	b.Run(name+"/goroutines=1", func(b *testing.B) { compareRounds(b, ours, control) })
	b.Run(name+"/goroutines=GOMAXPROCS", func(b *testing.B) {
		compareRounds(b, func(n int) { parallel(n, ours) }, func(n int) { parallel(n, control) })
	})
}

// A trade is an object of 128 bytes, two whole cache lines, pointers among them.
type trade struct {
	ID          int64
	Name, Email string
	Price       [11]int64
}

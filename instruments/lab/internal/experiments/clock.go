package experiments

import (
	"runtime"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// batchTime is about how long one batch of operations runs: the median of batches discards the
// bursts of other processes.
const batchTime = 2 * time.Millisecond

// A way is one of several ways to do the same. loop does it n times.
type way struct {
	name string
	loop func(n int)
}

// times sets the nanoseconds of one operation of each way, as a figure of the case of its name:
// the median of batches. The ways take turns, batch by batch, so that what the machine does
// meanwhile meets all of them. full is how long each takes in a full run.
func times(r *experiment.Run, figure string, full time.Duration, ways ...way) {
	counts := make([]int, len(ways))
	ns := make([][]float64, len(ways))
	run := func(i, n int) time.Duration { return kit.Clocked(func() { ways[i].loop(n) }) }
	span := r.Span(full)
	for i := range ways {
		counts[i] = kit.Filling(min(batchTime, span), 1, func(n int) time.Duration { return run(i, n) })
	}
	for began := kit.Now(); len(ns[0]) == 0 || kit.Now()-began < span*time.Duration(len(ways)); {
		for i := range ways {
			ns[i] = append(ns[i], float64(run(i, counts[i]))/float64(counts[i]))
		}
	}
	for i, w := range ways {
		r.SetOf(w.name, figure, quantile.Median(ns[i]))
	}
}

// allocations returns the bytes and the objects that one operation allocates. loop does n.
func allocations(n int, loop func(n int)) (bytes, objects float64) {
	var heap kit.Heap
	loop(n) // warm
	b0, o0 := heap.Read()
	loop(n)
	b1, o1 := heap.Read()
	return float64(b1-b0) / float64(n), float64(o1-o0) / float64(n)
}

// pauses are what the collector has stopped the world for so far.
type pauses struct {
	cycles uint32
	total  uint64
}

func readPauses() pauses {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return pauses{m.NumGC, m.PauseTotalNs}
}

// since returns the number of collections since an earlier reading, and their mean pause.
func (p pauses) since(earlier pauses) (cycles, mean float64) {
	cycles = float64(p.cycles - earlier.cycles)
	if cycles > 0 {
		mean = float64(p.total-earlier.total) / cycles
	}
	return cycles, mean
}

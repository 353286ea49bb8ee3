package workload

import (
	"fmt"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// Micro measures single operations.
var Micro = Scenario{
	Name: "micro",
	About: "nanoseconds for Get, a write to the first and the last byte, and Put, of 128 B and of 8 KiB; in one goroutine, and in one for each processor " +
		"(then wall time divided by the operations of all). Contenders clear only what they must. " +
		"If dewpond takes part, also its other tools, each beside what it replaces: Pool, Lease, Scope, Buffer.",
	Defaults:    Spec{Goroutines: runtime.GOMAXPROCS(0), Duration: 800 * time.Millisecond},
	QuickRounds: 2,
	Tools:       true,
	Drive:       runMicro,
}

var microSizes = []int{128, 8192}

// batchTime is about how long one batch runs: long compared with the start of its goroutines,
// short compared with the bursts of other processes, which the median discards.
const batchTime = 5 * time.Millisecond

func runMicro(j *Job) error {
	var all []figure
	for _, size := range microSizes {
		// Each size has its own pool: some pools adapt to the sizes that they see, and the size
		// that is measured first would spoil the other.
		j.Pool = j.Fresh(contender.Options{Size: size})
		var views []contender.View
		for range j.Goroutines {
			views = append(views, j.Pool.View())
		}
		all = append(all,
			figure{key: fmt.Sprintf("micro_%d_1g_ns", size), views: views[:1], size: size},
			figure{key: fmt.Sprintf("micro_%d_par_ns", size), views: views, size: size})
	}
	for i := range all {
		all[i].calibrate()
	}
	return j.Measured(func() error {
		for _, f := range all {
			j.micro(f)
		}
		return nil
	})
}

// A figure is one figure of micro: a loop of count operations on blocks of one size, in each
// view at once.
type figure struct {
	key   string
	views []contender.View
	size  int
	count int
}

// micro spends a quarter of the round on one figure, the median of its batches.
func (j *Job) micro(f figure) {
	var ns []float64
	for began := kit.Now(); kit.Now()-began < j.Duration/4 && !j.Cut(); {
		took := f.batch()
		total := f.count * len(f.views)
		ns = append(ns, float64(took)/float64(total))
		j.Result.Ops += uint64(total)
	}
	if len(ns) > 0 {
		j.Result.Figures[f.key] = quantile.Median(ns)
	}
}

// calibrate finds how many operations fill a batch, and warms up the pool.
func (f *figure) calibrate() {
	f.count = kit.Filling(batchTime, 1000, func(count int) time.Duration {
		f.count = count
		return f.batch()
	})
}

// batch runs the loop count times in each view at once.
func (f *figure) batch() time.Duration {
	var loops []func()
	for _, v := range f.views {
		loops = append(loops, func() { v.Loop(f.size, f.count) })
	}
	return kit.Clocked(loops...)
}

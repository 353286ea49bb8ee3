package experiments

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// padding has two threads add to two counters, so and so many bytes apart. The threads are
// locked and begin at a barrier, so that they really run at once.
var padding = experiment.Experiment{
	ID:       "padding",
	Question: "How far apart must two counters be?",
	Claims: []experiment.Claim{{
		ID: "padding/line", Text: "with 64 B of padding instead of 16 two writers are 2.8 times as fast", Publication: sizing, Judge: judgePaddingLine, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("16 B", "add_ns"): experiment.At("64 B", "add_ns")}},
	}, {
		ID: "padding/two-lines", Text: "128 B are no better than 64", Publication: sizing, Judge: judgePaddingTwo, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("128 B", "add_ns"): experiment.At("8 B", "add_ns")}},
	}},
	Cases: []string{"strides"},
	Each:  900 * time.Millisecond,
	Run:   runPadding,
	Plots: []experiment.Plot{
		{Figure: "add_ns", Title: "An atomic addition, two threads at once", Note: "by the distance of their counters"},
	},
}

var strides = []int{8, 16, 64, 128}

func runPadding(r *experiment.Run) error {
	if runtime.GOMAXPROCS(0) < 2 {
		return fmt.Errorf("two threads need two processors")
	}
	memory := new([1024]atomic.Int64) // larger than a line, so it is aligned to one
	ns := make([][]float64, len(strides))
	var alone []float64
	for began := kit.Now(); len(alone) == 0 || kit.Now()-began < r.Span(900*time.Millisecond); {
		for i, stride := range strides {
			if took, overlap := twoWriters(&memory[64], &memory[64+stride/8]); overlap {
				ns[i] = append(ns[i], took)
			}
		}
		began := kit.Now()
		for range additions {
			memory[64].Add(1)
		}
		alone = append(alone, float64(kit.Now()-began)/additions)
	}
	for i, stride := range strides {
		name := strconv.Itoa(stride) + " B"
		r.SetOf(name, "overlapped", float64(len(ns[i])))
		if len(ns[i]) > 0 {
			r.SetOf(name, "add_ns", quantile.Median(ns[i]))
		}
	}
	r.SetOf("one thread", "add_ns", quantile.Median(alone))
	return nil
}

// additions are how many a writer makes in one go: few, so that on a busy machine some go by while
// both threads have a processor.
const additions = 20_000

// twoWriters returns the nanoseconds of an addition by the slower of two threads, and whether they
// were at work at the same time for nearly all of it.
func twoWriters(a, b *atomic.Int64) (ns float64, overlap bool) {
	var ready atomic.Int32
	var began, ended [2]time.Duration
	var wg sync.WaitGroup
	for i, counter := range []*atomic.Int64{a, b} {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Add(1)
			for tries := 0; ready.Load() < 2; tries++ {
				if tries > 1000 { // the other thread is still to be started
					runtime.Gosched()
				}
			}
			began[i] = kit.Now()
			for range additions {
				counter.Add(1)
			}
			ended[i] = kit.Now()
		})
	}
	wg.Wait()
	longer := max(ended[0]-began[0], ended[1]-began[1])
	both := min(ended[0], ended[1]) - max(began[0], began[1])
	return float64(longer) / additions, both > longer*8/10
}

func judgePaddingLine(m experiment.Measured) experiment.Finding {
	close, apart := experiment.At("16 B", "add_ns"), experiment.At("64 B", "add_ns")
	if f, lacking := m.Lacking(close, apart); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s at 16 B, %s at 64 B", m.Text(close), m.Text(apart)),
		Control:  "one thread alone " + m.Text(experiment.At("one thread", "add_ns")),
		Do:       "Put what different processors write 64 B apart, with a field _ [64]byte.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(close, apart), 2.8)
	return f
}

func judgePaddingTwo(m experiment.Measured) experiment.Finding {
	one, two := experiment.At("64 B", "add_ns"), experiment.At("128 B", "add_ns")
	if f, lacking := m.Lacking(one, two); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s at 64 B, %s at 128 B", m.Text(one), m.Text(two)),
		Control:  "8 B " + m.Text(experiment.At("8 B", "add_ns")),
		Do:       "64 B are enough on this machine; 128 B are for those that fetch lines in pairs.",
	}
	f.Verdict, f.Why = experiment.Equal(m.Ratio(one, two), 0.25)
	return f
}

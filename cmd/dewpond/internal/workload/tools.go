package workload

import (
	"context"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// toolBatch is about how long one batch of an alternative runs: short, so that two batches to be
// compared are close in time, and yet several collections long with much garbage.
const toolBatch = 3 * time.Millisecond

// compareTools runs the alternatives of every case in turn in this process until the time is
// over: it is after their ratio, and two batches side by side see the machine in the same
// state. It runs at least one turn. A turn during which ctx ends does not count.
//
// Each turn has new pools: the place of a pool and its objects on the heap affects how fast it
// is, and must not stay the same for a whole round.
func compareTools(ctx context.Context, cases func() []tool.Case, processors int, d time.Duration) []result.ToolRound {
	began := kit.Now()
	var heap kit.Heap
	var uses []*use
	for _, c := range cases() {
		uses = append(uses, newUse(c, processors, &heap))
	}
	turns := 0
	for ; turns == 0 || kit.Now()-began < d; turns++ {
		for i, c := range cases() {
			uses[i].turn(turns, c)
			if ctx.Err() != nil {
				return folded(uses, turns)
			}
		}
	}
	return folded(uses, turns)
}

// A use is a case in progress.
type use struct {
	tool.Case
	heap *kit.Heap
	ways []*way
}

// A way is one alternative, with the figures of each of its batches, for one use of it.
type way struct {
	tool.Alternative
	loops             []func() // one for each goroutine, of count uses each
	count             int
	full              int // count of a batch
	ns, bytes, allocs []float64
}

func newUse(c tool.Case, processors int, heap *kit.Heap) *use {
	u := &use{Case: c, heap: heap}
	goroutines := 1
	if c.Parallel {
		goroutines = processors
	}
	for _, a := range c.Alternatives {
		w := &way{Alternative: a}
		for range goroutines {
			w.loops = append(w.loops, func() { w.Loop(w.count) })
		}
		w.full = u.whole(kit.Filling(toolBatch, c.Cycle, w.run))
		u.ways = append(u.ways, w)
	}
	return u
}

// whole rounds a count down to whole cycles, at least one.
func (u *use) whole(count int) int { return max(count/u.Cycle, 1) * u.Cycle }

// run allocates nothing itself with one goroutine: in a batch of 30 uses, every allocation must
// be theirs.
func (w *way) run(count int) time.Duration {
	w.count = count
	return kit.Clocked(w.loops...)
}

// turn runs a batch of each alternative of a new copy of the case. A different alternative
// begins each time, so that none always follows the same one.
func (u *use) turn(number int, anew tool.Case) {
	for i := range u.ways {
		u.ways[i].Alternative = anew.Alternatives[i]
	}
	for i := range u.ways {
		u.batch(u.ways[(number+i)%len(u.ways)])
	}
}

// batch measures one alternative. A collection before it removes the garbage of the previous
// alternative. Because the collection also empties sync.Pools, some uses before the clock starts
// fill them again.
func (u *use) batch(w *way) {
	const warming = 16 // one use in so many
	runtime.GC()
	w.run(u.whole(w.full / warming))
	bytes, objects := u.heap.Read()
	took := w.run(w.full)
	moreBytes, moreObjects := u.heap.Read()
	total := float64(w.full * len(w.loops))
	w.ns = append(w.ns, float64(took)/total)
	w.bytes = append(w.bytes, float64(moreBytes-bytes)/total)
	w.allocs = append(w.allocs, float64(moreObjects-objects)/total)
}

// folded returns the medians of each use's first turns, or nothing without turns.
func folded(uses []*use, turns int) []result.ToolRound {
	if turns == 0 {
		return nil
	}
	var out []result.ToolRound
	for _, u := range uses {
		r := result.ToolRound{Tool: u.Tool, Case: u.Name}
		for _, w := range u.ways {
			ratios := make([]float64, turns)
			for i := range ratios {
				ratios[i] = u.ways[0].ns[i] / w.ns[i]
			}
			r.Alternatives = append(r.Alternatives, result.AlternativeRound{
				Name: w.Name, Ns: quantile.Median(w.ns[:turns]), Bytes: quantile.Median(w.bytes[:turns]), Allocs: quantile.Median(w.allocs[:turns]), Ratio: quantile.Median(ratios),
			})
		}
		out = append(out, r)
	}
	return out
}

package workload

import (
	"context"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
	"github.com/dewpond/dewpond/internal/measure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// toolBatch is about how long one batch of an alternative runs: short, so that a
// pair to be compared is close in time, yet some collections long where there is
// much garbage.
const toolBatch = 3 * time.Millisecond

// compareTools lets the alternatives of every case take turns in this one process
// until the time is over: what is wanted is their ratio, and two batches side by
// side see the machine in the same state. There is one turn at least. When ctx ends the
// turn that it falls in does not count.
//
// Each turn has new pools: where the heap happens to put a pool and its objects has
// a say in how fast it is, which shall not last for a whole round.
func compareTools(ctx context.Context, cases func() []tool.Case, processors int, d time.Duration) []result.ToolRound {
	began := measure.Now()
	var heap measure.Heap
	var uses []*use
	for _, c := range cases() {
		uses = append(uses, newUse(c, processors, &heap))
	}
	turns := 0
	for ; turns == 0 || measure.Now()-began < d; turns++ {
		for i, c := range cases() {
			uses[i].turn(turns, c)
			if ctx.Err() != nil {
				return folded(uses, turns)
			}
		}
	}
	return folded(uses, turns)
}

// A use is a case at work.
type use struct {
	tool.Case
	heap *measure.Heap
	ways []*way
}

// A way is one alternative and, for one use of it, what each of its batches was.
type way struct {
	tool.Alternative
	loops             []func() // one for each goroutine, of count uses each
	count             int
	full              int // count of a batch
	ns, bytes, allocs []float64
}

func newUse(c tool.Case, processors int, heap *measure.Heap) *use {
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
		w.full = u.whole(filling(toolBatch, c.Cycle, w.run))
		u.ways = append(u.ways, w)
	}
	return u
}

// whole makes a count a number of whole cycles, at least one.
func (u *use) whole(count int) int { return max(count/u.Cycle, 1) * u.Cycle }

// run allocates nothing itself where there is one goroutine: what a batch of 30
// uses allocates shall be theirs.
func (w *way) run(count int) time.Duration {
	w.count = count
	return clocked(w.loops...)
}

// turn runs a batch of each alternative of the case made anew. Another one begins
// each time, so that none always follows the same one.
func (u *use) turn(number int, anew tool.Case) {
	for i := range u.ways {
		u.ways[i].Alternative = anew.Alternatives[i]
	}
	for i := range u.ways {
		u.batch(u.ways[(number+i)%len(u.ways)])
	}
}

// batch clocks one alternative. A collection before it ends what the alternative
// before has left to collect; and because that also takes from a sync.Pool what it
// held, some uses before the clock starts fill it again.
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

// folded is each use's first turns, in medians; no turn is nothing to tell.
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
				Name: w.Name, Ns: median(w.ns[:turns]), Bytes: median(w.bytes[:turns]), Allocs: median(w.allocs[:turns]), Ratio: median(ratios),
			})
		}
		out = append(out, r)
	}
	return out
}

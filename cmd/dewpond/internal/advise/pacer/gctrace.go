package pacer

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/gctrace"
)

// A Trace gathers the cycles of a gctrace. Its memory does not grow with them.
type Trace struct {
	first, last gctrace.Cycle
	n           int64 // cycles behind the first
	forced      int64 // of them
	lives       map[int64]float64
	bytes       sum // allocated between two cycles that follow each other
	goals       sum
	gogc        sum // that each goal follows from
	stacks      sum
	globals     sum
	working     sum // seconds
	peak        int64
	restarted   bool
}

// A sum is of numbers of which the mean and the spread are wanted.
type sum struct{ n, total, squares float64 }

func (s *sum) add(v float64) {
	s.n++
	s.total += v
	s.squares += v * v
}

func (s *sum) mean() float64 { return s.total / max(s.n, 1) }

// spread is the standard deviation, as a part of the mean.
func (s *sum) spread() float64 {
	mean := s.mean()
	if s.n < 2 || mean == 0 {
		return 0
	}
	return math.Sqrt(max(0, s.squares/s.n-mean*mean)) / mean
}

// Add adds the next cycle.
func (t *Trace) Add(c gctrace.Cycle) {
	before := t.last
	t.last = c
	switch {
	case t.lives == nil:
		t.first, t.lives = c, map[int64]float64{}
		return
	case c.Number <= before.Number || c.Start < before.Start:
		t.restarted = true // another process
		return
	}
	t.n++
	if c.Forced {
		t.forced++
	}
	t.working.add(c.Working.Seconds())
	if c.Number != before.Number+1 {
		return // a line between them was broken
	}
	t.peak = max(t.peak, c.End)
	const half = 0.5 // of a MiB, which is what was cut off in the mean
	allocated := float64(c.End - before.Live)
	t.lives[before.Live] += max(allocated, 0)
	if c.Forced {
		t.bytes.add(allocated) // it was allocated, however the cycle came
		return
	}
	t.bytes.add(allocated)
	t.goals.add(float64(c.Goal) + half)
	t.stacks.add(float64(before.Stacks))
	t.globals.add(float64(before.Globals))
	t.gogc.add(100 * float64(c.Goal-before.Live) / (float64(before.Live+before.Stacks+before.Globals) + half))
}

// Errors of a gctrace.
var (
	ErrRestarted = errors.New("the cycles begin anew within it, so it is of more than one process: give the lines of one")
	ErrOne       = errors.New("it has one collection, and so no time between two: collect for longer")
	ErrGaps      = errors.New("no two of its collections follow each other, because other output fell into the lines between them: keep what the program writes on standard error apart")
	ErrSmall     = errors.New("gctrace has whole MiB, which say too little of a heap as small as this one: give two samples of runtime/metrics, or what heap?debug=1 answers at both ends")
	ErrNear      = errors.New("between two of its collections less than a MiB was allocated, and gctrace has whole MiB: give two samples of runtime/metrics, or what heap?debug=1 answers at both ends")
	ErrLimited   = errors.New("the goals do not follow what lives, so a memory limit sets them, and gctrace does not have what else counts towards one: give two samples of runtime/metrics")
)

// leastGoal is in MiB: of a smaller one, what was cut off is too large a part.
const leastGoal = 8

// Window returns what the cycles say, from the first to the last.
func (t *Trace) Window() (*Window, error) {
	switch {
	case t.restarted:
		return nil, ErrRestarted
	case t.n == 0:
		return nil, ErrOne
	case t.goals.n == 0 && t.forced < t.last.Number-t.first.Number:
		return nil, ErrGaps
	}
	const mib = gctrace.MiB
	truncated := func(s sum) estimate.Estimate { // a mean of numbers without their fractions
		mean := s.mean() * mib
		return estimate.Estimate{Low: max(0, mean-mib/2), Mid: mean, High: mean + mib/2}
	}
	w := &Window{
		From: "gctrace", Seconds: (t.last.Start - t.first.Start).Seconds(), Procs: t.last.Procs,
		Collections: t.last.Number - t.first.Number - t.forced, Forced: t.forced,
		Goal: truncated(t.goals), Stacks: truncated(t.stacks), Globals: truncated(t.globals),
		Outside: estimate.CannotTell("gctrace does not have what counts towards a limit besides the heap: give two samples of runtime/metrics"),
		Used:    estimate.CannotTell("gctrace does not have the processor time of the program: give two samples of runtime/metrics"),
	}
	switch {
	case w.Seconds <= 0:
		return nil, ErrOne
	case t.goals.n > 0 && t.goals.mean() < leastGoal:
		return nil, ErrSmall
	case w.Collections > 0 && t.bytes.mean() <= 0:
		return nil, ErrNear
	}
	all := float64(w.Collections + w.Forced)
	allocated := t.bytes.mean() * all * mib
	w.Allocated = estimate.Estimate{Low: max(0, allocated-all*mib/2), Mid: allocated, High: allocated + all*mib/2}
	w.Collector = estimate.Exact(t.working.mean() * all)
	w.Peak = (float64(t.peak) + 0.5) * mib
	for _, live := range slices.Sorted(maps.Keys(t.lives)) {
		w.Lives = append(w.Lives, Live{(float64(live) + 0.5) * mib, t.lives[live] * mib})
	}
	w.Setting, w.Known = Setting{GOGC: Usual(t.gogc.mean())}, false
	w.Limited = t.gogc.spread() > 0.2 && t.goals.spread() < t.gogc.spread()/2
	return w, nil
}

// ReadTrace reads a gctrace, and says how many of its lines could not be read.
func ReadTrace(r io.Reader) (*Window, gctrace.Count, error) {
	var t Trace
	count, err := gctrace.Read(r, t.Add)
	if err != nil {
		return nil, count, err
	}
	w, err := t.Window()
	return w, count, err
}

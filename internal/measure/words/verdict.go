package words

import (
	"maps"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// A verdict is what the intervals of one contender allow to say. Each list holds names of figures.
type verdict struct {
	faster, slower []string // than the baseline: the whole interval of the ratio is on one side of 1
	less, more     []string // the same for what it needs: memory, allocations, misses
	same           []string // as the baseline: the interval contains 1
	floor          []string // as the control: the interval of the excess contains 0
	below          []string // the control: it is no floor there, its own buffers cost more
	// undecided figures differ from the baseline by their ratio, but neither the contender nor
	// the baseline differs from the control: the difference is the driver's or the machine's,
	// so no contender gets credit for it.
	undecided []string
	intervals int // how many ratios were examined
}

// judge reads the intervals of c. base is the baseline, whose own excess over the control decides
// what is undecided; it may be nil.
func judge(sc result.Scenario, c, base *result.Contender) verdict {
	var v verdict
	for _, name := range judged(sc, c) {
		onFloor := atFloor(c, name)
		if onFloor {
			v.floor = append(v.floor, name)
		} else if e, ok := c.Excess[name]; ok && figure.IsTime(name) && e.Rounds >= summary.VerdictRounds && e.High < 0 {
			v.below = append(v.below, name)
		}
		r, ok := c.Ratios[name]
		if !ok || r.Rounds < summary.VerdictRounds {
			continue
		}
		v.intervals++
		better := r.High < 1
		if figure.HigherIsBetter(name) {
			better = r.Low > 1
		}
		cost := figure.IsCost(name)
		switch {
		case r.Low <= 1 && 1 <= r.High:
			v.same = append(v.same, name)
		case onFloor && base != nil && atFloor(base, name):
			v.undecided = append(v.undecided, name)
		case better && cost:
			v.less = append(v.less, name)
		case better:
			v.faster = append(v.faster, name)
		case cost:
			v.more = append(v.more, name)
		default:
			v.slower = append(v.slower, name)
		}
	}
	return v
}

// atFloor reports whether c does not differ from the control in a figure.
func atFloor(c *result.Contender, name string) bool {
	e, ok := c.Excess[name]
	return ok && e.Rounds >= summary.VerdictRounds && e.Low <= 0 && 0 <= e.High
}

// judged returns the figures that a verdict is about, in the order of the tables. The rate counts
// only if the contender sets it: in open mode and in churn the clock does, and burst mostly
// waits. Lag is never the contender's.
func judged(sc result.Scenario, c *result.Contender) []string {
	var names []string
	if !sc.Clocked() && sc.Name != "burst" && sc.Name != "micro" {
		names = append(names, "ops_per_sec")
	}
	for _, op := range figure.Operations {
		if op.Key == "lag" {
			continue
		}
		for _, p := range figure.Percentiles {
			names = append(names, op.Figure(p))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Figures)) {
		if figure.Comparable(name) {
			names = append(names, name)
		}
	}
	return append(names, "alloc_bytes_per_op", "allocs_per_op", "rss_peak_bytes")
}

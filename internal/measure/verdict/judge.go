package verdict

import (
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// A Verdict is what the intervals of one contender allow to say. Each list holds names of figures,
// in the order of the tables.
type Verdict struct {
	Better, Worse, Level, Unclear []string // than the baseline's
	// Floor are the figures that cannot be told apart from the control's.
	Floor []string
	// Below are the figures below the control's, which is no floor there: its own buffers cost
	// more.
	Below []string
	// Intervals is how many ratios were examined.
	Intervals int
}

// Judge returns the verdict on a contender beside the baseline.
func Judge(sc result.Scenario, c, base *result.Contender) Verdict {
	var v Verdict
	for _, name := range judged(sc, c) {
		if AtFloor(c, name) {
			v.Floor = append(v.Floor, name)
		} else if e, ok := c.Excess[name]; ok && figure.IsTime(name) && e.Rounds >= summary.VerdictRounds && e.High < 0 {
			v.Below = append(v.Below, name)
		}
		side, _ := Between(c, base, name)
		switch side {
		case None:
			continue
		case Better:
			v.Better = append(v.Better, name)
		case Worse:
			v.Worse = append(v.Worse, name)
		case Level:
			v.Level = append(v.Level, name)
		case Unclear:
			v.Unclear = append(v.Unclear, name)
		}
		v.Intervals++
	}
	return v
}

// judged returns the figures that a verdict is about. Lag is never the contender's.
func judged(sc result.Scenario, c *result.Contender) []string {
	var names []string
	if SetsRate(sc) {
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
	for _, name := range figure.Ordered(c.Figures) {
		if figure.Comparable(name) {
			names = append(names, name)
		}
	}
	return append(names, "alloc_bytes_per_op", "allocs_per_op", "rss_peak_bytes")
}

// SetsRate reports whether the contender sets the rate of a scenario, which only then is a figure
// to compare. In open mode and in churn the clock sets it, burst waits for collections most of
// the time, and micro runs its loops for a set time.
func SetsRate(sc result.Scenario) bool {
	return !sc.Clocked() && sc.Name != "burst" && sc.Name != "micro"
}

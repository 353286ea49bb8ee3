// Package judge says whether a contender is better than the baseline: by the rule of package verdict, and
// by what the control shows.
package judge

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// A Verdict is what the intervals of one contender allow to say. Each list holds names of figures,
// in the order of the tables.
type Verdict struct {
	Better, Worse, Level, Unclear []string // than the baseline's
	// Unseen are the figures that differ from the baseline's by no more than the control's do.
	Unseen []string
	// Floor are the figures that cannot be told apart from the control's.
	Floor []string
	// Below are the times below the control's.
	Below []string
	// Intervals is how many ratios were examined.
	Intervals int
}

// Of returns the verdict on a contender beside the baseline.
func Of(sc bench.Scenario, c, base *bench.Contender) Verdict {
	var v Verdict
	for _, name := range judged(sc, c) {
		if AtFloor(c, name) {
			v.Floor = append(v.Floor, name)
		} else if below(c, name) {
			v.Below = append(v.Below, name)
		}
		switch Between(c, base, name) {
		case verdict.None:
			continue
		case verdict.Better:
			v.Better = append(v.Better, name)
		case verdict.Worse:
			v.Worse = append(v.Worse, name)
		case verdict.Level:
			v.Level = append(v.Level, name)
		case verdict.Unclear:
			v.Unclear = append(v.Unclear, name)
		case verdict.Unseen:
			v.Unseen = append(v.Unseen, name)
		}
		v.Intervals++
	}
	return v
}

// judged returns the figures that a verdict is about. Lag is never the contender's.
func judged(sc bench.Scenario, c *bench.Contender) []string {
	var names []string
	if sc.SetsRate() {
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
	for _, name := range figures.Ordered(c.Figures) {
		if figure.Comparable(name) {
			names = append(names, name)
		}
	}
	return append(names, "alloc_bytes_per_op", "allocs_per_op", "rss_peak_bytes")
}

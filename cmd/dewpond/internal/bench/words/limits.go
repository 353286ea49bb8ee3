package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// unsteady is the factor by which the control's own tail may move between rounds before the report
// says that the tail is the machine's.
const unsteady = 3

// A count is how many intervals a verdict looked at, and the least confidence among them.
type count struct {
	intervals  int
	confidence float64
}

// limit says what the ratios are, and how many of their intervals miss the truth.
func (c count) limit(what string) string {
	miss := "miss"
	wrong := math.Ceil(float64(c.intervals) * (1 - c.confidence))
	if wrong == 1 {
		miss = "misses"
	}
	return fmt.Sprintf("%s; in brackets its %s interval. Of %s about %.0f %s the truth by chance.",
		what, figure.Percent(c.confidence), figure.Several(c.intervals, "such interval"), wrong, miss)
}

// limits says how sure the intervals are, how busy the machine was, and how far the control itself
// moved.
func limits(d bench.Document, nop *bench.Contender, looked count) []string {
	out := []string{looked.limit("A ratio is a contender's figure divided by that of " + bench.Baseline + ", the median over rounds paired in time")}
	if names := unpairedTails(d); len(names) > 0 {
		out = append(out, fmt.Sprintf("There is no verdict on %s: single rounds have fewer than 10 samples beyond.", strings.Join(names, "; ")))
	}
	if nop == nil {
		out = append(out, fmt.Sprintf("Without the control %s the pools' times cannot be told apart from the driver's.", bench.Control))
	} else if names := movedTails(nop); len(names) > 0 {
		out = append(out, fmt.Sprintf("The control %s, which has no pool, moved between rounds: %s. These tails are the machine's as much as any pool's.", bench.Control, strings.Join(names, "; ")))
	}
	return append(out, busy(d.Environment)...)
}

// busy says that others used the machine, if they did.
func busy(e bench.Conditions) []string {
	if !Busy(e) {
		return nil
	}
	return []string{fmt.Sprintf("The machine was busy: load average %s on %s at the start. P999 and P9999 contain the neighbours' work too.",
		figure.Significant(e.LoadAverage[0]), figure.Several(e.CPUs, "CPU"))}
}

// Busy reports whether others used the machine when the benchmark began.
func Busy(e bench.Conditions) bool { return e.LoadAverage[0] > float64(e.CPUs) }

// unpairedTails returns percentiles that are printed, of all rounds merged, but for which single
// rounds have too few samples, so that no round can be paired.
func unpairedTails(d bench.Document) []string {
	base := d.Contender(bench.Baseline)
	var out []string
	for _, op := range figure.Operations {
		t := figures.Times(base, op)
		if t == nil || op.Key == "lag" {
			continue
		}
		for _, p := range figure.Percentiles {
			if slices.Contains(t.Merged, p.Key+"_ns") {
				out = append(out, op.Label+" "+p.Label)
			}
		}
	}
	return out
}

func movedTails(nop *bench.Contender) []string {
	var out []string
	for _, op := range figure.Operations {
		t := figures.Times(nop, op)
		if t == nil || op.Key == "lag" {
			continue
		}
		for _, p := range figure.Percentiles {
			if f := *figures.At(t, p); f != nil && f.Max > unsteady*f.Min {
				out = append(out, fmt.Sprintf("%s %s %s to %s", op.Label, p.Label, figure.Duration(f.Min), figure.Duration(f.Max)))
			}
		}
	}
	return out
}

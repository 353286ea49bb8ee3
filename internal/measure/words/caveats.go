package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// unsteady is the factor by which the control's own tail may move between rounds before the report
// says that the tail is the machine's.
const unsteady = 3

// caveats ends the verdict with its limits: how sure the intervals are, how busy the machine was,
// and how far the control itself moved.
func caveats(d result.Document, nop *result.Contender, looked int, confidence float64) []string {
	var out []string
	out = append(out, fmt.Sprintf("A ratio is to %s, the median over rounds paired in time; in brackets its %s interval. Of %d such intervals about %s miss the truth by chance.",
		result.Baseline, figure.Percent(confidence), looked, figure.Significant(math.Ceil(float64(looked)*(1-confidence)))))
	if names := unpairedTails(d); len(names) > 0 {
		out = append(out, fmt.Sprintf("No verdict on %s: single rounds have fewer than 10 samples beyond.", strings.Join(names, ", ")))
	}
	if nop == nil {
		out = append(out, fmt.Sprintf("Without the %s control the pools' times cannot be told apart from the driver's.", result.Control))
	} else if names := movedTails(nop); len(names) > 0 {
		out = append(out, fmt.Sprintf("The %s control, which has no pool, moved between rounds: %s. These tails are the machine's as much as any pool's.", result.Control, strings.Join(names, ", ")))
	}
	if load := d.Environment.LoadAverage[0]; load > float64(d.Environment.CPUs) {
		out = append(out, fmt.Sprintf("The machine was busy: load average %s on %d CPUs at the start. P999 and P9999 hold the neighbours' work too.", figure.Significant(load), d.Environment.CPUs))
	}
	return out
}

// unpairedTails returns percentiles that are printed, of all rounds merged, but for which single
// rounds have too few samples, so that no round can be paired.
func unpairedTails(d result.Document) []string {
	base := d.Contender(result.Baseline)
	var out []string
	for _, op := range figure.Operations {
		t := op.Times(base)
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

func movedTails(nop *result.Contender) []string {
	var out []string
	for _, op := range figure.Operations {
		t := op.Times(nop)
		if t == nil || op.Key == "lag" {
			continue
		}
		for _, p := range figure.Percentiles {
			if f := *p.In(t); f != nil && f.Max > unsteady*f.Min {
				out = append(out, fmt.Sprintf("%s %s %s to %s", op.Label, p.Label, figure.Duration(f.Min), figure.Duration(f.Max)))
			}
		}
	}
	return out
}

package words

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// Of returns the verdict in sentences: the cost of decay if it was measured, then dewpond's
// figures, one sentence for each finding, then paragraphs on its tools and one for each other
// contender. It has the same form for gains and losses, and says nothing that an interval does
// not show. The words on the tools and on decay need no baseline among the contenders.
func Of(d result.Document) []string {
	if d.Scenario.Name == result.Soaking {
		return soakWords(d)
	}
	decay, tools := decayWords(d), toolWords(d)
	if Withheld(d) != "" {
		return append(decay, tools...)
	}
	base, nop := d.Contender(result.Baseline), d.Contender(result.Control)
	var out, others []string
	var looked int
	confidence := 1.0
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c == base || c == nop {
			continue
		}
		v := judge(d.Scenario, c, base)
		for _, r := range c.Ratios {
			if r.Rounds >= summary.VerdictRounds {
				confidence = min(confidence, r.Confidence)
			}
		}
		looked += v.intervals
		said := sentences(c, base, v)
		if c.Name == result.Ours {
			out = append(out, said...)
		} else {
			others = append(others, strings.Join(said, " "))
		}
	}
	out = append(out, tools...)
	out = append(out, others...)
	out = append(decay, out...)
	return append(out, caveats(d, nop, looked, confidence)...)
}

// Withheld returns why there is no verdict on the contenders, or "" if there is one.
func Withheld(d result.Document) string {
	if d.Scenario.Name == result.Soaking {
		return "" // it has a verdict of its own
	}
	if d.Scenario.Quick {
		return "No verdict: --quick gives figures only."
	}
	no := "No verdict"
	if len(toolWords(d))+len(decayWords(d)) > 0 {
		no = "No verdict on the byte pools"
	}
	if d.Contender(result.Baseline) == nil {
		return no + ": " + result.Baseline + ", which the ratios are to, was not among the contenders."
	}
	if len(d.Contenders) < 2 || len(d.Contenders) == 2 && d.Contender(result.Control) != nil {
		return no + ": there was nothing to compare with " + result.Baseline + "."
	}
	for _, c := range d.Contenders {
		for _, r := range c.Ratios {
			if r.Rounds >= summary.VerdictRounds {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s: too few rounds. A 95 %% interval of a median takes at least %d complete rounds of a contender beside %s.", no, summary.VerdictRounds, result.Baseline)
}

func sentences(c, base *result.Contender, v verdict) []string {
	if v.intervals == 0 {
		return []string{fmt.Sprintf("%s has fewer than %d complete rounds beside %s: no verdict on it.", c.Name, summary.VerdictRounds, result.Baseline)}
	}
	out := []string{
		against(c, "faster", v.faster),
		against(c, "slower", v.slower),
	}
	if len(v.less) > 0 {
		out = append(out, fmt.Sprintf("%s needs less than %s: %s.", c.Name, result.Baseline, quoted(c, v.less)))
	}
	more := quoted(c, v.more)
	for _, name := range []string{"alloc_bytes_per_op", "allocs_per_op"} {
		if _, ok := c.Ratios[name]; !ok && costs(c, name).Min > figure.AllocationNoise[name] && costs(base, name).Max <= figure.AllocationNoise[name] {
			more = join(more, fmt.Sprintf("%s %s where %s has none", figure.Label(name), figure.Format(name, costs(c, name).Median), result.Baseline))
		}
	}
	if more != "" {
		out = append(out, fmt.Sprintf("%s needs more than %s: %s.", c.Name, result.Baseline, more))
	}
	if len(v.same) > 0 {
		out = append(out, fmt.Sprintf("%s cannot be told apart from %s (the interval contains 1): %s.", c.Name, result.Baseline, labels(v.same)))
	}
	if len(v.undecided) > 0 {
		out = append(out, fmt.Sprintf("%s differs from %s, but neither can be told apart from the %s control, so nothing is claimed: %s.", c.Name, result.Baseline, result.Control, quoted(c, v.undecided)))
	}
	if len(v.floor) > 0 {
		out = append(out, fmt.Sprintf("%s cannot be told apart from the %s control: %s.", c.Name, result.Control, labels(v.floor)))
	}
	if len(v.below) > 0 {
		out = append(out, fmt.Sprintf("%s is below the %s control, which is no floor there: %s.", c.Name, result.Control, labels(v.below)))
	}
	return out
}

// against names the figures on one side, or says that there are none: to omit it would hide a
// loss.
func against(c *result.Contender, how string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%s is %s than %s in none of the figures compared.", c.Name, how, result.Baseline)
	}
	return fmt.Sprintf("%s is %s than %s: %s.", c.Name, how, result.Baseline, quoted(c, names))
}

// quoted formats the figures with their ratios and intervals.
func quoted(c *result.Contender, names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, figure.Label(name)+" "+figure.Bracketed(c.Ratios[name]))
	}
	return strings.Join(parts, ", ")
}

func labels(names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, figure.Label(name))
	}
	return strings.Join(parts, ", ")
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func costs(c *result.Contender, name string) result.Figure {
	if name == "allocs_per_op" {
		return c.AllocsPerOp
	}
	return c.AllocBytesPerOp
}

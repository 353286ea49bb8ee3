package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// words is the verdict in sentences: what decay costs where that was measured, then
// dewpond's, each finding a sentence of its own, then paragraphs on its tools and one for each other contender. It
// has the same shape for who wins and who loses, and says nothing that an interval
// does not. What it says of the tools and of decay needs no baseline among the
// contenders.
func words(d result.Document) []string {
	if d.Scenario.Name == soaked {
		return soakWords(d)
	}
	decay, tools := decayWords(d), toolWords(d)
	if withheld(d) != "" {
		return append(decay, tools...)
	}
	base, nop := contender(d, baseline), contender(d, control)
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
			if r.Rounds >= verdictRounds {
				confidence = min(confidence, r.Confidence)
			}
		}
		looked += v.intervals
		said := sentences(c, base, v)
		if c.Name == ours {
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

// withheld is why there is no verdict on the contenders; empty when there is one.
func withheld(d result.Document) string {
	if d.Scenario.Name == soaked {
		return "" // it has a verdict of its own
	}
	if d.Scenario.Quick {
		return "No verdict: --quick gives figures only."
	}
	no := "No verdict"
	if len(toolWords(d))+len(decayWords(d)) > 0 {
		no = "No verdict on the byte pools"
	}
	if contender(d, baseline) == nil {
		return no + ": " + baseline + ", which the ratios are to, was not among the contenders."
	}
	if len(d.Contenders) < 2 || len(d.Contenders) == 2 && contender(d, control) != nil {
		return no + ": there was nothing to compare with " + baseline + "."
	}
	for _, c := range d.Contenders {
		for _, r := range c.Ratios {
			if r.Rounds >= verdictRounds {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s: too few rounds. A 95 %% interval of a median takes at least %d complete rounds of a contender beside %s.", no, verdictRounds, baseline)
}

func contender(d result.Document, name string) *result.Contender {
	i := slices.IndexFunc(d.Contenders, func(c result.Contender) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Contenders[i]
}

func sentences(c, base *result.Contender, v verdict) []string {
	if v.intervals == 0 {
		return []string{fmt.Sprintf("%s has fewer than %d complete rounds beside %s: no verdict on it.", c.Name, verdictRounds, baseline)}
	}
	out := []string{
		against(c, "faster", v.faster),
		against(c, "slower", v.slower),
	}
	if len(v.less) > 0 {
		out = append(out, fmt.Sprintf("%s needs less than %s: %s.", c.Name, baseline, quoted(c, v.less)))
	}
	more := quoted(c, v.more)
	for _, name := range []string{"alloc_bytes_per_op", "allocs_per_op"} {
		if _, ok := c.Ratios[name]; !ok && costs(c, name).Min > allocationNoise[name] && costs(base, name).Max <= allocationNoise[name] {
			more = join(more, fmt.Sprintf("%s %s where %s has none", label(name), format(name, costs(c, name).Median), baseline))
		}
	}
	if more != "" {
		out = append(out, fmt.Sprintf("%s needs more than %s: %s.", c.Name, baseline, more))
	}
	if len(v.same) > 0 {
		out = append(out, fmt.Sprintf("%s cannot be told apart from %s (the interval contains 1): %s.", c.Name, baseline, labels(v.same)))
	}
	if len(v.undecided) > 0 {
		out = append(out, fmt.Sprintf("%s differs from %s, but neither can be told apart from the %s control, so nothing is claimed: %s.", c.Name, baseline, control, quoted(c, v.undecided)))
	}
	if len(v.floor) > 0 {
		out = append(out, fmt.Sprintf("%s cannot be told apart from the %s control: %s.", c.Name, control, labels(v.floor)))
	}
	if len(v.below) > 0 {
		out = append(out, fmt.Sprintf("%s is below the %s control, which is no floor there: %s.", c.Name, control, labels(v.below)))
	}
	return out
}

// against names the figures on one side, or says that there is none: silence
// would hide a loss.
func against(c *result.Contender, how string, names []string) string {
	if len(names) == 0 {
		return fmt.Sprintf("%s is %s than %s in none of the figures compared.", c.Name, how, baseline)
	}
	return fmt.Sprintf("%s is %s than %s: %s.", c.Name, how, baseline, quoted(c, names))
}

// quoted is the figures with their ratios and intervals.
func quoted(c *result.Contender, names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, label(name)+" "+bracketed(c.Ratios[name]))
	}
	return strings.Join(parts, ", ")
}

func labels(names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, label(name))
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

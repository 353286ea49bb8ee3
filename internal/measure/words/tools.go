package words

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// toolNoise is how many bytes a use must allocate before the words say that it allocates: a batch
// of 30 long bodies divides the runtime's own few objects by no more uses than that.
const toolNoise = 16

// A match is what the words may say of one tool beside one thing that it replaces. Each list holds
// cases, with the figures that show it.
type match struct {
	ours, other          string
	faster, slower, same []string // by the intervals of the ratios
	less, more           []string // allocated; every round of one differs from every round of the other
}

// toolWords returns the verdict on the tools, a paragraph for each tool and each thing that it
// replaces, and its limits. It returns nothing with --quick, or if there are too few rounds.
func toolWords(d result.Document) []string {
	if d.Scenario.Quick {
		return nil
	}
	var out, names []string
	looked, confidence := 0, 1.0
	for _, t := range d.Tools {
		for _, a := range t.Alternatives {
			if r := a.Ratio; r != nil && r.Rounds >= summary.VerdictRounds {
				looked++
				confidence = min(confidence, r.Confidence)
				if !slices.Contains(names, t.Name) {
					names = append(names, t.Name)
				}
			}
		}
	}
	for _, name := range names {
		for _, m := range matches(d.Tools, name) {
			out = append(out, strings.Join(m.sentences(), " "))
		}
	}
	if looked == 0 {
		return nil
	}
	return append(out, fmt.Sprintf("A tool's ratio is its time to the time of what it replaces, in the same process; in brackets its %s interval. Of %d such intervals about %s miss the truth by chance.",
		figure.Percent(confidence), looked, figure.Significant(math.Ceil(float64(looked)*(1-confidence)))))
}

// matches groups the cases of one tool by what it replaces.
func matches(tools []result.Tool, name string) []*match {
	var all []*match
	for _, t := range tools {
		if t.Name != name {
			continue
		}
		own := t.Alternatives[0]
		for _, a := range t.Alternatives[1:] {
			if a.Ratio.Rounds < summary.VerdictRounds {
				continue
			}
			i := slices.IndexFunc(all, func(m *match) bool { return m.other == a.Name })
			if i < 0 {
				i = len(all)
				all = append(all, &match{ours: own.Name, other: a.Name})
			}
			all[i].add(t.Case, own, a)
		}
	}
	return all
}

func (m *match) add(name string, own, a result.Alternative) {
	quoted := name + " " + figure.Bracketed(*a.Ratio)
	switch r := a.Ratio; {
	case r.High < 1:
		m.faster = append(m.faster, quoted)
	case r.Low > 1:
		m.slower = append(m.slower, quoted)
	default:
		m.same = append(m.same, quoted)
	}
	beside := fmt.Sprintf("%s %s beside %s", name, figure.ByteSize(own.Bytes.Median), figure.ByteSize(a.Bytes.Median))
	switch {
	case own.Bytes.Max < a.Bytes.Min && a.Bytes.Min > toolNoise:
		m.less = append(m.less, beside)
	case own.Bytes.Min > a.Bytes.Max && own.Bytes.Min > toolNoise:
		m.more = append(m.more, beside)
	}
}

// sentences states both sides of the time, even if one is empty: to omit it would hide a loss.
func (m *match) sentences() []string {
	var out []string
	say := func(verb, why string, cases []string) {
		if len(cases) > 0 {
			out = append(out, fmt.Sprintf("%s %s %s%s: %s.", m.ours, verb, m.other, why, strings.Join(cases, ", ")))
		} else if verb == "is faster than" || verb == "is slower than" {
			out = append(out, fmt.Sprintf("%s %s %s in none of the cases.", m.ours, verb, m.other))
		}
	}
	say("is faster than", "", m.faster)
	say("is slower than", "", m.slower)
	say("cannot be told apart from", " (the interval contains 1)", m.same)
	say("allocates less than", "", m.less)
	say("allocates more than", "", m.more)
	return out
}

package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// toolNoise is how many bytes a use must allocate before the words say that it allocates: a batch
// of 30 long bodies divides the runtime's own few objects by no more uses than that.
const toolNoise = 16

// A match is what the words may say of one tool beside one thing that it replaces. Each list holds
// cases, with the figures that show it.
type match struct {
	ours, other string
	sides       map[verdict.Side][]string
	less, more  []string // allocated; every round of one differs from every round of the other
}

// toolWords returns the verdict on the tools, a paragraph for each tool and each thing that it
// replaces, and how many intervals it looked at. It returns nothing with --quick, or if there are
// too few rounds.
func toolWords(d bench.Document) ([]string, count) {
	looked := count{confidence: 1}
	if d.Scenario.Quick {
		return nil, looked
	}
	var out, names []string
	for _, t := range d.Tools {
		for _, a := range t.Alternatives {
			if r := a.Ratio; r != nil && r.Rounds >= summary.VerdictRounds {
				looked.intervals++
				looked.confidence = min(looked.confidence, r.Confidence)
				if !slices.Contains(names, t.Name) {
					names = append(names, t.Name)
				}
			}
		}
	}
	for _, name := range names {
		for _, m := range matches(d.Tools, name) {
			out = append(out, m.String())
		}
	}
	return out, looked
}

// matches groups the cases of one tool by what it replaces.
func matches(tools []bench.Tool, name string) []*match {
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
				all = append(all, &match{ours: own.Name, other: a.Name, sides: map[verdict.Side][]string{}})
			}
			all[i].add(t.Case, own, a)
		}
	}
	return all
}

func (m *match) add(name string, own, a bench.Alternative) {
	side := verdict.Of("time_ns", *a.Ratio)
	m.sides[side] = append(m.sides[side], name+" "+figure.Bracketed(*a.Ratio))
	beside := fmt.Sprintf("%s (%s beside %s)", name, figure.ByteSize(own.Bytes.Median), figure.ByteSize(a.Bytes.Median))
	switch {
	case own.Bytes.Max < a.Bytes.Min && a.Bytes.Min > toolNoise:
		m.less = append(m.less, beside)
	case own.Bytes.Min > a.Bytes.Max && own.Bytes.Min > toolNoise:
		m.more = append(m.more, beside)
	}
}

// String states both better and worse, even if one is empty: to omit it would hide a loss.
func (m *match) String() string {
	var parts []string
	for _, side := range []verdict.Side{verdict.Better, verdict.Worse, verdict.Level, verdict.Unclear} {
		cases := m.sides[side]
		switch {
		case len(cases) > 0:
			parts = append(parts, fmt.Sprintf("%s in %s", side, strings.Join(cases, "; ")))
		case side == verdict.Better || side == verdict.Worse:
			parts = append(parts, fmt.Sprintf("%s in no case", side))
		}
	}
	out := fmt.Sprintf("%s beside %s: %s.", m.ours, m.other, strings.Join(parts, "; "))
	if len(m.less) > 0 {
		out += " It allocates less in " + strings.Join(m.less, "; ") + "."
	}
	if len(m.more) > 0 {
		out += " It allocates more in " + strings.Join(m.more, "; ") + "."
	}
	return out
}

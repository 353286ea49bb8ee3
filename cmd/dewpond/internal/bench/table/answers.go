package table

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// Answers shows the answers of a document, grouped by topic. Its last two columns are the ratio and
// the verdict.
func Answers(d bench.Document) Table {
	g := Table{
		Title: bench.Ours + " beside " + bench.Baseline,
		Head:  []string{"", bench.Ours, "sync.Pool", "ratio", "verdict"},
	}
	topic := ""
	for _, a := range d.Answers {
		if a.Topic != topic {
			topic = a.Topic
			heading := topic
			if d.Scenario.Name == bench.Touring {
				heading += ": bench " + a.Scenario
			}
			g.Rows = append(g.Rows, Row{Name: heading, Kind: Heading, Cells: make([]Cell, len(g.Head)-1)})
		}
		ratio := Cell{Text: cmp.Or(figures.Compared(a), none)}
		side := Cell{Text: cmp.Or(a.Side, none), Tone: toneOf(verdict.Side(a.Side))}
		g.Rows = append(g.Rows, Row{Name: a.Question, Kind: Member, Cells: []Cell{
			{Text: figure.Format(a.Figure, a.Ours.Median)}, {Text: figure.Format(a.Figure, a.Baseline.Median)}, ratio, side,
		}})
	}
	if slices.ContainsFunc(d.Answers, func(a bench.Answer) bool { return a.Side != "" }) {
		g.Notes = append(g.Notes, fmt.Sprintf("A ratio below 1 is better. Level: within %s. Unclear: the interval contains 1.", figure.Percent(verdict.Least)))
	}
	if slices.ContainsFunc(d.Answers, func(a bench.Answer) bool { return a.Difference != nil }) {
		g.Notes = append(g.Notes, differing)
	}
	if slices.ContainsFunc(d.Answers, func(a bench.Answer) bool { return a.Side == string(verdict.Unseen) }) {
		g.Notes = append(g.Notes, words.Unseen)
	}
	return g
}

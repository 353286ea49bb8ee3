package table

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/verdict"
)

// AtFloor marks an answer whose two sides cannot be told apart from the control.
const AtFloor = "*"

// Answers shows the answers of a document, grouped by topic. Its last two columns are the ratio and
// the verdict.
func Answers(d result.Document) Table {
	g := Table{
		Title: result.Ours + " beside " + result.Baseline,
		Head:  []string{"", result.Ours, "sync.Pool", "ratio", "verdict"},
	}
	topic := ""
	floor := false
	for _, a := range d.Answers {
		if a.Topic != topic {
			topic = a.Topic
			heading := topic
			if d.Scenario.Name == result.Touring {
				heading += ": bench " + a.Scenario
			}
			g.Rows = append(g.Rows, Row{Name: heading, Kind: Heading, Cells: make([]Cell, len(g.Head)-1)})
		}
		ratio := Cell{Text: none}
		if a.Ratio != nil {
			ratio.Text = figure.Bracketed(*a.Ratio)
		}
		side := Cell{Text: cmp.Or(a.Side, none), Tone: toneOf(verdict.Side(a.Side))}
		if a.Floor {
			side.Text += AtFloor
			floor = true
		}
		g.Rows = append(g.Rows, Row{Name: a.Question, Kind: Member, Cells: []Cell{
			{Text: figure.Format(a.Figure, a.Ours.Median)}, {Text: figure.Format(a.Figure, a.Baseline.Median)}, ratio, side,
		}})
	}
	if slices.ContainsFunc(d.Answers, func(a result.Answer) bool { return a.Side != "" }) {
		g.Notes = append(g.Notes, fmt.Sprintf("A ratio below 1 is better. Level: within %s. Unclear: the interval contains 1.", figure.Percent(verdict.Least)))
	}
	if floor {
		g.Notes = append(g.Notes, AtFloor+" Neither can be told apart from no pool at all ("+result.Control+").")
	}
	return g
}

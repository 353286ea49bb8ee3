package report

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A grid is one table before anything draws it: text and HTML show the same
// cells. The first column names the contender and repeats when a terminal is
// too narrow for all columns.
type grid struct {
	title string
	notes []string // below the table
	head  []string
	rows  []row
	half  int // columns before this one belong together; 0 where all do
}

type row struct {
	name  string
	cells []cell
	kind  kind
}

// kind is what a row's name names: a contender, or else something that is not
// hidden when a contender is.
type kind string

const (
	ofContender kind = ""
	heading     kind = "heading" // a group: its cells are empty
	member      kind = "member"  // of the heading above
	ofOperation kind = "operation"
)

// title is the row's name as a terminal shows it.
func (r row) title() string {
	if r.kind == member {
		return "  " + r.name
	}
	return r.name
}

// A cell is a value and, where there is one, its spread over the rounds.
type cell struct {
	text   string
	spread string
	tone   tone
}

// tone is which side of syncpool-class a ratio lies on; only HTML shows it.
type tone string

const (
	plain tone = ""
	good  tone = "good"
	bad   tone = "bad"
)

const none = "–" // no value: not measured, or too few samples to say

// columns builds a grid with a row for each contender that has any value: col
// gives a column's cell, and none everywhere drops the column.
func columns(d result.Document, title string, heads []string, col func(c *result.Contender, i int) cell) grid {
	g := grid{title: title, head: []string{""}}
	used := make([]bool, len(heads))
	all := make([][]cell, len(d.Contenders))
	for k := range d.Contenders {
		for i := range heads {
			x := col(&d.Contenders[k], i)
			used[i] = used[i] || x.text != none
			all[k] = append(all[k], x)
		}
	}
	for i, h := range heads {
		if used[i] {
			g.head = append(g.head, h)
		}
	}
	for k, cells := range all {
		r, any := row{name: d.Contenders[k].Name}, false
		for i, x := range cells {
			if used[i] {
				r.cells = append(r.cells, x)
				any = any || x.text != none
			}
		}
		if any {
			g.rows = append(g.rows, r)
		}
	}
	return g
}

func (g grid) empty() bool { return len(g.rows) == 0 || len(g.head) < 2 }

func value(name string, f result.Figure) cell {
	c := cell{text: format(name, f.Median)}
	if lo, hi := format(name, f.Min), format(name, f.Max); lo != hi {
		c.spread = lo + " to " + hi
	}
	return c
}

// compared is the cell of a ratio, toned when its interval leaves 1 out and
// there were rounds enough for that to mean something.
func compared(name string, r result.Ratio, ok bool) cell {
	if !ok {
		return cell{text: none}
	}
	c := cell{text: bracketed(r)}
	if r.Rounds >= verdictRounds && (r.Low > 1 || r.High < 1) {
		c.tone = bad
		if (r.Low > 1) == higherIsBetter(name) {
			c.tone = good
		}
	}
	return c
}

// confidences is the note below a table of ratios: what its brackets are.
func confidences(d result.Document, names ...string) string {
	var ratios []result.Ratio
	for _, c := range d.Contenders {
		for _, name := range names {
			if r, ok := c.Ratios[name]; ok {
				ratios = append(ratios, r)
			}
		}
	}
	return brackets(ratios)
}

func brackets(ratios []result.Ratio) string {
	low, high := result.Ratio{Confidence: 2}, result.Ratio{Confidence: -1}
	for _, r := range ratios {
		if r.Rounds <= 1 {
			continue
		}
		if r.Confidence < low.Confidence {
			low = r
		}
		if r.Confidence > high.Confidence {
			high = r
		}
	}
	switch {
	case high.Confidence < 0:
		return "A single paired round has no interval."
	case low.Confidence == high.Confidence:
		return fmt.Sprintf("In brackets the %s interval of the median over %d rounds.", percent(low.Confidence), low.Rounds)
	}
	return fmt.Sprintf("In brackets an interval of the median, from %s over %d rounds to %s over %d.",
		percent(low.Confidence), low.Rounds, percent(high.Confidence), high.Rounds)
}

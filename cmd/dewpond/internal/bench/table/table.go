package table

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/judge"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// A Table holds cells before they are drawn: text and HTML show the same. The first column names
// the contender, and repeats if a terminal is too narrow for all columns.
type Table struct {
	Title string
	Notes []string // below the table
	Head  []string
	Rows  []Row
	Half  int // columns before this one belong together; 0 if all do
}

// A Row is a line of a Table.
type Row struct {
	Name  string
	Cells []Cell
	Kind  Kind
}

// Ours reports whether a row is dewpond's, which stands out.
func (r Row) Ours() bool {
	return r.Name == bench.Ours || r.Kind == Member && strings.HasPrefix(r.Name, bench.Ours+".")
}

// Kind is what the name of a row stands for: a contender, or something that is not hidden with a
// contender.
type Kind string

// The kinds of rows.
const (
	OfContender Kind = ""
	Heading     Kind = "heading" // a group: its cells are empty
	Member      Kind = "member"  // of the heading above
	OfOperation Kind = "operation"
)

// Title returns the row's name as a terminal shows it.
func (r Row) Title() string {
	if r.Kind == Member {
		return "  " + r.Name
	}
	return r.Name
}

// A Cell is a value with its spread over the rounds, if it has one.
type Cell struct {
	Text   string
	Spread string
	Tone   Tone
}

// Tone says whether a cell is better or worse than syncpool-class, for its colour.
type Tone string

// The tones: none, a gain, a loss.
const (
	Plain Tone = ""
	Good  Tone = "good"
	Bad   Tone = "bad"
)

// none stands for a missing value: not measured, or too few samples.
const none = "–"

// columns builds a table with a row for each contender that has a value. col returns a column's
// cell; a column that has none in every row is dropped.
func columns(d bench.Document, title string, heads []string, col func(c *bench.Contender, i int) Cell) Table {
	g := Table{Title: title, Head: []string{""}}
	used := make([]bool, len(heads))
	all := make([][]Cell, len(d.Contenders))
	for k := range d.Contenders {
		for i := range heads {
			x := col(&d.Contenders[k], i)
			used[i] = used[i] || x.Text != none
			all[k] = append(all[k], x)
		}
	}
	for i, h := range heads {
		if used[i] {
			g.Head = append(g.Head, h)
		}
	}
	for k, cells := range all {
		r, any := Row{Name: d.Contenders[k].Name}, false
		for i, x := range cells {
			if used[i] {
				r.Cells = append(r.Cells, x)
				any = any || x.Text != none
			}
		}
		if any {
			g.Rows = append(g.Rows, r)
		}
	}
	return g
}

func (g Table) empty() bool { return len(g.Rows) == 0 || len(g.Head) < 2 }

func value(name string, f result.Figure) Cell {
	c := Cell{Text: figure.Format(name, f.Median)}
	if lo, hi := figure.Format(name, f.Min), figure.Format(name, f.Max); lo != hi {
		c.Spread = lo + " to " + hi
	}
	return c
}

// compared returns the cell of a contender's ratio to the baseline, or of its difference.
func compared(d bench.Document, c *bench.Contender, name string) Cell {
	text := figures.Beside(c, name)
	if text == "" {
		return Cell{Text: none}
	}
	return Cell{Text: text, Tone: toneOf(judge.Between(c, d.Contender(bench.Baseline), name))}
}

// differing is the note below a table of ratios that explains those cells which are differences.
const differing = "A number with a sign, or 0, is the difference: " + bench.Baseline + " has none."

// differs reports whether some contender has a difference instead of one of the ratios.
func differs(d bench.Document, names ...string) bool {
	for _, c := range d.Contenders {
		for _, name := range names {
			if _, ok := c.Differences[name]; ok {
				return true
			}
		}
	}
	return false
}

func toneOf(side verdict.Side) Tone {
	switch side {
	case verdict.Better:
		return Good
	case verdict.Worse:
		return Bad
	}
	return Plain
}

// confidences returns the note below a table of ratios that explains the brackets. It is empty if
// there are no ratios.
func confidences(d bench.Document, names ...string) string {
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
	if len(ratios) == 0 {
		return ""
	}
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
		return "One round gives no interval."
	case low.Confidence == high.Confidence:
		return fmt.Sprintf("In brackets the %s interval of the median over %d rounds.", figure.Percent(low.Confidence), low.Rounds)
	}
	return fmt.Sprintf("In brackets an interval of the median, from %s over %d rounds to %s over %d.",
		figure.Percent(low.Confidence), low.Rounds, figure.Percent(high.Confidence), high.Rounds)
}

package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// rivals shows scenario rivals: a group for each cell, with a row for each contender. The first half
// of the columns are its ratios to syncpool, the second those of dewpond to it.
func rivals(d bench.Document) Table {
	g := Table{Title: fmt.Sprintf("%s beside its rivals: the ratio of each to %s, and of %[1]s to each", bench.Ours, bench.Plain), Head: []string{""}}
	if len(d.Cells) == 0 {
		return g
	}
	for _, f := range d.Cells[0].Figures {
		g.Head = append(g.Head, f.Label)
	}
	g.Half = len(g.Head) - 1
	for _, f := range d.Cells[0].Figures {
		g.Head = append(g.Head, bench.Ours+": "+f.Label)
	}
	var ratios []result.Ratio
	differs, unseen := false, false
	beside := func(name string, b *bench.Beside) Cell {
		if b == nil {
			return Cell{Text: none}
		}
		if b.Ratio != nil {
			ratios = append(ratios, *b.Ratio)
		}
		differs = differs || b.Ratio == nil
		unseen = unseen || b.Side == string(verdict.Unseen)
		return Cell{Text: figures.Between(name, b.Ratio, b.Difference), Tone: toneOf(verdict.Side(b.Side))}
	}
	for _, c := range d.Cells {
		g.Rows = append(g.Rows, Row{Name: c.Name + ": " + c.About, Kind: Heading, Cells: make([]Cell, len(g.Head)-1)})
		for _, r := range c.Rivals {
			if r.LeftOut != "" {
				continue
			}
			var first, second []Cell
			for i, f := range r.Figures {
				name := c.Figures[i].Figure
				x := beside(name, f.ToSyncPool)
				x.Spread = figure.Format(name, f.Value.Median)
				first, second = append(first, x), append(second, beside(name, f.Ours))
			}
			g.Rows = append(g.Rows, Row{Name: r.Name, Kind: Member, Cells: slices.Concat(first, second)})
		}
	}
	g.Notes = append([]string{brackets(ratios), "Of each figure less is better."}, leftOut(d)...)
	if differs {
		g.Notes = append(g.Notes, "A number with a sign, or 0, is the difference: the other has none.")
	}
	if unseen {
		g.Notes = append(g.Notes, fmt.Sprintf("A ratio has no colour where %s, which has no pool, shows no less.", bench.Control))
	}
	g.Notes = append(append(g.Notes, abouts(d)...), policies(d))
	return g
}

// policies says which zeroing policy dewpond has in which cells, most of them first.
func policies(d bench.Document) string {
	var order []string
	cells := map[string][]string{}
	for _, c := range d.Cells {
		if cells[c.Zero] == nil {
			order = append(order, c.Zero)
		}
		cells[c.Zero] = append(cells[c.Zero], c.Name)
	}
	for k, policy := range order {
		if k > 0 {
			order[k] = "in " + strings.Join(cells[policy], ", ") + " " + policy
		}
	}
	return fmt.Sprintf("Zeroing policy of %s: %s. The others clear nothing.", bench.Ours, strings.Join(order, "; "))
}

// abouts says what each figure is, and in which cells if it is not the same in all.
func abouts(d bench.Document) []string {
	var out []string
	for i := range d.Cells[0].Figures {
		var order []string
		cells := map[string][]string{}
		for _, c := range d.Cells {
			about := c.Figures[i].About
			if cells[about] == nil {
				order = append(order, about)
			}
			cells[about] = append(cells[about], c.Name)
		}
		for k, about := range order {
			if len(order) > 1 && k > 0 {
				order[k] = "in " + strings.Join(cells[about], ", ") + " " + about
			}
		}
		label := d.Cells[0].Figures[i].Label
		out = append(out, strings.ToUpper(label[:1])+label[1:]+": "+strings.Join(order, "; ")+".")
	}
	return out
}

// leftOut says which contenders took no part in which cells, and why.
func leftOut(d bench.Document) []string {
	type reason struct{ name, why string }
	var order []reason
	cells := map[reason][]string{}
	for _, c := range d.Cells {
		for _, r := range c.Rivals {
			if r.LeftOut == "" {
				continue
			}
			key := reason{r.Name, r.LeftOut}
			if cells[key] == nil {
				order = append(order, key)
			}
			cells[key] = append(cells[key], c.Name)
		}
	}
	var out []string
	for _, r := range order {
		out = append(out, fmt.Sprintf("%s takes no part in %s: %s.", r.name, strings.Join(cells[r], ", "), r.why))
	}
	return out
}

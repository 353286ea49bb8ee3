package report

import (
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// render draws a table: its head, a rule, and its rows. The first column is aligned to the left,
// the others to the right.
func render(g table.Table, style terminal.Style) string {
	widths := widthsOf(g)
	var lines []string
	line := func(cells []string, paint func(i int, padded string) string) {
		cells = columns.Padded(cells, widths)
		for i, cell := range cells {
			cells[i] = paint(i, cell)
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, columns.Gap), " "))
	}
	plain := func(_ int, s string) string { return s }
	line(g.Head, plain)
	all := (len(widths) - 1) * len(columns.Gap)
	for _, w := range widths {
		all += w
	}
	lines = append(lines, strings.Repeat("─", all))
	for _, r := range g.Rows {
		paint := plain
		if style.Colour {
			paint = func(i int, s string) string { return painted(r, i, s, style) }
		}
		cells := texts(r)
		if r.Kind == table.Heading {
			cells = cells[:1]
		}
		line(cells, paint)
	}
	return strings.Join(lines, "\n")
}

// painted colours a cell by its tone, and makes the name of dewpond's row bold.
func painted(r table.Row, i int, s string, style terminal.Style) string {
	if i == 0 {
		if r.Ours() || r.Kind == table.Heading {
			return style.Bold(s)
		}
		return s
	}
	switch r.Cells[i-1].Tone {
	case table.Good:
		return style.Green(s)
	case table.Bad:
		return style.Red(s)
	}
	return s
}

func texts(r table.Row) []string {
	out := []string{r.Title()}
	for _, c := range r.Cells {
		out = append(out, c.Text)
	}
	return out
}

// widthsOf returns the widths of the columns. A heading may reach into the next columns, which are
// empty in its row.
func widthsOf(g table.Table) []int {
	rows := [][]string{g.Head}
	for _, r := range g.Rows {
		if r.Kind != table.Heading {
			rows = append(rows, texts(r))
		}
	}
	return columns.Widths(rows)
}

// split cuts a table by columns into parts that fit the width. If the table has two halves, it
// cuts between them.
func split(g table.Table, width int) []table.Table {
	widths, all := widthsOf(g), -len(columns.Gap)
	for _, w := range widths {
		all += w + len(columns.Gap)
	}
	if all <= width {
		return []table.Table{g}
	}
	var parts []table.Table
	used := width
	for i := 1; i < len(g.Head); i++ {
		if used+len(columns.Gap)+widths[i] > width || g.Half > 0 && i == g.Half+1 {
			part := table.Table{Title: g.Title, Head: []string{""}}
			for _, r := range g.Rows {
				part.Rows = append(part.Rows, table.Row{Name: r.Name, Kind: r.Kind})
			}
			parts = append(parts, part)
			used = widths[0]
		}
		part := &parts[len(parts)-1]
		part.Head = append(part.Head, g.Head[i])
		for k := range part.Rows {
			part.Rows[k].Cells = append(part.Rows[k].Cells, g.Rows[k].Cells[i-1])
		}
		used += len(columns.Gap) + widths[i]
	}
	parts[len(parts)-1].Notes = g.Notes
	return parts
}

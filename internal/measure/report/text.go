package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// Text writes the report for a terminal of the given width: tables, the verdict
// in words, and under which conditions it was measured. Tables that are too
// wide are split by columns, never wrapped.
func Text(w io.Writer, d result.Document, width int) error {
	out := bufio.NewWriter(w)
	for _, g := range grids(d) {
		for i, part := range split(g, width) {
			if i == 0 {
				fmt.Fprintln(out, hang("", g.title, width))
			}
			fmt.Fprintln(out, render(part))
			for _, note := range part.notes {
				fmt.Fprintln(out, hang("", note, width))
			}
			fmt.Fprintln(out)
		}
	}
	var said []string
	if reason := withheld(d); reason != "" {
		said = append(said, reason)
	}
	said = append(said, d.Words...)
	if d.Interrupted {
		said = append(said, "Interrupted: this is what was measured until then.")
	}
	for _, s := range said {
		fmt.Fprintln(out, hang("- ", s, width))
	}
	fmt.Fprintln(out)
	for _, line := range conditions(d) {
		name := fmt.Sprintf("%-9s ", line[0])
		if line[0] == "command" { // unbroken, to be copied
			fmt.Fprintln(out, name+line[1])
			continue
		}
		fmt.Fprintln(out, hang(name, line[1], width))
	}
	return out.Flush()
}

// render draws a grid's cells.
func render(g grid) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", gap
	t.SetStyle(style)
	var header table.Row
	var configs []table.ColumnConfig
	for i, h := range g.head {
		header = append(header, h)
		if i > 0 {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, r := range g.rows {
		line := table.Row{r.title()}
		for _, c := range r.cells {
			line = append(line, c.text)
		}
		t.AppendRow(line)
	}
	return trimRight(t.Render())
}

const gap = "  "

// split cuts a grid by columns into parts that fit the width; where it has two
// halves, between them.
func split(g grid, width int) []grid {
	widths, all := make([]int, len(g.head)), 0
	for i, h := range g.head {
		widths[i] = text.StringWidthWithoutEscSequences(h)
		for _, r := range g.rows {
			s := r.title()
			if i > 0 {
				s = r.cells[i-1].text
			}
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(s))
		}
		widths[i] += len(gap)
		all += widths[i]
	}
	if all <= width {
		return []grid{g}
	}
	var parts []grid
	used := width
	for i := 1; i < len(g.head); i++ {
		if used+widths[i] > width || g.half > 0 && i == g.half+1 {
			part := grid{title: g.title, head: []string{""}}
			for _, r := range g.rows {
				part.rows = append(part.rows, row{name: r.name, kind: r.kind})
			}
			parts = append(parts, part)
			used = widths[0]
		}
		part := &parts[len(parts)-1]
		part.head = append(part.head, g.head[i])
		for k := range part.rows {
			part.rows[k].cells = append(part.rows[k].cells, g.rows[k].cells[i-1])
		}
		used += widths[i]
	}
	parts[len(parts)-1].notes = g.notes
	return parts
}

// hang wraps s to the width behind a prefix; further lines are indented as far.
func hang(prefix, s string, width int) string {
	indent := strings.Repeat(" ", len(prefix))
	wrapped := trimRight(text.WrapSoft(s, max(20, width-len(prefix))))
	return prefix + strings.ReplaceAll(wrapped, "\n", "\n"+indent)
}

func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

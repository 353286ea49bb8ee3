package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/table"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// Text writes the report for a terminal of the given width: tables, the verdict in words, and the
// conditions of the measurement. Tables that are too wide are split by columns, never wrapped.
func Text(w io.Writer, d result.Document, width int) error {
	out := bufio.NewWriter(w)
	for _, g := range table.Of(d) {
		for i, part := range split(g, width) {
			if i == 0 {
				fmt.Fprintln(out, hang("", g.Title, width))
			}
			fmt.Fprintln(out, render(part))
			for _, note := range part.Notes {
				fmt.Fprintln(out, hang("", note, width))
			}
			fmt.Fprintln(out)
		}
	}
	var said []string
	if reason := words.Withheld(d); reason != "" {
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
	for _, line := range words.Conditions(d) {
		name := fmt.Sprintf("%-9s ", line[0])
		if line[0] == "command" { // not wrapped, so that it can be copied
			fmt.Fprintln(out, name+line[1])
			continue
		}
		fmt.Fprintln(out, hang(name, line[1], width))
	}
	return out.Flush()
}

// render formats a table's cells.
func render(g table.Table) string {
	t := pretty.NewWriter()
	style := pretty.StyleLight
	style.Options = pretty.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", gap
	t.SetStyle(style)
	var header pretty.Row
	var configs []pretty.ColumnConfig
	for i, h := range g.Head {
		header = append(header, h)
		if i > 0 {
			configs = append(configs, pretty.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(header)
	for _, r := range g.Rows {
		line := pretty.Row{r.Title()}
		for _, c := range r.Cells {
			line = append(line, c.Text)
		}
		t.AppendRow(line)
	}
	return trimRight(t.Render())
}

const gap = "  "

// split cuts a table by columns into parts that fit the width. If the table has two halves, it
// cuts between them.
func split(g table.Table, width int) []table.Table {
	widths, all := make([]int, len(g.Head)), 0
	for i, h := range g.Head {
		widths[i] = text.StringWidthWithoutEscSequences(h)
		for _, r := range g.Rows {
			s := r.Title()
			if i > 0 {
				s = r.Cells[i-1].Text
			}
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(s))
		}
		widths[i] += len(gap)
		all += widths[i]
	}
	if all <= width {
		return []table.Table{g}
	}
	var parts []table.Table
	used := width
	for i := 1; i < len(g.Head); i++ {
		if used+widths[i] > width || g.Half > 0 && i == g.Half+1 {
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
		used += widths[i]
	}
	parts[len(parts)-1].Notes = g.Notes
	return parts
}

// hang wraps s to the width behind a prefix, and indents further lines as far.
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

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// Markdown writes a document of scenario rivals for a document in Markdown: what is lost, as rows of
// the README's table, and then each table with the sentences and the conditions.
func Markdown(w io.Writer, d bench.Document) error {
	out := bufio.NewWriter(w)
	say := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	say("    %s\n\n", words.CommandLine(d.Command))
	if reason := words.Withheld(d); reason != "" {
		say("%s\n\n", reason)
	} else if lost := rivals.Losses(d); len(lost) == 0 {
		say("Nothing is above %s by an interval that excludes 1.\n\n", figure.Significant(rivals.Most))
	} else {
		columns.Markdown(out, append([][]string{{"what", "control", "ratio"}}, lossRows(lost)...))
		say("\n")
	}
	for _, g := range table.Of(d) {
		rows := [][]string{g.Head}
		for _, r := range g.Rows {
			cells := texts(r)
			if r.Kind == table.Heading {
				cells[0] = "**" + r.Name + "**"
			}
			rows = append(rows, cells)
		}
		columns.Markdown(out, rows)
		say("\n")
		for _, n := range g.Notes {
			say("- %s\n", n)
		}
		say("\n")
	}
	for _, s := range words.Of(d).All() {
		say("- %s\n", s)
	}
	for _, c := range words.Conditions(d) {
		say("- %s: %s\n", c[0], c[1])
	}
	return out.Flush()
}

// lossRows are rows of the README's table: one for each figure of a cell, with all rivals beside which
// it is lost, in the order in which their first losses come. dewsync has no zeroing policy.
func lossRows(lost []rivals.Match) [][]string {
	var order []string
	controls, ratios := map[string][]string{}, map[string][]string{}
	for _, m := range lost {
		what := m.Ours + ", " + m.Cell.About + ": " + m.Figure.Label
		if m.Ours == bench.Ours {
			what = fmt.Sprintf("%s, `%s`: %s", m.Cell.About, m.Cell.Zero, m.Figure.Label)
		}
		if controls[what] == nil {
			order = append(order, what)
		}
		ratio := strings.Replace(figures.Between(m.Figure.Figure, m.Ratio, m.Difference), "x ", " ", 1)
		if m.Side == string(verdict.Unseen) {
			ratio += " (no less without a pool)"
		}
		controls[what], ratios[what] = append(controls[what], m.Rival), append(ratios[what], ratio)
	}
	var rows [][]string
	for _, what := range order {
		rows = append(rows, []string{what, strings.Join(controls[what], ", "), "**loses**: " + strings.Join(ratios[what], ", ")})
	}
	return rows
}

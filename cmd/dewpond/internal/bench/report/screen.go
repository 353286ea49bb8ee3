package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// InPrograms is the day on which the public programs of docs/adoption.md were last measured.
const InPrograms = "2026-11-28"

// Screen writes the answers of a tour on one screen, and for whom dewpond is by them: at most 50 lines of at most 80 columns.
func Screen(w io.Writer, d bench.Document, style terminal.Style) error {
	out := bufio.NewWriter(w)
	(&text{out, style}).screen(d)
	return out.Flush()
}

func (t *text) screen(d bench.Document) {
	t = &text{t.out, t.style} // the rest of a report may be wider
	t.style.Width = min(t.style.Width, 80)
	g := table.Answers(d)
	if len(split(g, t.style.Width)) > 1 {
		g = ratiosOnly(g)
	}
	title := g.Title + ", the best use of sync.Pool"
	if d.Interrupted {
		title += "; interrupted"
	}
	fmt.Fprintln(t.out, t.style.Bold(terminal.Wrap("", title, t.style.Width)))
	for _, part := range split(g, t.style.Width) {
		fmt.Fprintln(t.out, render(part, t.style))
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(t.out, terminal.Wrap("", fmt.Sprintf(format, args...), t.style.Width))
	}
	for _, n := range g.Notes {
		say("%s", n)
	}
	if !judged(d) {
		say("A ratio below 1 is better for dewpond. Too few rounds for a verdict.")
	}
	e := d.Environment
	load := ""
	if words.Busy(e) {
		load = fmt.Sprintf(", busy: load %s", figure.Significant(e.LoadAverage[0]))
	}
	say("dewpond gives idle memory back after its IdleTimeout, by default 60 s.")
	rounds, confidence := least(d)
	intervals := ", intervals of " + figure.Percent(confidence)
	if confidence == 0 {
		intervals = ", too few for an interval"
	}
	say("%s, %s, %s%s; %s%s", e.Machine, figure.Several(e.CPUs, "CPU"), e.GoVersion, load, figure.Several(rounds, "round"), intervals)
	say("In real programs, %s: docs/adoption.md", InPrograms)
	say("More: dewpond bench micro and so on; all figures: --full; charts: --html FILE")
	fmt.Fprintln(t.out)
	for _, s := range words.ForWhom(d) {
		say("%s", s)
	}
}

// ratiosOnly leaves out the values, for a narrow terminal.
func ratiosOnly(g table.Table) table.Table {
	last := len(g.Head) - 2
	g.Head = slices.Concat(g.Head[:1], g.Head[last:])
	rows := slices.Clone(g.Rows)
	for i := range rows {
		rows[i].Cells = rows[i].Cells[last-1:]
	}
	g.Rows = rows
	return g
}

// judged reports whether any answer has a verdict.
func judged(d bench.Document) bool {
	return slices.ContainsFunc(d.Answers, func(a bench.Answer) bool { return a.Side != "" })
}

// least returns the fewest rounds behind an answer, and the confidence that comes of them.
func least(d bench.Document) (rounds int, confidence float64) {
	for _, a := range d.Answers {
		if a.Ratio != nil && (rounds == 0 || a.Ratio.Rounds < rounds) {
			rounds, confidence = a.Ratio.Rounds, a.Ratio.Confidence
		}
	}
	return rounds, confidence
}

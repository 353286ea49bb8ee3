package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Text writes the whole report for a terminal: the answers, the tables, the verdict in words, and
// the conditions of the measurement. What is about dewpond stands at the two ends, where a reader
// looks first. A tour has the report of each of its scenarios, and then its [Screen].
func Text(w io.Writer, d bench.Document, style terminal.Style) error {
	out := bufio.NewWriter(w)
	t := &text{out, style}
	if d.Scenario.Name != bench.Touring {
		t.report(d)
		return out.Flush()
	}
	for _, part := range d.Parts {
		fmt.Fprintln(out, style.Bold("Scenario "+part.Scenario.Name))
		fmt.Fprintln(out)
		t.report(part)
	}
	t.screen(d)
	return out.Flush()
}

// A text is a report on its way out.
type text struct {
	out   io.Writer
	style terminal.Style
}

func (t *text) report(d bench.Document) {
	if len(d.Answers) > 0 {
		t.table(table.Answers(d))
	}
	for _, g := range table.Of(d) {
		t.table(g)
	}
	said := words.Of(d)
	t.items(slices.Concat(said.Tools, said.Others, said.Decay, said.Limits))
	t.conditions(d)
	fmt.Fprintln(t.out)
	last := said.Ours
	if reason := words.Withheld(d); reason != "" {
		last = append(last, reason)
	}
	if d.Interrupted {
		last = append(last, interrupted)
	}
	t.items(last)
}

const interrupted = "Interrupted: this is what was measured until then."

// items writes a list, with a blank line behind it unless it is empty.
func (t *text) items(all []string) {
	for _, s := range all {
		fmt.Fprintln(t.out, terminal.Wrap("- ", s, t.style.Width))
	}
	if len(all) > 0 {
		fmt.Fprintln(t.out)
	}
}

// table writes a table. If it is too wide it is split by columns, never wrapped.
func (t *text) table(g table.Table) {
	for i, part := range split(g, t.style.Width) {
		if i == 0 {
			fmt.Fprintln(t.out, t.style.Bold(terminal.Wrap("", g.Title, t.style.Width)))
		}
		fmt.Fprintln(t.out, render(part, t.style))
		for _, note := range part.Notes {
			fmt.Fprintln(t.out, terminal.Wrap("", note, t.style.Width))
		}
		fmt.Fprintln(t.out)
	}
}

func (t *text) conditions(d bench.Document) {
	for _, line := range words.Conditions(d) {
		name := fmt.Sprintf("%-9s ", line[0])
		if line[0] == "command" { // not wrapped, so that it can be copied
			fmt.Fprintln(t.out, name+line[1])
			continue
		}
		fmt.Fprintln(t.out, terminal.Wrap(name, line[1], t.style.Width))
	}
}

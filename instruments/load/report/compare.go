package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
	"github.com/dewpond/dewpond/instruments/load"
)

// outputFlags do not change what a command measures.
var outputFlags = []string{"--json", "--html", "--hgrm", "--requests"}

// measuring returns a command without the flags that name its files: two results whose commands
// are then the same are rounds of one.
func measuring(command []string) string {
	var out []string
	for i := 0; i < len(command); i++ {
		name, _, hasValue := strings.Cut(command[i], "=")
		switch {
		case !slices.Contains(outputFlags, name):
			out = append(out, command[i])
		case !hasValue:
			i++
		}
	}
	return strings.Join(quoted(out), " ")
}

// A Comparison is results side by side. Those of one command are its rounds.
type Comparison struct {
	commands []rounds
	// ratios compare the second command with the first, round by round, by the name of the
	// percentile. There are none unless there are two commands with as many rounds.
	ratios map[string]result.Ratio
}

// rounds are the results of one command.
type rounds struct {
	command string
	results []load.Result
	// figures are percentiles of the session's response over the rounds, such as p99_ns: the
	// median and its interval.
	figures map[string]result.Excess
}

// Compare sorts results by their commands.
func Compare(results []load.Result) Comparison {
	var c Comparison
	for _, r := range results {
		command := measuring(r.Command)
		i := slices.IndexFunc(c.commands, func(k rounds) bool { return k.command == command })
		if i < 0 {
			i = len(c.commands)
			c.commands = append(c.commands, rounds{command: command})
		}
		c.commands[i].results = append(c.commands[i].results, r)
	}
	for i := range c.commands {
		k := &c.commands[i]
		k.figures = map[string]result.Excess{}
		for _, p := range percentiles {
			if values := k.values(p); len(values) == len(k.results) {
				k.figures[p.name] = summary.Interval(values)
			}
		}
	}
	if len(c.commands) == 2 && len(c.commands[0].results) == len(c.commands[1].results) {
		c.pair()
	}
	return c
}

func (k *rounds) values(p percentile) []float64 {
	var values []float64
	for i := range k.results {
		if v := p.of(k.results[i].Session.Response); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

func (c *Comparison) pair() {
	c.ratios = map[string]result.Ratio{}
	for _, p := range percentiles {
		first, second := c.commands[0].values(p), c.commands[1].values(p)
		if n := len(c.commands[0].results); len(first) != n || len(second) != n {
			continue
		}
		var ratios []float64
		for i := range first {
			if first[i] > 0 {
				ratios = append(ratios, second[i]/first[i])
			}
		}
		if len(ratios) == len(first) {
			c.ratios[p.name] = result.Ratio(summary.Interval(ratios))
		}
	}
}

// WriteText writes the comparison for a terminal.
func (c Comparison) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	columns.Write(out, c.table())
	fmt.Fprintln(out)
	for i, k := range c.commands {
		fmt.Fprintf(out, "[%d] %s, %s\n", i+1, k.number(), k.command)
		for _, why := range k.why() {
			fmt.Fprintf(out, "    not valid: %s\n", why)
		}
	}
	for _, n := range c.notes() {
		fmt.Fprintln(out, n)
	}
	return out.Flush()
}

// table has a row for each percentile, and a column for each command, for their ratio, and for the
// verdict where there are the rounds for one.
func (c *Comparison) table() [][]string {
	head := []string{"session, response"}
	for i := range c.commands {
		head = append(head, bracketed(i))
	}
	judged := c.ratios != nil && len(c.commands[0].results) >= summary.VerdictRounds
	if c.ratios != nil {
		head = append(head, "[2] to [1]")
	}
	if judged {
		head = append(head, "[2] is")
	}
	rows := [][]string{head}
	for _, p := range percentiles {
		row := []string{p.label}
		for _, k := range c.commands {
			row = append(row, interval(k.figures, p.name))
		}
		r, ok := c.ratios[p.name]
		switch {
		case ok && judged:
			row = append(row, figure.Bracketed(r), string(verdict.Of(p.name, r)))
		case ok:
			row = append(row, figure.Bracketed(r))
		case judged:
			row = append(row, "-", "-")
		case c.ratios != nil:
			row = append(row, "-")
		}
		rows = append(rows, row)
	}
	return rows
}

func bracketed(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

func (k *rounds) number() string { return figure.Several(len(k.results), "round") }

// why returns what is not valid of the rounds.
func (k *rounds) why() []string {
	var out []string
	for _, r := range k.results {
		if !r.Valid {
			out = append(out, strings.Join(r.Why, "; "))
		}
	}
	return out
}

func (c *Comparison) notes() []string {
	if c.ratios != nil && len(c.commands[0].results) < summary.VerdictRounds {
		return []string{fmt.Sprintf("Fewer than %d rounds of each: no verdict.", summary.VerdictRounds)}
	}
	return nil
}

// mostDrawn is how many commands the page has colours for.
const mostDrawn = 4

// WriteHTML writes the comparison as one file that loads no others. A command's line is of the sum
// of its rounds.
func (c Comparison) WriteHTML(w io.Writer) error {
	type command struct {
		Number, Rounds, Command string
		Why                     []string
	}
	data := &struct {
		gallery
		Commands []command
		Charts   []page.Picture
		Table    [][]string
		Notes    []string
	}{Table: c.table(), Notes: c.notes()}
	var curves []page.Curve
	for i, k := range c.commands {
		data.Commands = append(data.Commands, command{bracketed(i), k.number(), k.command, k.why()})
		if i < mostDrawn {
			if err := addLatency(&curves, bracketed(i), load.Merge(k.results...).Session.Response); err != nil {
				return err
			}
		}
	}
	if len(c.commands) > mostDrawn {
		data.Notes = append(data.Notes, fmt.Sprintf("The first %d are drawn.", mostDrawn))
	}
	data.Charts = data.draw(page.Latencies("Response of the sessions, by percentile", "", curves))
	return comparisonPage.Execute(w, data)
}

func interval(figures map[string]result.Excess, name string) string {
	e, ok := figures[name]
	switch {
	case !ok:
		return "-"
	case e.Rounds < 2:
		return figure.Duration(e.Median)
	}
	return fmt.Sprintf("%s [%s, %s]", figure.Duration(e.Median), figure.Duration(e.Low), figure.Duration(e.High))
}

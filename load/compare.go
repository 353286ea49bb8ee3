package load

import (
	"bufio"
	"fmt"
	htmltemplate "html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
	"github.com/dewpond/dewpond/load/internal/chart"
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
	Commands []Rounds
	// Ratios compare the second command with the first, round by round, by the name of the
	// percentile. There are none unless there are two commands with as many rounds.
	Ratios map[string]result.Ratio
}

// Rounds are the results of one command.
type Rounds struct {
	Command string
	Results []Result
	// Figures are percentiles of the session's response over the rounds, such as p99_ns: the
	// median and its interval.
	Figures map[string]result.Excess
}

// Compare sorts results by their commands.
func Compare(results []Result) Comparison {
	var c Comparison
	for _, r := range results {
		command := measuring(r.Command)
		i := slices.IndexFunc(c.Commands, func(k Rounds) bool { return k.Command == command })
		if i < 0 {
			i = len(c.Commands)
			c.Commands = append(c.Commands, Rounds{Command: command})
		}
		c.Commands[i].Results = append(c.Commands[i].Results, r)
	}
	for i := range c.Commands {
		k := &c.Commands[i]
		k.Figures = map[string]result.Excess{}
		for _, p := range percentiles {
			if values := k.values(p); len(values) == len(k.Results) {
				k.Figures[p.key+"_ns"] = summary.Interval(values)
			}
		}
	}
	if len(c.Commands) == 2 && len(c.Commands[0].Results) == len(c.Commands[1].Results) {
		c.pair()
	}
	return c
}

func (k *Rounds) values(p percentile) []float64 {
	var values []float64
	for i := range k.Results {
		if v := *p.in(k.Results[i].Session.Response); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

func (c *Comparison) pair() {
	c.Ratios = map[string]result.Ratio{}
	for _, p := range percentiles {
		first, second := c.Commands[0].values(p), c.Commands[1].values(p)
		if n := len(c.Commands[0].Results); len(first) != n || len(second) != n {
			continue
		}
		var ratios []float64
		for i := range first {
			if first[i] > 0 {
				ratios = append(ratios, second[i]/first[i])
			}
		}
		if len(ratios) == len(first) {
			c.Ratios[p.key+"_ns"] = result.Ratio(summary.Interval(ratios))
		}
	}
}

// WriteText writes the comparison for a terminal.
func (c Comparison) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	(&table{out, c.table()}).flush()
	fmt.Fprintln(out)
	for i, k := range c.Commands {
		fmt.Fprintf(out, "[%d] %s, %s\n", i+1, k.rounds(), k.Command)
		for _, why := range k.why() {
			fmt.Fprintf(out, "    not valid: %s\n", why)
		}
	}
	for _, n := range c.notes() {
		fmt.Fprintln(out, n)
	}
	return out.Flush()
}

// table has a row for each percentile, and a column for each command.
func (c *Comparison) table() [][]string {
	head := []string{"session, response"}
	for i := range c.Commands {
		head = append(head, bracketed(i))
	}
	if c.Ratios != nil {
		head = append(head, "[2] to [1]")
	}
	rows := [][]string{head}
	for _, p := range percentiles {
		row := []string{p.label}
		for _, k := range c.Commands {
			row = append(row, interval(k.Figures, p.key+"_ns"))
		}
		if r, ok := c.Ratios[p.key+"_ns"]; ok {
			row = append(row, figure.Bracketed(r))
		} else if c.Ratios != nil {
			row = append(row, "-")
		}
		rows = append(rows, row)
	}
	return rows
}

func bracketed(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

func (k *Rounds) rounds() string { return figure.Several(len(k.Results), "round") }

// why returns what is not valid of the rounds.
func (k *Rounds) why() []string {
	var out []string
	for _, r := range k.Results {
		if !r.Valid {
			out = append(out, strings.Join(r.Why, "; "))
		}
	}
	return out
}

func (c *Comparison) notes() []string {
	if c.Ratios != nil && len(c.Commands[0].Results) < summary.VerdictRounds {
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
	data := struct {
		Commands []command
		Charts   []htmltemplate.HTML
		Table    [][]string
		Notes    []string
	}{Table: c.table(), Notes: c.notes()}
	latency := chart.Chart{Title: "Response of the sessions, by percentile"}
	for i, k := range c.Commands {
		data.Commands = append(data.Commands, command{bracketed(i), k.rounds(), k.Command, k.why()})
		if i < mostDrawn {
			if err := addLatency(&latency, bracketed(i), Merge(k.Results...).Session.Response); err != nil {
				return err
			}
		}
	}
	if len(c.Commands) > mostDrawn {
		data.Notes = append(data.Notes, fmt.Sprintf("The first %d are drawn.", mostDrawn))
	}
	overPercentiles(&latency)
	data.Charts = drawn([]chart.Chart{latency})
	return comparison.Execute(w, data)
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

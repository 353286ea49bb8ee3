package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/report"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

type rivalsCommand struct {
	Cells      []string `placeholder:"NAME" help:"Measure these uses of a pool (default: all: ${cells})."`
	Contenders []string `placeholder:"NAME" help:"Pools to measure (default ${rivals}). Keep syncpool, dewpond and nop, which ratios need."`
	Rounds     *int     `placeholder:"N" help:"Rounds of each contender in each cell, each in a process of its own. A verdict needs ${enough}."`
	Quick      bool     `help:"One short round: figures in less than a minute, without intervals or a verdict."`
	JSON       string   `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (docs/schema.md describes it)."`
	HTML       string   `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with pictures of all ratios: one file that loads no others."`
	Markdown   string   `name:"markdown" type:"path" placeholder:"FILE" help:"Also write the tables as Markdown: first what dewpond loses by more than ${most} times, as rows for a README."`
}

// contestants returns the contenders that take part by default.
func contestants() []string {
	return []string{bench.Control, bench.Plain, bench.Baseline, "mcache", "bytebufferpool", "bpool", bench.Ours, bench.Synced}
}

func (c *rivalsCommand) Run() error {
	var r flagReader
	all, err := findCells(c.Cells)
	r.add("cells", err)
	contenders := contestants()
	r.contenders(c.Contenders, &contenders)
	n := defaultRounds
	if c.Quick {
		n = 1
	}
	r.number("rounds", c.Rounds, &n, 1, 1000)
	if err := errors.Join(r.errs...); err != nil {
		return command.UsageError{Err: err}
	}
	run := newContest(all, contenders, n, c.Quick)
	t := &task{
		open: func() (*outputs.Files[bench.Document], error) {
			files, err := outputFlags{JSON: c.JSON, HTML: c.HTML}.open()
			return files, errors.Join(err, files.Open("--markdown", c.Markdown, report.Markdown))
		},
		turns:    run.turns(),
		measure:  run.measure,
		document: run.document,
		write:    report.Text,
	}
	return t.run()
}

// Help returns what the scenario does, with its cells.
func (c *rivalsCommand) Help() string {
	var s strings.Builder
	s.WriteString(`dewpond and dewsync beside the pools that they may replace, each used in several ways: in one table the ratio of each to syncpool, a plain sync.Pool, and that of dewpond to each, with intervals, for time, P99, peak RSS and collections. Contenders clear only what they must, except dewpond in default-8k and default-64k: there it has its default and clears each block. Its IdleTimeout is the default. A contender that cannot do what a cell asks for is left out of it, and the report says why.

Blocks of one size have 512 bytes; many sizes, in bytes with their percents, are ` + manySizes.String() + `.

These contenders take part by default: ` + strings.Join(contestants(), ", ") + ` (dewpond bench --help describes them). Each has ` + fmt.Sprint(defaultRounds) + ` rounds in each cell, which take less than 10 minutes together; with --quick, 1 round.

Cells:

`)
	for _, cell := range cells() {
		list(&s, cell.name, cell.about)
	}
	s.WriteString(`
Examples:

    # a first look, no verdict
    dewpond bench rivals --quick
    # two cells, narrower intervals
    dewpond bench rivals --cells burst,beyond --rounds 20
    # fewer rivals
    dewpond bench rivals --contenders nop,syncpool,dewpond,dewsync
    # a picture of all ratios
    dewpond bench rivals --html report.html
    # the rows of dewpond's README
    dewpond bench rivals --rounds 12 --markdown rivals.md
`)
	return s.String() + ending
}

// A contest is a run of scenario rivals.
type contest struct {
	cells      []cell
	contenders []string
	plans      map[string]plan // by the name of the cell
	rounds     int
	quick      bool
}

func newContest(all []cell, contenders []string, rounds int, quick bool) *contest {
	c := &contest{cells: all, contenders: contenders, plans: map[string]plan{}, rounds: rounds, quick: quick}
	for _, cell := range all {
		c.plans[cell.name] = cell.plan(contenders, rounds, quick)
	}
	return c
}

// turns are those of a tour of the cells, without what a cell excludes.
func (c *contest) turns() []rounds.Turn {
	return slices.DeleteFunc(rounds.Tour(cellNames(c.cells), c.contenders, c.rounds), func(t rounds.Turn) bool {
		return c.plans[t.Scenario].excludes(t.Contender) != ""
	})
}

func (c *contest) measure(ctx context.Context, turn rounds.Turn) (result.Round, error) {
	r, err := c.plans[turn.Scenario].measure(ctx, turn)
	r.Scenario = turn.Scenario
	return r, err
}

func (c *contest) document(e bench.Conditions, measured []result.Round) (bench.Document, error) {
	d := bench.Document{
		Schema: bench.Schema, Environment: e, Contenders: []bench.Contender{}, Command: commandLine(),
		Scenario: bench.Scenario{Name: bench.Contest, Rounds: c.rounds, Quick: c.quick},
	}
	for _, cell := range c.cells {
		of := slices.DeleteFunc(slices.Clone(measured), func(r result.Round) bool { return r.Scenario != cell.name })
		if len(of) == 0 {
			continue // interrupted before
		}
		p := c.plans[cell.name]
		part, err := p.document(e, of, c.quick)
		if err != nil {
			return d, err
		}
		filled := cell.describe(part)
		for _, name := range c.contenders {
			if why := p.excludes(name); why != "" {
				filled.Rivals = append(filled.Rivals, bench.Rival{Name: name, LeftOut: why})
			}
		}
		if err := rivals.Fill(&filled, part, of); err != nil {
			return d, err
		}
		d.Parts, d.Cells = append(d.Parts, part), append(d.Cells, filled)
		d.Interrupted = d.Interrupted || part.Interrupted
	}
	d.Words = words.Of(d).All()
	return d, nil
}

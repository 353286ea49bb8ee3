package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/answer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/report"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

type tourCommand struct {
	Full   bool   `help:"Before the answers, print the whole report of each scenario."`
	Quick  bool   `help:"Two rounds of each scenario, in about 25 s: figures without a verdict."`
	Rounds *int   `placeholder:"N" help:"Rounds of each contender in each scenario (${enough}, the fewest for a verdict). More rounds give narrower intervals."`
	JSON   string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (docs/schema.md describes it)."`
	HTML   string `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts of all scenarios: one file that loads no others."`
}

// A stop is one scenario of the tour, with rounds that are shorter than its own. It has the
// scenario's name, or one of its own where the scenario comes twice.
type stop struct {
	name     string
	scenario workload.Scenario
	shorten  func(*workload.Spec)
}

// stops returns the scenarios of the tour. With 6 rounds of 3 contenders they take about 100 s on 2
// processors.
func stops() []stop {
	return []stop{
		{"micro", workload.Micro, func(s *workload.Spec) { s.Duration, s.NoTools = 240*time.Millisecond, true }},
		{"mixed", workload.Mixed, func(s *workload.Spec) { s.Duration = 300 * time.Millisecond }},
		// As with --quick: P9999 has 30 samples beyond it in each round. The IdleTimeout is the
		// default first; what it costs to give memory back sooner is a question of its own.
		{"churn", workload.Churn, func(s *workload.Spec) {
			s.Duration, s.Every, s.IdleTimeout = s.Duration/quickDivisor, s.Every/quickDivisor, 0
		}},
		{"churn with a short IdleTimeout", workload.Churn, func(s *workload.Spec) {
			s.Duration, s.Every, s.IdleTimeout = s.Duration/quickDivisor, s.Every/quickDivisor, s.IdleTimeout/quickDivisor
		}},
		{"burst", workload.Burst, func(s *workload.Spec) { s.Duration /= 2 }},
		{"beyond", workload.Beyond, func(s *workload.Spec) { s.Duration, s.Blocks, s.Bursts = s.Duration/quickDivisor, 8000, 4 }},
		// P99 takes 1000 samples: as many are served while a Hold passes six times.
		{"flood", workload.Flood, func(s *workload.Spec) { s.Duration = 600 * time.Millisecond }},
		{"misuse", workload.Misuse, func(s *workload.Spec) { s.Duration /= 2 }},
	}
}

// tourists returns the contenders of the tour.
func tourists() []string { return []string{bench.Control, bench.Baseline, bench.Ours} }

func (c *tourCommand) Run() error {
	n := defaultRounds
	if c.Quick {
		n = 2
	}
	var r flagReader
	r.number("rounds", c.Rounds, &n, 1, 1000)
	if r.errs != nil {
		return command.UsageError{Err: r.errs[0]}
	}
	plans := map[string]plan{}
	var names []string
	for _, s := range stops() {
		p := plan{scenario: s.scenario, spec: s.scenario.Defaults, contenders: tourists(), rounds: n}
		p.spec.Scenario = s.scenario.Name
		s.shorten(&p.spec)
		plans[s.name] = p
		names = append(names, s.name)
	}
	t := &task{
		open:  outputFlags{JSON: c.JSON, HTML: c.HTML}.open,
		turns: rounds.Tour(names, tourists(), n),
		measure: func(ctx context.Context, turn rounds.Turn) (result.Round, error) {
			r, err := plans[turn.Scenario].measure(ctx, turn)
			r.Scenario = turn.Scenario
			return r, err
		},
		document: func(e bench.Conditions, measured []result.Round) (bench.Document, error) {
			d := bench.Document{
				Schema: bench.Schema, Environment: e, Contenders: []bench.Contender{},
				Scenario: bench.Scenario{Name: bench.Touring, Rounds: n, Quick: c.Quick},
			}
			for _, name := range names {
				of := slices.DeleteFunc(slices.Clone(measured), func(r result.Round) bool { return r.Scenario != name })
				if len(of) == 0 {
					continue // interrupted before
				}
				part, err := plans[name].document(e, of, c.Quick)
				if err != nil {
					return d, err
				}
				d.Parts = append(d.Parts, part)
			}
			d.Answers = answer.Of(d)
			d.Command = commandLine()
			return d, nil
		},
		write: func(w io.Writer, d bench.Document, style terminal.Style) error {
			if c.Full {
				return report.Text(w, d, style)
			}
			return report.Screen(w, d, style)
		},
	}
	return t.run()
}

// Help returns what the tour does.
func (c *tourCommand) Help() string {
	return fmt.Sprintf(`Short rounds of the scenarios micro, mixed, churn (with the default IdleTimeout and with a short one), burst, beyond, flood and misuse, each of %s, and the answers on one screen: dewpond beside syncpool-class, the best honest use of sync.Pool, with losses as well as gains. It takes about 100 s on 2 processors.

Each answer names the scenario that tells more: dewpond bench micro --help.

Examples:

    dewpond bench                       one screen
    dewpond bench --full                every figure, then the screen
    dewpond bench --html report.html    charts
    dewpond bench --rounds 20           narrower intervals, in about 4 minutes
%s`, strings.Join(tourists(), ", "), ending)
}

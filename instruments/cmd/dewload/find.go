package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/knee"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// findCommand finds the highest rate that holds.
type findCommand struct {
	Scenario string `arg:"" placeholder:"URL|FILE" help:"A URL, or a scenario file in YAML or JSON. Its rate, or --rate, is the lowest rate tried."`
	SLO      string `name:"slo" placeholder:"TEXT" help:"SLO that a rate must meet, such as 'p99 < 100ms' or 'match p99 < 50ms' (default: three times the P99 of the lowest rate)."`
	JSON     string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON: those of the rate found, and a row for each rate tried. With - it goes to standard output, and the report to standard error."`
	HTML     string `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: percentiles by rate, and the rate found."`
	command.ScenarioFlags
	fileFlags
}

// Help returns the end of the command's help.
func (findCommand) Help() string {
	return `Rates grow by half until one does not hold, then the interval is halved down to 5 %, and the rate that was found is run three times more; if it does not hold in most of these, the rate 5 % below is next.
A rate holds if the SLO is met, fewer than 0.1 % of the sessions fail, 99 % of those offered finish, and the backlog does not grow.
--duration is of each rate, 7s by itself, and longer where that has too few sessions for a P99.

Exit codes: 0 found, 1 could not run, 2 wrong usage or scenario, 3 the lowest rate does not hold, 4 the generator was at fault, 130 interrupted.`
}

// eachRate is how long each rate is run at least, if nobody says.
const eachRate = 7 * time.Second

func (c *findCommand) Run() error {
	s, locate, err := c.scenario(c.Scenario)
	if err != nil {
		return err
	}
	o := knee.Options{Each: eachRate}
	if c.Duration != nil {
		o.Each = *c.Duration
	}
	if c.SLO != "" {
		slo, err := load.ParseThreshold(c.SLO)
		if err != nil { // without a step it is the session's
			slo, err = load.ParseThreshold("session " + c.SLO)
		}
		if err != nil {
			return command.UsageError{Err: fmt.Errorf("--slo: %w", err)}
		}
		o.SLO = &slo
		s.Thresholds = []load.Threshold{slo} // so that its step is known to be there
	}
	options, err := c.Apply(&s)
	if err != nil {
		return locate(err)
	}
	if s.Arrivals.Users > 0 {
		return command.UsageError{Err: errors.New("find: looks for a rate, and in closed mode the target sets it")}
	}
	if len(s.Arrivals.Stages) > 0 {
		return command.UsageError{Err: errors.New("find: looks for one rate, and the scenario has stages: give it one with rate and duration, or give --stage to dewload run")}
	}
	o.From = s.Arrivals.Rate
	files, err := command.OpenFiles(c.JSON, c.HTML)
	if err != nil {
		return err
	}
	defer files.Close()

	ctx, end := interrupt.Context()
	defer end()
	display := command.NewDisplay(os.Stderr)
	options.Progress = display.Show
	o.Show = func(s load.Scenario) {
		display.Begin(fmt.Sprintf("%.4g/s for %v", s.Arrivals.Rate, s.Arrivals.Duration))
	}
	o.Run = func(ctx context.Context, s load.Scenario) (load.Result, error) { return load.Run(ctx, s, options) }
	found, err := knee.Find(ctx, s, o)
	display.Close()
	if found.Knee == nil {
		return err
	}
	found.Command = command.Line(os.Args[1:])
	if err := errors.Join(err, files.Write(&found), report.WriteText(files.Text(), &found)); err != nil {
		return err
	}
	return conclude(found.Knee)
}

// conclude returns nil if a rate was found, ErrMissed if the lowest does not hold, and ErrNotValid if the
// generator ended the search, so that the target may hold more.
func conclude(k *load.Knee) error {
	switch {
	case k.Generator:
		return fmt.Errorf("%w: %s", command.ErrNotValid, k.Sentence)
	case k.Holds == 0:
		return fmt.Errorf("%w: %s", command.ErrMissed, k.Sentence)
	}
	return nil
}

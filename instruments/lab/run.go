package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiments"
	"github.com/dewpond/dewpond/instruments/lab/internal/report"
)

type runCommand struct {
	IDs   []string `arg:"" optional:"" name:"id" help:"Run these experiments, or all. The default is to list them."`
	Quick bool     `help:"Measure with small counts and short spans: all experiments take ten minutes at most."`
	outputFlags
}

func (c *runCommand) Run(ctx context.Context) error {
	if len(c.IDs) == 0 {
		list(os.Stdout, experiments.All(), terminal.StyleOf(os.Stdout))
		return nil
	}
	chosen, err := experiments.Find(c.IDs)
	if err != nil {
		return command.UsageError{Err: err}
	}
	files, err := c.outputFlags.open()
	if err != nil {
		return err
	}

	l := laboratory{scale: experiment.Full, chosen: chosen}
	if c.Quick {
		l.scale = experiment.Quick
	}
	environment := kit.Environment()
	if err := l.run(ctx); err != nil {
		return err
	}
	r := report.Report{
		Command: "go run ./instruments/lab " + strings.Join(os.Args[1:], " "), Environment: environment, Quick: c.Quick, Interrupted: ctx.Err() != nil, Outcomes: l.outcomes(),
	}
	if err := errors.Join(files.Write(r), report.Text(os.Stdout, r, terminal.StyleOf(os.Stdout))); err != nil {
		return err
	}
	if r.Interrupted {
		return fmt.Errorf("%w: the report shows what was measured until then", context.Cause(ctx))
	}
	return nil
}

// A laboratory runs experiments one after the other.
type laboratory struct {
	scale    experiment.Scale
	chosen   []experiment.Experiment
	measured []result.Round
	absent   map[string]map[string]string // why a case of an experiment failed
	failures map[string]int
	programs map[string]map[string]string // other builds of the lab, by experiment and case
}

func (l *laboratory) run(ctx context.Context) error {
	l.failures = map[string]int{}
	l.absent, l.programs = map[string]map[string]string{}, map[string]map[string]string{}
	remove, err := l.build(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var turns []rounds.Turn
	for _, e := range l.chosen {
		for _, t := range rounds.Interleave(e.Cases, e.Repeats()) {
			t.Scenario = e.ID
			turns = append(turns, t)
		}
	}
	display := progress.New(os.Stderr, "lab", len(turns))
	defer display.Close()
	l.measured, err = rounds.Run(ctx, turns, display, l.measure)
	return err
}

// measure runs one turn in a child process, so that what a case leaves behind is in nobody's way.
// A case that has failed twice is not tried again; the others go on.
func (l *laboratory) measure(ctx context.Context, t rounds.Turn) (result.Round, error) {
	var r result.Round
	if l.failures[t.Scenario+" "+t.Contender] >= 2 {
		return r, nil
	}
	task := experiment.Task{Experiment: t.Scenario, Case: t.Contender, Round: t.Round, Scale: l.scale}
	args := []string{"round"}
	var err error
	if exe := l.programs[t.Scenario][t.Contender]; exe != "" {
		err = child.RunProgram(ctx, exe, args, task, &r)
	} else {
		err = child.Run(ctx, args, task, &r)
	}
	if err != nil && ctx.Err() == nil {
		l.fail(t.Scenario, t.Contender, err)
		return result.Round{}, nil
	}
	return r, err
}

func (l *laboratory) fail(id, name string, err error) {
	if l.absent[id] == nil {
		l.absent[id] = map[string]string{}
	}
	l.absent[id][name] = err.Error()
	l.failures[id+" "+name]++
	if _, why, skipped := strings.Cut(err.Error(), experiment.Skipped); skipped {
		l.absent[id][name] = experiment.Skipped + why
		l.failures[id+" "+name]++ // the next round would find the same
	}
}

func (l *laboratory) outcomes() []report.Outcome {
	var out []report.Outcome
	for _, e := range l.chosen {
		var of []result.Round
		for _, r := range l.measured {
			if r.Scenario == e.ID {
				of = append(of, r)
			}
		}
		out = append(out, report.Judge(e, experiment.Collect(of, l.absent[e.ID])))
	}
	return out
}

// roundCommand is the child process.
type roundCommand struct{}

func (roundCommand) Run() error {
	return child.Serve(func(ctx context.Context, t experiment.Task) (result.Round, error) {
		found, err := experiments.Find([]string{t.Experiment})
		if err != nil {
			return result.Round{}, err
		}
		return found[0].Do(ctx, t)
	})
}

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/internal/scales"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/load/command"
)

// calibrateCommand weighs the scales.
type calibrateCommand struct {
	Only   []string `enum:"truth,collector,limits,rivals" placeholder:"PART" help:"Run only these parts: truth, collector, limits, rivals."`
	Rounds int      `default:"1" placeholder:"N" help:"Run each tool of rivals N times, interleaved, and print medians (default ${default}). 6 take four minutes."`
	Scale  float64  `hidden:"" default:"1" help:"Multiply all times; tests shorten them."`
}

// Help says what is printed.
func (calibrateCommand) Help() string {
	return `Starts targets in processes of their own whose answers are known, and prints what was measured beside what is true:
truth: a target that takes 5 ms; one that stalls for 200 ms every 2 s, so that P95 is 100 ms and P99 is 180 ms; and a queue with four slots, beside Erlang C.
collector: a target that makes garbage beside a live heap of 30 MB, the same without collections, and one that sleeps in 1 % of its requests; and what a trace costs a target.
limits: the rate at which this machine's generator gives up, for each protocol. dewload choose reads them.
rivals: wrk, h2load, hey, k6 and ghz, those that are on the PATH, on the same targets.

It takes about a minute, and a rival that comes after it is not run unless --only rivals is given. --only collector runs each of its targets for 20 s instead of 6, for a verdict on more requests; the one without collections then grows to some 2.5 GB.`
}

// targetCommand is the child process of calibrate.
type targetCommand struct{}

func (targetCommand) Run() error { return known.Serve(os.Stdin, os.Stdout) }

func (c *calibrateCommand) Run() error {
	ctx, end := interrupt.Context()
	defer end()
	s := scales.Scales{Target: startTarget, Scale: c.Scale, Begin: command.NewDisplay(os.Stderr).Begin, Out: os.Stdout}
	all, began := len(c.Only) == 0, time.Now()
	if c.Rounds < 1 || c.Rounds > 100 {
		return command.UsageError{Err: fmt.Errorf("--rounds: %d: give 1 to 100", c.Rounds)}
	}
	asked := func(part string) bool { return all || slices.Contains(c.Only, part) }
	if asked("truth") {
		if err := s.Weigh(ctx); err != nil {
			return err
		}
		fmt.Println()
	}
	if asked("collector") {
		each := scales.LongAttribution
		if all { // in a minute with the others
			each = scales.ShortAttribution
		}
		if err := s.Collector(ctx, each); err != nil {
			return err
		}
		fmt.Println()
	}
	if asked("limits") {
		limits, err := s.Limits(ctx)
		if err != nil {
			return err
		}
		name, err := scales.Measured{Time: time.Now().UTC(), Limits: limits}.Keep()
		if err != nil {
			return err
		}
		fmt.Printf("dewload choose reads these rates in %s.\n\n", name)
	}
	if asked("rivals") {
		var deadline time.Time
		if all {
			deadline = began.Add(minute)
		}
		return s.Rivals(ctx, c.Rounds, deadline)
	}
	return nil
}

// minute is how long the whole of calibrate takes at most.
const minute = time.Minute

// startTarget runs the target in a child process.
func startTarget(ctx context.Context, env ...string) (url string, end func(), err error) {
	target, err := child.Start(ctx, []string{"target"}, env, &url)
	if err != nil {
		return "", nil, fmt.Errorf("the target does not start: %w", err)
	}
	return url, func() { target.Close() }, nil
}

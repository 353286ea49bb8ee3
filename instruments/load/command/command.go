// Package command runs a [load.Scenario] as a command: with the flags of dewload, progress on a
// terminal, reports in files, and exit codes.
//
// [Main] is all that a command for one scenario needs. A command with flags of its own embeds
// [Flags] or [ScenarioFlags], which [github.com/alecthomas/kong] reads, and ends with [Exit].
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/internal/secret"
	ends "github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// Flags are the flags of a command that runs a scenario and reports it.
type Flags struct {
	ScenarioFlags

	Threshold []string `sep:"none" placeholder:"TEXT" help:"Fail unless this holds, in addition to the scenario's own conditions: 'STEP p99 < 100ms', 'errors < 0.1%', 'achieved >= 99%', 'dropped = 0'. STEP is session for whole sessions."`
	Abort     *string  `placeholder:"TEXT" help:"Stop early on a condition, such as 'errors > 20% for 3s'."`

	AllowErrors bool `help:"Exit with 0 even if every session failed."`

	EachProtocol bool `help:"Run each protocol of the scenario alone and then the mixture, interleaved, and report what mixing costs."`

	JSON     string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (see instruments/load/README.md). With - it goes to standard output, and the report to standard error."`
	HTML     string `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: one file that loads no others."`
	HGRM     string `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write latency distributions, for HdrHistogram's plotter."`
	Requests string `type:"path" placeholder:"FILE" help:"Also write one line of JSON for each request."`
}

// ExitCodes ends the help of every command that runs a scenario.
const ExitCodes = `Ctrl-C ends the run and reports what was measured until then.

Exit codes: 0 done, 1 could not run, 2 wrong usage or scenario, 3 a threshold was missed, the run aborted or every session failed, 4 the result is not valid, 130 interrupted.`

// Main runs the scenario as a command with all flags of dewload, and exits.
func Main(s load.Scenario) {
	var flags Flags
	parser := kong.Must(&flags, kong.Description(s.Name+"\n\n"+ExitCodes))
	if _, err := parser.Parse(os.Args[1:]); err != nil {
		os.Exit(Exit(UsageError{Err: err}))
	}
	os.Exit(Exit(flags.Run(s)))
}

// A UsageError is a mistake in the arguments.
type UsageError = ends.UsageError

// What a run that was reported ended with, beside [load.ErrInterrupted].
var (
	ErrMissed    error = &ends.Ending{Text: "a threshold was missed", Code: 3}
	ErrAborted   error = &ends.Ending{Text: "aborted", Code: 3}
	ErrAllFailed error = &ends.Ending{Text: "every session failed", Code: 3}
	ErrNotValid  error = &ends.Ending{Text: "not valid", Code: 4}
)

// interrupted is the exit code of a command that a signal ended.
const interrupted = 130

// Exit prints the error of a command on standard error, and returns its exit code.
func Exit(err error) int {
	switch {
	case errors.As(err, new(*load.InvalidError)):
		err = UsageError{Err: err}
	case errors.Is(err, load.ErrInterrupted), errors.As(err, new(interrupt.Error)):
		err = &ends.Ending{Text: err.Error(), Code: interrupted}
	}
	return ends.Exit("dewload", err, secret.Shown)
}

// Run runs the scenario as the flags say and reports it: on standard output, and into the files
// that they name.
func (f *Flags) Run(s load.Scenario) error { return f.RunBy(s, load.Run) }

// RunBy is Run with another way to run a scenario.
func (f *Flags) RunBy(s load.Scenario, run func(context.Context, load.Scenario, load.Options) (load.Result, error)) error {
	if err := f.conditions(&s); err != nil {
		return UsageError{Err: err}
	}
	o, err := f.Apply(&s)
	if err != nil {
		return err
	}
	if f.EachProtocol && f.HGRM+f.HTML != "" {
		return UsageError{Err: errors.New("--each-protocol: writes --json, and no --html or --hgrm")}
	}
	files, err := f.files(&o)
	if err != nil {
		return err
	}
	defer files.Close()

	ctx, end := interrupt.Context()
	defer end()
	display := NewDisplay(os.Stderr)
	o.Progress = display.Show
	if f.EachProtocol {
		m, err := load.EachProtocol(ctx, s, o, display.Begin)
		display.Close()
		if err != nil {
			return err
		}
		switch f.JSON { // the only file that a comparison of protocols has
		case "":
		case stdout:
			err = m.WriteJSON(os.Stdout)
		default:
			err = outputs.WritePrivate(f.JSON, m.WriteJSON)
		}
		return errors.Join(err, report.WriteMixing(files.Text(), m))
	}
	r, err := run(ctx, s, o)
	display.Close()
	if err != nil {
		return ended(ctx, err)
	}
	r.Command = Line(os.Args[1:])
	secret.Hide(&r) // what agents said of themselves, too
	// The files first: a standard output that nobody reads ends the program.
	if err := errors.Join(files.Write(&r), report.WriteText(files.Text(), &r)); err != nil {
		return err
	}
	return conclude(&r, f.AllowErrors)
}

// Line returns the arguments of dewload as a report records them: without the secrets in them.
func Line(args []string) []string { return append([]string{"dewload"}, secret.Args(args)...) }

// ended returns the error of a run without a result: that of the signal, if one ended the run.
func ended(ctx context.Context, err error) error {
	var signal interrupt.Error
	switch {
	case !errors.As(context.Cause(ctx), &signal):
		return err
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w before the first session", signal)
	}
	return fmt.Errorf("%w: %w", signal, err)
}

// conclude returns the error of a result that was reported, or nil if all is well.
func conclude(r *load.Result, allowErrors bool) error {
	switch {
	case r.Interrupted:
		return load.ErrInterrupted
	case r.Aborted != "":
		return fmt.Errorf("%w: %s", ErrAborted, r.Aborted)
	case !r.Valid:
		return fmt.Errorf("%w: %s", ErrNotValid, strings.Join(r.Why, "; "))
	}
	for _, v := range r.Thresholds {
		if !v.OK {
			return fmt.Errorf("%w: %s: %s", ErrMissed, v.Text, v.Shown)
		}
	}
	if r.Finished == 0 && r.Failed > 0 && !allowErrors {
		return fmt.Errorf("%w, %d of %d: --allow-errors accepts that", ErrAllFailed, r.Failed, r.Started)
	}
	return nil
}

// conditions adds thresholds to the scenario's, and overrides what ends it early.
func (f *Flags) conditions(s *load.Scenario) error {
	s.Thresholds = slices.Clone(s.Thresholds)
	for _, text := range f.Threshold {
		t, err := load.ParseThreshold(text)
		if err != nil {
			return fmt.Errorf("--threshold: %w", err)
		}
		s.Thresholds = append(s.Thresholds, t)
	}
	if f.Abort != nil {
		var err error
		if s.Abort, err = load.ParseAbort(*f.Abort); err != nil {
			return fmt.Errorf("--abort: %w", err)
		}
	}
	return nil
}

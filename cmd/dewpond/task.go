package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/progress"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// A task is what one bench command measures, and how it reports it.
type task struct {
	open     func() (*outputs.Files[bench.Document], error)
	turns    []rounds.Turn
	measure  func(context.Context, rounds.Turn) (result.Round, error)
	document func(bench.Conditions, []result.Round) (bench.Document, error)
	write    func(io.Writer, bench.Document, terminal.Style) error
}

// run measures, and writes the report to standard output and the files, progress to standard
// error.
func (t *task) run() error {
	delayed, err := delays()
	if err != nil {
		return command.UsageError{Err: err}
	}
	files, err := t.open()
	if err != nil {
		return err
	}

	ctx, end := interrupt.Context()
	defer end()

	environment := bench.Conditions{Environment: kit.Environment(), Delays: delayed}
	display := progress.New(os.Stderr, "dewpond bench", len(t.turns))
	measured, err := rounds.Run(ctx, t.turns, display, t.measure)
	display.Close()
	if err != nil {
		return err
	}
	interrupted := ctx.Err() != nil
	if interrupted && len(measured) == 0 {
		return fmt.Errorf("%w before anything was measured", context.Cause(ctx))
	}
	doc, err := t.document(environment, measured)
	if err != nil {
		return err
	}
	doc.Interrupted = doc.Interrupted || interrupted
	if err := errors.Join(files.Write(doc), t.write(os.Stdout, doc, terminal.StyleOf(os.Stdout))); err != nil {
		return err
	}
	if stopped := context.Cause(ctx); stopped != nil {
		return fmt.Errorf("%w: the report shows what was measured until then", stopped)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/internal/measure"
	"github.com/dewpond/dewpond/internal/measure/progress"
	"github.com/dewpond/dewpond/internal/measure/report"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/rounds"
	"github.com/dewpond/dewpond/internal/measure/summary"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// benchCommand's fields are its flags. A nil pointer is a flag that was not
// given: then the scenario's own default holds. benchplan.go reads them.
type benchCommand struct {
	Positional  *string  `arg:"" optional:"" name:"scenario" help:"What to do with a pool: mixed (by itself), micro, burst, churn, window or soak."`
	Scenario    *string  `placeholder:"NAME" help:"The scenario as a flag: bench --scenario micro is bench micro."`
	Contenders  []string `placeholder:"NAME" help:"Which pools take part; by default those that the scenario is about, mostly all but the variants of dewpond. Ratios are to syncpool-class, the control is nop: keep both."`
	Rounds      *int     `placeholder:"N" help:"Rounds of each contender, each in a process of its own (6; soak: 1). A verdict takes 6."`
	Duration    *string  `placeholder:"TIME" help:"Length of one round's measured window, such as 500ms (mixed, window: 1s; micro: 800ms; burst: 1.2s; churn: 6s). soak: of the whole scenario (3m)."`
	Quick       bool     `help:"Two short rounds (churn, window, soak: one): figures in some 10 s, no verdict but soak's."`
	Goroutines  *int     `placeholder:"N" help:"mixed, churn, soak: goroutines (mixed: 512; churn: 4; soak: 8)."`
	Mix         *string  `placeholder:"SIZE:PERCENT,..." help:"Block sizes and how often each is asked for (mixed: 128:70,8192:30; burst: 65536:100; churn: 512:70,4096:25,65536:5; window: 1024:100)."`
	Hold        *string  `placeholder:"HOW" help:"mixed: between Get and Put do nothing (none), let other goroutines run (yield), or wait (a duration)."`
	Garbage     *string  `placeholder:"BYTES" help:"Unrelated garbage to make each second, such as 100MB (burst: 400MB; churn: 50MB; soak: 20MB; else 0)."`
	Live        *string  `placeholder:"BYTES" help:"burst, churn: heap kept alive beside the pool, such as 1GiB (churn: 64MiB; burst: 0)."`
	Mode        *string  `placeholder:"MODE" help:"mixed: closed (the next operation follows the last) or open (operations arrive by the clock)."`
	Rate        *float64 `placeholder:"N" help:"mixed, open mode: arrivals a second (50000). churn, soak: operations a second (200000; 50000)."`
	Sample      *int     `placeholder:"N" help:"mixed, window: time one operation in N (mixed: 16, open mode: always all; window: 1)."`
	Blocks      *int     `placeholder:"N" help:"burst, churn, window: blocks held at once, in churn by each burst (burst: 256; churn: 6000; window: 200000)."`
	Collections *int     `placeholder:"N" help:"burst: garbage collections between two bursts (3)."`
	Every       *string  `placeholder:"TIME" help:"churn: from one burst to the next (2s). soak: from one new pool to the next (100ms)."`
	IdleTimeout *string  `placeholder:"TIME" help:"burst, churn, soak: dewpond's IdleTimeout (burst: dewpond's default, 60s; churn, soak: 500ms, far below it on purpose, so that decay acts)."`
	JSON        string   `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (schema: docs/benchmarks.md)."`
	HTML        string   `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: one file that loads nothing."`
	SVG         string   `name:"svg" type:"path" placeholder:"FILE" help:"Also draw the figures as one small picture, and as FILE's name with -dark for a dark page."`
	HGRM        string   `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write latency distributions that HdrHistogram's plotter opens."`
}

// Run measures what the flags ask for and reports it: tables and words on
// standard output, progress on standard error.
func (b *benchCommand) Run() error {
	plan, scenario, err := b.plan()
	if err != nil {
		return usageError{err}
	}
	delays, err := measure.Delays()
	if err != nil {
		return usageError{err}
	}
	files, err := openOutputs(b.JSON, b.HTML, b.SVG, b.HGRM)
	if err != nil {
		return err
	}
	defer files.close()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once

	environment := measure.Environment()
	environment.Delays = delays
	turns := rounds.Interleave(plan.contenders, plan.rounds)
	display := progress.New(os.Stderr, len(turns))
	measured, err := rounds.Run(ctx, turns, display, plan.measure)
	display.Close()
	if err != nil {
		return err
	}
	interrupted := ctx.Err() != nil
	if interrupted && len(measured) == 0 {
		return fmt.Errorf("%w before anything was measured", errInterrupted)
	}
	doc, err := summary.Of(environment, scenario, abouts(), measured)
	if err != nil {
		return err
	}
	doc.Words = words.Of(doc)
	doc.Command = append([]string{"dewpond"}, os.Args[1:]...)
	doc.Interrupted = doc.Interrupted || interrupted
	if err := errors.Join(report.Text(os.Stdout, doc, width(os.Stdout)), files.write(doc)); err != nil {
		return err
	}
	return conclude(doc, interrupted)
}

// conclude is what the command ends with once its report is written.
func conclude(doc result.Document, interrupted bool) error {
	if interrupted {
		return fmt.Errorf("%w: this is what was measured until then", errInterrupted)
	}
	return words.Unflat(doc)
}

func abouts() map[string]string {
	m := map[string]string{}
	for _, c := range contender.All() {
		m[c.Name] = c.About
	}
	return m
}

// width is the terminal's, or that of a wide page where there is none.
func width(f *os.File) int {
	if w, _, err := cwriter.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 120
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/internal/measure"
	"github.com/dewpond/dewpond/internal/measure/progress"
	"github.com/dewpond/dewpond/internal/measure/report"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/rounds"
	"github.com/dewpond/dewpond/internal/measure/summary"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// benchCommand has a subcommand for each scenario, in a file of its name. spelling.go accepts
// other ways to name a scenario.
type benchCommand struct {
	Mixed  mixedCommand  `cmd:"" default:"withargs" help:"Is a pool worth it here? Operations a second, and the tail of Get and Put, under many goroutines. The default."`
	Micro  microCommand  `cmd:"" help:"Get and Put to the nanosecond, and dewpond's tools beside what they replace."`
	Burst  burstCommand  `cmd:"" help:"How much of a burst survives the collector, and one burst over time."`
	Churn  churnCommand  `cmd:"" help:"What decay costs the tail of steady traffic, and memory over time."`
	Window windowCommand `cmd:"" help:"The time of a push into a full window of messages in a map."`
	Soak   soakCommand   `cmd:"" set:"length=all rounds of all contenders together" help:"Does anything grow or stay behind? Fails if it does."`
}

// benchFlags are the flags of every scenario. A flag that was not given is a nil pointer, for
// which the scenario's own default holds. plan.go reads them.
type benchFlags struct {
	Contenders []string `placeholder:"NAME" help:"Which pools take part. Ratios are to syncpool-class, the control is nop: keep both."`
	Rounds     *int     `placeholder:"N" help:"Rounds of each contender, each in a process of its own. A comparison in words needs ${enough}."`
	Duration   *string  `placeholder:"TIME" help:"Length of ${length}, such as 500ms."`
	Quick      bool     `help:"A few short rounds: figures in about 10 s, without a comparison in words."`
	JSON       string   `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (docs/schema.md describes it)."`
	HTML       string   `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: one file that loads no others."`
	SVG        string   `name:"svg" type:"path" placeholder:"FILE" help:"Also draw the figures as one small picture, and as FILE's name with -dark for a dark page."`
	HGRM       string   `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write latency distributions that HdrHistogram's plotter opens."`
}

// bench measures what the flags ask for and reports it: tables and words on standard output,
// progress on standard error. read copies the scenario's own flags into the spec; it is nil if
// the scenario has none.
func (b *benchFlags) bench(scenario workload.Scenario, read func(*flagReader, *workload.Spec)) error {
	plan, err := b.plan(scenario, read)
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
	doc, err := summary.Of(environment, plan.describe(scenario, b.Quick), abouts(), measured)
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

// conclude returns the error of the command once its report is written.
func conclude(doc result.Document, interrupted bool) error {
	if interrupted {
		return fmt.Errorf("%w: the report shows what was measured until then", errInterrupted)
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

// width returns the terminal's width, or that of a wide page if f is not a terminal.
func width(f *os.File) int {
	if w, _, err := cwriter.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 120
}

package main

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/report"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

// benchCommand has a subcommand for the tour and for each scenario, in a file of its name.
type benchCommand struct {
	Tour   tourCommand   `cmd:"" default:"withargs" help:"Run short rounds of seven scenarios, and say on one screen what follows for you (default)."`
	Micro  microCommand  `cmd:"" help:"Time Get and Put to the nanosecond, and dewpond's tools next to what they replace."`
	Mixed  mixedCommand  `cmd:"" help:"Measure throughput and the tail of Get and Put with many goroutines."`
	Churn  churnCommand  `cmd:"" help:"Measure what decay costs the tail of steady traffic, and memory over time."`
	Burst  burstCommand  `cmd:"" help:"Measure how much of a burst survives GC cycles, and one burst over time."`
	Beyond beyondCommand `cmd:"" help:"Measure bursts past the idle bound: bytes allocated, CPU time and memory."`
	Flood  floodCommand  `cmd:"" help:"Offer ten times the traffic that a bound allows: memory, refusals, and the tail of the rest."`
	Misuse misuseCommand `cmd:"" help:"Count how much planted misuse is found: double Put, and writes and reads after Put."`
	Window windowCommand `cmd:"" help:"Time a push into a full window of messages in a map."`
	Rivals rivalsCommand `cmd:"" help:"Compare dewpond, dewsync, sync.Pool and libraries in one table: time, P99, memory and GC cycles."`
}

// benchFlags are the flags of every scenario. A flag that was not given is a nil pointer, for
// which the scenario's own default holds. plan.go reads them.
type benchFlags struct {
	Contenders []string `placeholder:"NAME" help:"Pools to measure. Keep syncpool-class and nop, which ratios need."`
	Rounds     *int     `placeholder:"N" help:"Rounds of each contender, each in a process of its own. A verdict needs ${enough}."`
	Duration   *string  `placeholder:"TIME" help:"Length of one round's measured window, such as 500ms."`
	Quick      bool     `help:"A few short rounds: figures in about 10 s, without a verdict."`
	outputFlags
}

// outputFlags name the files that a report is written to, besides standard output.
type outputFlags struct {
	JSON string `name:"json" type:"path" placeholder:"FILE" help:"Also write every figure as JSON (docs/schema.md describes it)."`
	HTML string `name:"html" type:"path" placeholder:"FILE" help:"Also write a report with charts: one file that loads no others."`
	SVG  string `name:"svg" type:"path" placeholder:"FILE" help:"Also draw the figures as one small picture, and as FILE's name with -dark for a dark page."`
	HGRM string `name:"hgrm" type:"path" placeholder:"DIR" help:"Also write latency distributions that HdrHistogram's plotter opens."`
}

// bench measures what the flags ask for and reports it. read copies the scenario's own flags into
// the spec; it is nil if the scenario has none.
func (b *benchFlags) bench(scenario workload.Scenario, read func(*flagReader, *workload.Spec)) error {
	p, err := b.plan(scenario, read)
	if err != nil {
		return command.UsageError{Err: err}
	}
	t := &task{
		open:    b.outputFlags.open,
		turns:   rounds.Interleave(p.contenders, p.rounds),
		measure: p.measure,
		document: func(e bench.Conditions, measured []result.Round) (bench.Document, error) {
			return p.document(e, measured, b.Quick)
		},
		write: report.Text,
	}
	return t.run()
}

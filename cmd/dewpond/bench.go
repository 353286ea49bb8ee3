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
	Tour   tourCommand   `cmd:"" default:"withargs" help:"The default: short rounds of seven scenarios, and what follows for you on one screen."`
	Micro  microCommand  `cmd:"" help:"Get and Put to the nanosecond, and dewpond's tools beside what they replace."`
	Mixed  mixedCommand  `cmd:"" help:"Many goroutines: operations a second, and the tail of Get and Put."`
	Churn  churnCommand  `cmd:"" help:"What decay costs the tail of steady traffic, and memory over time."`
	Burst  burstCommand  `cmd:"" help:"How much of a burst survives the collector, and one burst over time."`
	Beyond beyondCommand `cmd:"" help:"Bursts beyond the idle bound: what they allocate, processor time and memory."`
	Flood  floodCommand  `cmd:"" help:"Ten times the traffic that a bound allows: memory, what is refused, and the tail of the rest."`
	Misuse misuseCommand `cmd:"" help:"How much seeded misuse is found: double Put, and writes and reads after Put."`
	Window windowCommand `cmd:"" help:"The time of a push into a full window of messages in a map."`
	Rivals rivalsCommand `cmd:"" help:"dewpond, dewsync, sync.Pool and libraries in one table: time, P99, memory and collections."`
}

// benchFlags are the flags of every scenario. A flag that was not given is a nil pointer, for
// which the scenario's own default holds. plan.go reads them.
type benchFlags struct {
	Contenders []string `placeholder:"NAME" help:"Which pools take part. Ratios are to syncpool-class, the control is nop: keep both."`
	Rounds     *int     `placeholder:"N" help:"Rounds of each contender, each in a process of its own. A comparison in words needs ${enough}."`
	Duration   *string  `placeholder:"TIME" help:"Length of one round's measured window, such as 500ms."`
	Quick      bool     `help:"A few short rounds: figures in about 10 s, without a comparison in words."`
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

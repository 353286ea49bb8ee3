// Command dewload puts whole user sessions on a service at a rate that the service cannot slow
// down, and tells its own faults from the target's. See dewload --help.
//
// Each subcommand is a small file beside this one; the work is in package load, and what any command of a
// scenario has in load/command.
package main

import (
	"os"

	"github.com/alecthomas/kong"

	kit "github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/load/command"
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Run       runCommand       `cmd:"" default:"withargs" help:"Run a URL or a scenario file (default)."`
	Find      findCommand      `cmd:"" help:"Find the highest rate that a target sustains."`
	Learn     learnCommand     `cmd:"" help:"Learn a scenario from a log of sessions."`
	Model     modelCommand     `cmd:"" help:"Predict a service's waiting times by queueing theory and by simulation."`
	Choose    chooseCommand    `cmd:"" help:"Recommend a load generator for a task."`
	Report    reportCommand    `cmd:"" help:"Render reports from result files, or compare results."`
	Calibrate calibrateCommand `cmd:"" help:"Check dewload's own accuracy against targets with known latency, and find its highest rate."`
	Agent     agentCommand     `cmd:"" help:"Run as an agent: wait for a coordinator and generate a share of its load."`
	Child     childCommand     `cmd:"" hidden:"" help:"Serve run with --agents."`
	Target    targetCommand    `cmd:"" hidden:"" help:"Serve calibrate."`
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("dewload"),
		kong.Vars{"version": kit.Version("dewload")},
		kong.Description("Generate load from user sessions on a fixed schedule, and separate the generator's errors from the target's."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	ctx, err := parser.Parse(args)
	if err != nil {
		return command.Exit(command.UsageError{Err: err})
	}
	return command.Exit(ctx.Run())
}

// Command dewload puts whole user sessions on a service at a rate that the service cannot slow
// down, and tells its own faults from the target's. See dewload --help.
//
// Each subcommand is a small file beside this one; the work is in package load, and what any command of a
// scenario has in load/command.
package main

import (
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/load/command"
)

type commands struct {
	Run       runCommand       `cmd:"" default:"withargs" help:"Run a URL or a scenario file. The default."`
	Find      findCommand      `cmd:"" help:"Find the highest rate that a target holds."`
	Learn     learnCommand     `cmd:"" help:"Learn a scenario from a log of sessions."`
	Model     modelCommand     `cmd:"" help:"What queueing theory expects of a service, by a formula and by a simulation."`
	Choose    chooseCommand    `cmd:"" help:"Which tool to take: it is not always this one."`
	Report    reportCommand    `cmd:"" help:"Make the report again from files, or compare them."`
	Calibrate calibrateCommand `cmd:"" help:"Weigh the scales: targets whose answers are known, and the rate at which the generator gives up."`
	Agent     agentCommand     `cmd:"" help:"Wait for runs of a coordinator on another machine, and make a part of their load."`
	Child     childCommand     `cmd:"" hidden:"" help:"Serve run with --agents."`
	Target    targetCommand    `cmd:"" hidden:"" help:"Serve calibrate."`
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("dewload"),
		kong.Description("Puts user sessions on a service by the clock, and tells its own faults from the target's."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	ctx, err := parser.Parse(args)
	if err != nil {
		return command.Exit(command.UsageError{Err: err})
	}
	return command.Exit(ctx.Run())
}

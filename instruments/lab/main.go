// Command lab measures what publications on pools in Go claim, and says of each claim whether it
// holds here; it also measures examples/matchmaker and what that service stands on, and public programs
// with dewpond in place of their pools. Without arguments it lists the experiments.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig"
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Run      runCommand      `cmd:"" default:"withargs" help:"Run experiments, or list them. This is the default command."`
	Round    roundCommand    `cmd:"" hidden:"" help:"Run one case in this process: run starts it for each round."`
	Programs programsCommand `cmd:"" help:"Measure public programs with dewpond in place of their pools, beside themselves."`
	Step     stepCommand     `cmd:"" hidden:"" help:"Run one process for programs."`
	rig.Commands
}

func main() {
	rig.RunChild()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, end := interrupt.Context()
	defer end()
	parser := kong.Must(&commands{},
		kong.Name("lab"),
		kong.Vars{"version": command.Version("lab")},
		kong.Description("Measures what articles on pools in Go claim, public programs, and a service with pools. lab alone lists the experiments with their claims, and lab NAME runs one of them."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups([]kong.Group{{Key: "service", Title: "The service examples/matchmaker:"}}),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	parsed, err := parser.Parse(args)
	if err != nil {
		err = command.UsageError{Err: err}
	} else if err = parsed.Run(); err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return command.Exit("lab", err, plain.Text)
}

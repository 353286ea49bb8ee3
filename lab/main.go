// Command lab measures what publications on pools in Go claim, and says of each claim whether it
// holds here. Without arguments it lists the experiments.
package main

import (
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/internal/measure/command"
)

type commands struct {
	Run   runCommand   `cmd:"" default:"withargs" help:"Run experiments, or list them. The default."`
	Round roundCommand `cmd:"" hidden:"" help:"Run one case in this process: run starts it for each round."`
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("lab"),
		kong.Description("Measures what articles on pools in Go claim."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	ctx, err := parser.Parse(args)
	if err != nil {
		err = command.UsageError{Err: err}
	} else {
		err = ctx.Run()
	}
	return command.Exit("lab", err, nil)
}

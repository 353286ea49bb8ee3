// Command lab measures what publications on pools in Go claim, and says of each claim whether it
// holds here. Without arguments it lists the experiments.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/internal/measure/interrupt"
)

type commands struct {
	Run   runCommand   `cmd:"" default:"withargs" help:"Run experiments, or list them. The default."`
	Round roundCommand `cmd:"" hidden:"" help:"Run one case in this process: run starts it for each round."`
}

func main() { os.Exit(run(os.Args[1:])) }

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("lab"),
		kong.Description("Measures what articles on pools in Go claim."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	ctx, err := parser.Parse(args)
	if err != nil {
		err = usageError{err}
	} else {
		err = ctx.Run()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "lab:", err)
	stopped := interrupt.Error{}
	switch {
	case errors.As(err, &stopped):
		return stopped.ExitCode()
	case errors.As(err, new(usageError)):
		return exitUsage
	}
	return exitFailure
}

// A usageError is a mistake in the arguments. Its text says what is valid.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

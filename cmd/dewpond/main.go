// Command dewpond measures what a byte pool saves on this machine, and where it saves nothing:
// see dewpond bench --help. It also shows the pools of a running program: see dewpond top
// --help.
//
// Each subcommand is a small file beside this one; the work is in internal/.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/internal/measure/interrupt"
)

// Exit codes; dewpond bench --help lists them, and those of interrupt.Error.
const (
	exitFailure = 1
	exitUsage   = 2
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Bench      benchCommand      `cmd:"" help:"Compare byte pools on this machine: make, sync.Pool, well-known libraries, dewpond."`
	Top        topCommand        `cmd:"" help:"Show the pools of a running program, as they change."`
	Completion completionCommand `cmd:"" help:"Print a script that completes dewpond's arguments in a shell."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:"" help:"List what may follow these arguments: the completion script calls it."`
	Round      roundCommand      `cmd:"" hidden:"" help:"Run one round in this process: bench starts it for each round."`
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("dewpond"),
		kong.Description("Reusable memory for Go, and proof of what it buys.\n\nBegin with dewpond bench."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		defaults(),
	)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args, err := respell(args, parser.Model)
	var ctx *kong.Context
	if err == nil {
		ctx, err = parser.Parse(args)
	}
	if err != nil {
		err = usageError{err}
	} else {
		err = ctx.Run()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "dewpond:", err)
	if stopped := (interrupt.Error{}); errors.As(err, &stopped) {
		return stopped.ExitCode()
	}
	if errors.As(err, new(usageError)) {
		fmt.Fprintln(os.Stderr, helpFor(args), "lists the values of each flag.")
		return exitUsage
	}
	return exitFailure
}

// helpFor returns the command whose help describes these arguments, as respell returns them.
func helpFor(args []string) string {
	switch {
	case len(args) > 0 && args[0] == "top":
		return "dewpond top --help"
	case len(args) == 0 || args[0] != "bench":
		return "dewpond --help"
	case len(args) == 1, strings.HasPrefix(args[1], "-"):
		return "dewpond bench --help"
	}
	return "dewpond bench " + args[1] + " --help"
}

// A usageError is a mistake in the arguments. Its text says what is valid.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

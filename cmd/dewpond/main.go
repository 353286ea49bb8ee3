// Command dewpond measures what a byte pool buys on this machine, and where it
// buys nothing: dewpond bench. See dewpond bench --help.
//
// Each subcommand is a small file beside this one; the work is in internal/.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

// Exit codes, as dewpond bench --help says them.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports a process that SIGINT ended
)

type commands struct {
	Bench benchCommand `cmd:"" help:"Compare byte pools on this machine: make, sync.Pool, well-known libraries, dewpond."`
	Round roundCommand `cmd:"" hidden:"" help:"Run one round in this process: what bench starts for each round."`
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	parser := kong.Must(&commands{},
		kong.Name("dewpond"),
		kong.Description("Reusable memory for Go, and proof of what it buys."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		defaults(),
	)
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
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if errors.As(err, new(usageError)) {
		fmt.Fprintln(os.Stderr, helpFor(args), "says what each flag takes.")
		return exitUsage
	}
	return exitFailure
}

// helpFor is the command whose help is about these arguments, as respell leaves them.
func helpFor(args []string) string {
	switch {
	case len(args) == 0 || args[0] != "bench":
		return "dewpond --help"
	case len(args) == 1:
		return "dewpond bench --help"
	}
	return "dewpond bench " + args[1] + " --help"
}

// A usageError is the caller's: it says what would do.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// errInterrupted ends a command that was cut short after its result was written.
var errInterrupted = errors.New("interrupted")

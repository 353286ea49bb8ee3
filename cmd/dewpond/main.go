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

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Bench  benchCommand  `cmd:"" help:"Compare byte pools on this machine: make, sync.Pool, well-known libraries, dewpond."`
	Advise adviseCommand `cmd:"" help:"Recommend what to pool in a program, and predict what that buys."`
	Top    topCommand    `cmd:"" help:"Show the pools of a running program, live."`
	Round  roundCommand  `cmd:"" hidden:"" help:"Run one round in this process: bench starts it for each round."`
}

func main() { os.Exit(run(os.Args[1:])) }

func newParser() *kong.Kong {
	return kong.Must(&commands{},
		kong.Name("dewpond"),
		kong.Description("Reusable memory for Go, and proof of what it buys.\n\nBegin with dewpond bench."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		defaults(),
	)
}

func run(args []string) int {
	parser := newParser()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	about, err := do(parser, args)
	code := command.Exit("dewpond", err, nil)
	if errors.As(err, new(command.UsageError)) {
		fmt.Fprintln(os.Stderr, helpFor(about))
	}
	return code
}

// do runs the command that the arguments name, and returns the one whose help describes them.
func do(parser *kong.Kong, args []string) (about *kong.Node, err error) {
	ctx, err := parser.Parse(args)
	if wrong := new(kong.ParseError); errors.As(err, &wrong) {
		about, err = advised(wrong)
		return about, command.UsageError{Err: err}
	} else if err != nil {
		return nil, err
	}
	return ctx.Selected(), ctx.Run()
}

// Command matchmaker is a match-making site with dewpond in it: matches, profiles, photos and
// messages, on PostgreSQL and Redis. It needs neither to try it:
//
//	go run ./examples/matchmaker
//
// See README.md beside this file.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/plain"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
)

type commands struct {
	Serve serveCommand `cmd:"" default:"withargs" help:"Serve until SIGINT or SIGTERM. This is the default command."`

	Probe probeCommand `cmd:"" help:"Ask a health check, as a container without a shell does: the exit code is 0 if the answer is 200."`

	Compare  movedCommand `cmd:"" hidden:"" passthrough:""`
	Pools    movedCommand `cmd:"" hidden:"" passthrough:""`
	Outage   movedCommand `cmd:"" hidden:"" passthrough:""`
	Clients  movedCommand `cmd:"" hidden:"" passthrough:""`
	Pressure movedCommand `cmd:"" hidden:"" passthrough:""`
}

func main() {
	standin.RunChild()
	ctx, end := interrupt.Context()
	endWithParent(end)
	err := run(ctx, os.Args[1:])
	end()
	os.Exit(command.Exit("matchmaker", err, plain.Text)) // a signal is no error: that is how a service ends
}

func run(ctx context.Context, args []string) error {
	parser := kong.Must(&commands{Serve: serveCommand{substitute: standIns}}, kong.Name("matchmaker"),
		kong.Description("A match-making site with dewpond in it."), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if err != nil {
		return command.UsageError{Err: err}
	}
	return parsed.Run()
}

// A movedCommand was this program's.
type movedCommand struct {
	Arguments []string `arg:"" optional:""`
}

// Run says where it is.
func (c *movedCommand) Run(k *kong.Context) error {
	words := append([]string{k.Selected().Name}, c.Arguments...)
	return command.UsageError{Err: fmt.Errorf("%s has moved, with all of its flags: go run ./instruments/lab %s", words[0], strings.Join(words, " "))}
}

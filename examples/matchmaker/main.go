// Command matchmaker is a match-making site with dewpond in it: matches, profiles, photos and
// messages, on PostgreSQL and Redis. It needs neither to try it:
//
//	go run ./examples/matchmaker
//
// See README.md beside this file.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/plain"

	"github.com/dewpond/dewpond/examples/matchmaker/signals"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// A usageError is a mistake in the arguments; it says the valid form.
type usageError struct{ error }

type commands struct {
	Serve serveCommand `cmd:"" default:"withargs" help:"Serve, until SIGINT or SIGTERM (the default)."`

	Compare  movedCommand `cmd:"" hidden:"" passthrough:""`
	Pools    movedCommand `cmd:"" hidden:"" passthrough:""`
	Outage   movedCommand `cmd:"" hidden:"" passthrough:""`
	Clients  movedCommand `cmd:"" hidden:"" passthrough:""`
	Pressure movedCommand `cmd:"" hidden:"" passthrough:""`
}

func main() {
	standin.RunChild(signals.Stop...)
	ctx, stop := signal.NotifyContext(context.Background(), signals.Stop...)
	endWithParent(stop)
	err := run(ctx, os.Args[1:])
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "matchmaker:", plain.Text(err.Error()))
	if errors.As(err, new(usageError)) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailure)
}

func run(ctx context.Context, args []string) error {
	parser := kong.Must(&commands{Serve: serveCommand{substitute: standIns}}, kong.Name("matchmaker"),
		kong.Description("A match-making site with dewpond in it."), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageError{err}
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
	return usageError{fmt.Errorf("%s has moved, with all of its flags: go run ./instruments/lab %s", words[0], strings.Join(words, " "))}
}

// Command matchmaker is a match-making site with dewpond in it: matches, profiles, photos and
// messages, on PostgreSQL and Redis. It needs neither to try it:
//
//	go run ./examples/matchmaker
//
// See README.md beside this file.
package main

import (
	"context"
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/plain"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve serveCommand `cmd:"" default:"withargs" help:"Serve until SIGINT or SIGTERM. This is the default command."`

	Probe probeCommand `cmd:"" help:"Ask a health check, as a container without a shell does: the exit code is 0 if the answer is 200."`
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
	parser := kong.Must(&commands{Serve: serveCommand{substitute: standIns}}, kong.Name("matchmaker"), kong.Vars{"version": command.Version("matchmaker")},
		kong.Description("A match-making site with dewpond in it."), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if err != nil {
		return command.UsageError{Err: err}
	}
	return parsed.Run()
}

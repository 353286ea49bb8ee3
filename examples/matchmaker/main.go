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

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/standin"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

// A usageError is a mistake in the arguments; it says the valid form.
type usageError struct{ error }

type commands struct {
	Serve    serveCommand    `cmd:"" default:"withargs" help:"Serve, until SIGINT or SIGTERM (the default)."`
	Compare  compareCommand  `cmd:"" help:"Measure what each measure is worth that the publication names, beside its control."`
	Pools    poolsCommand    `cmd:"" help:"Show what the bounds of a pool of connections do, simulated and measured."`
	Outage   outageCommand   `cmd:"" help:"Play what can go wrong with the backends, in each mode of health."`
	Clients  clientsCommand  `cmd:"" help:"Compare three clients of a PostgreSQL."`
	Client   clientCommand   `cmd:"" hidden:""`
	Pressure pressureCommand `cmd:"" help:"Have the service work beside memory that nobody needs, with degradation and without."`
}

func main() {
	standin.RunChild(stopSignals...)
	realserver.RunMonitor()
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	err := run(ctx, os.Args[1:])
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "matchmaker:", err)
	if errors.As(err, new(usageError)) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailure)
}

func run(ctx context.Context, args []string) error {
	parser := kong.Must(&commands{}, kong.Name("matchmaker"),
		kong.Description("A match-making site with dewpond in it."), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageError{err}
	}
	return parsed.Run()
}

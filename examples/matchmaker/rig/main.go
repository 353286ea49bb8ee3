// Command rig measures the service beside this directory, which it starts as a process and asks on
// its ports, and what the service stands on. Without arguments it lists what it can measure:
//
//	go run ./examples/matchmaker/rig
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/internal/measure/command"
	"github.com/dewpond/dewpond/internal/measure/interrupt"
	"github.com/dewpond/dewpond/internal/measure/plain"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/signals"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/standin"
)

type commands struct {
	Compare  compareCommand  `cmd:"" help:"Measure what each measure is worth that the publication names, beside its control."`
	Pools    poolsCommand    `cmd:"" help:"Show what the bounds of a pool of connections do, simulated and measured."`
	Outage   outageCommand   `cmd:"" help:"Play what can go wrong with the backends, in each mode of health."`
	Clients  clientsCommand  `cmd:"" help:"Compare three clients of a PostgreSQL."`
	Client   clientCommand   `cmd:"" hidden:""`
	Soak     soakCommand     `cmd:"" help:"Load the service for long while its servers fail, and see that nothing grows or is lost."`
	Pressure pressureCommand `cmd:"" help:"Have the service work beside memory that nobody needs, with degradation and without."`
}

func main() {
	standin.RunChild(signals.Stop...)
	realserver.RunMonitor()
	ctx, end := interrupt.Context()
	err := run(ctx, os.Args[1:])
	if stopped := context.Cause(ctx); stopped != nil && err != nil {
		err = fmt.Errorf("%w: %w", stopped, err)
	}
	end()
	os.Exit(command.Exit("rig", err, plain.Text))
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parser := kong.Must(&commands{}, kong.Name("rig"),
		kong.Description("Measures the matchmaker, and what it stands on."), kong.BindTo(ctx, (*context.Context)(nil)))
	parsed, err := parser.Parse(args)
	if err != nil {
		return command.UsageError{Err: err}
	}
	return parsed.Run()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/top"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// The bounds of the time between two looks.
const (
	leastEvery = 100 * time.Millisecond
	mostEvery  = time.Hour
)

type topCommand struct {
	URL   string        `arg:"" name:"url" help:"Address of the program's metrics, such as localhost:8080, or a URL with the path of /debug/vars or /metrics."`
	Sort  string        `enum:"misses,growth,bytes" default:"misses" help:"Sort by ${enum} (default ${default})."`
	Every time.Duration `default:"1s" help:"Refresh interval (default ${default})."`
	Once  bool          `help:"Print one table, of everything counted since the pools were made, and exit."`
}

// Help says what the program must do, and what the keys do.
func (c *topCommand) Help() string {
	return `The program must serve its pools' metrics: a line in its main, of which top says which if it finds none.

Keys: m, g and b sort by misses, by growth of what is in use, and by bytes; q quits.

Examples:

    # /debug/vars or /metrics, whichever it has
    dewpond top localhost:8080
    # what Prometheus scrapes
    dewpond top http://10.0.0.7:9090/metrics
    # by blocks that are out
    dewpond top --once localhost:8080 | sort -k6n
`
}

// Run shows the pools.
func (c *topCommand) Run() error {
	if c.Every < leastEvery || c.Every > mostEvery {
		return command.UsageError{Err: fmt.Errorf("--every: %v: give %v to %v", c.Every, leastEvery, mostEvery)}
	}
	source, err := top.NewSource(c.URL)
	if err != nil {
		return command.UsageError{Err: err}
	}
	ctx, end := interrupt.Context()
	defer end()
	if c.Once {
		snapshot, err := source.Fetch(ctx)
		if err != nil {
			return err
		}
		return top.Once(os.Stdout, snapshot, top.Order(c.Sort))
	}
	if !terminal.Is(os.Stdin) || !terminal.Is(os.Stdout) {
		return command.UsageError{Err: errors.New("top needs a terminal: give --once for one table")}
	}
	if err := top.Run(ctx, source, &top.Screen{URL: source.URL, Every: c.Every, Order: top.Order(c.Sort)}, os.Stdin, os.Stdout); err != nil {
		return err
	}
	return context.Cause(ctx) // a signal, after which the terminal is as it was
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/scenariofile"
)

// runCommand runs one scenario.
type runCommand struct {
	Scenario string `arg:"" optional:"" placeholder:"URL|FILE" help:"A URL, or a scenario file in YAML or JSON."`
	Example  bool   `help:"Print a scenario file with most of what one can say, and do nothing else."`
	load.Flags
	swarmFlags
}

// Help returns the end of the command's help.
func (runCommand) Help() string { return load.ExitCodes }

func (c *runCommand) Run() error {
	if c.Example {
		_, err := fmt.Print(scenariofile.Example)
		return err
	}
	s, locate, err := scenario(c.Scenario)
	if err != nil {
		return err
	}
	if err := c.swarmFlags.check(); err != nil {
		return load.UsageError{Err: err}
	}
	if c.Agents == 0 && c.Resume == "" {
		return locate(c.Flags.Run(s))
	}
	p, err := c.plan(c.Scenario)
	if err != nil {
		return err
	}
	if _, _, err := p.Scenario(); err != nil {
		return load.UsageError{Err: locate(err)}
	}
	if c.EachProtocol || c.Requests != "" {
		return load.UsageError{Err: errors.New("--agents: goes without --each-protocol and --requests")}
	}
	p.Thresholds = c.Threshold
	return locate(c.Flags.RunBy(s, func(ctx context.Context, _ load.Scenario, _ load.Options) (load.Result, error) {
		return c.swarmFlags.run(ctx, p)
	}))
}

// scenario returns what a URL or a file says, and a function that gives an error about it its
// place.
func scenario(name string) (s load.Scenario, locate func(error) error, err error) {
	if name == "" {
		return s, nil, load.UsageError{Err: errors.New("nothing to run: give a URL or a scenario file, which dewload --example prints")}
	}
	if strings.Contains(name, "://") {
		s, err = load.Get(name)
		return s, func(err error) error { return err }, err
	}
	f, err := scenariofile.Read(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s, nil, load.UsageError{Err: fmt.Errorf("%s is no file, and no URL: a URL begins with http:// or https://", name)}
	case err != nil:
		return s, nil, err
	}
	return f.Scenario, f.Locate, nil
}

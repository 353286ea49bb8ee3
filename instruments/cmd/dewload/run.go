package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// runCommand runs one scenario.
type runCommand struct {
	Scenario string `arg:"" optional:"" placeholder:"URL|FILE" help:"A URL, or a scenario file in YAML or JSON. ws:// opens a WebSocket, grpc://HOST/package.Service/Method calls a method; wss:// and grpcs:// use TLS."`
	Example  bool   `help:"Print an example scenario that uses most fields, and exit."`
	command.Flags
	fileFlags
	swarmFlags
}

// fileFlags say how a scenario file is read.
type fileFlags struct {
	DataRoot string `type:"path" placeholder:"DIR" help:"Allow the scenario to read files below DIR (default: the scenario's own directory)."`
}

// Help returns the end of the command's help.
func (runCommand) Help() string { return command.ExitCodes }

func (c *runCommand) Run() error {
	if c.Example {
		_, err := fmt.Print(scenariofile.Example)
		return err
	}
	s, locate, err := c.scenario(c.Scenario)
	if err != nil {
		return err
	}
	if err := c.swarmFlags.check(); err != nil {
		return command.UsageError{Err: err}
	}
	if c.Agents == 0 && c.Resume == "" {
		return locate(c.Flags.Run(s))
	}
	if err := c.stays(); err != nil {
		return command.UsageError{Err: err}
	}
	p, err := c.plan(c.Scenario)
	if err != nil {
		return err
	}
	if _, _, err := p.Scenario(); err != nil {
		return command.UsageError{Err: locate(err)}
	}
	p.Thresholds = c.Threshold
	if c.Abort != nil {
		p.Abort = *c.Abort
	}
	return locate(c.Flags.RunBy(s, func(ctx context.Context, _ load.Scenario, _ load.Options) (load.Result, error) {
		return c.swarmFlags.run(ctx, p, c.Metrics)
	}))
}

// stays returns an error where a flag does not go with agents, which says what does.
func (c *runCommand) stays() error {
	switch {
	case c.EachProtocol:
		return errors.New("--each-protocol: does not go with --agents: run each --protocol with agents, and compare the files of --json by dewload report")
	case c.Requests != "":
		return errors.New("--requests: does not go with --agents, which make the requests: run without --agents, or on each machine by itself with its share of --rate")
	case c.Pprof != "":
		return errors.New("--pprof: does not go with --agents, whose requests are not laid beside a trace: take one meanwhile (curl -o trace.out URL/debug/pprof/trace?seconds=5), or run without --agents")
	case c.Descriptors != "":
		return errors.New("--descriptors: does not go with --agents: let the target describe its protobuf by gRPC reflection, or run without --agents")
	}
	return nil
}

// scenario returns what a URL or a file says, and a function that gives an error about it its
// place.
func (f fileFlags) scenario(name string) (s load.Scenario, locate func(error) error, err error) {
	if name == "" {
		return s, nil, command.UsageError{Err: errors.New("nothing to run: give a URL or a scenario file, which dewload --example prints")}
	}
	if strings.Contains(name, "://") {
		s, err = load.Get(name)
		return s, func(err error) error { return err }, err
	}
	file, err := scenariofile.ReadBelow(name, f.DataRoot)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s, nil, command.UsageError{Err: fmt.Errorf("%s is no file, and no URL: a URL begins with http:// or https://", name)}
	case err != nil:
		return s, nil, err
	}
	return file.Scenario, file.Locate, nil
}

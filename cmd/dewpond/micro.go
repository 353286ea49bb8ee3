package main

import "github.com/dewpond/dewpond/cmd/dewpond/internal/workload"

type microCommand struct{ benchFlags }

func (c *microCommand) Run() error { return c.bench(workload.Micro, nil) }

// Help returns what the scenario does, with examples.
func (c *microCommand) Help() string {
	return teach(workload.Micro, `
    # a verdict on all, in a few minutes
    dewpond bench micro
    # the figures in about 10 s
    dewpond bench micro --quick
    # the tools, each beside what it replaces
    dewpond bench micro --contenders dewpond
`)
}

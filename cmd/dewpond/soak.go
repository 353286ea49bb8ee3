package main

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload/soak"
)

type soakCommand struct {
	benchFlags

	Goroutines  *int     `placeholder:"N" help:"Goroutines at work (${soak_goroutines})."`
	Rate        *float64 `placeholder:"N" help:"Operations a second, all together (${soak_rate})."`
	Every       *string  `placeholder:"TIME" help:"From one new pool to the next (${soak_every})."`
	IdleTimeout *string  `placeholder:"TIME" help:"dewpond's IdleTimeout (${soak_idle_timeout}: far below dewpond's default of 60s on purpose, so that decay acts)."`
	Garbage     *string  `placeholder:"BYTES" help:"Unrelated garbage to make each second, such as 100MB (${soak_garbage})."`
}

func (c *soakCommand) Run() error { return c.bench(soak.Scenario, c.read) }

// Help returns what the scenario does, with examples.
func (c *soakCommand) Help() string {
	return teach(soak.Scenario, `
    dewpond bench soak --duration 1h                                   overnight
    dewpond bench soak --duration 1h --contenders dewpond-offheap      only off the heap
    dewpond bench soak --quick                                         in seconds
`)
}

func (c *soakCommand) read(r *flagReader, s *workload.Spec) {
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.rate(c.Rate, s)
	r.every(c.Every, "time between new pools", s)
	r.idleTimeout(c.IdleTimeout, s)
	r.bytes("garbage", c.Garbage, &s.Garbage)
}

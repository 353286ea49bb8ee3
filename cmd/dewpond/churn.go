package main

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/amount"
)

type churnCommand struct {
	benchFlags

	Goroutines  *int         `placeholder:"N" help:"Goroutines of the steady traffic (default ${churn_goroutines})."`
	Rate        *amount.Rate `placeholder:"N/s" help:"Operations per second of all goroutines together, such as 50000/s (default ${churn_rate}/s)."`
	Mix         *string      `placeholder:"SIZE:PERCENT,..." help:"Block sizes, and the percentage of requests for each (default ${churn_mix})."`
	Blocks      *int         `placeholder:"N" help:"Blocks held by each burst (default ${churn_blocks})."`
	Every       *string      `placeholder:"TIME" help:"Time between two bursts (default ${churn_every})."`
	IdleTimeout *string      `placeholder:"TIME" help:"dewpond's IdleTimeout (default ${churn_idle_timeout}, far below dewpond's own 60s, so that decay acts)."`
	Garbage     *string      `placeholder:"BYTES" help:"Allocate BYTES of unrelated garbage per second, such as 100MB (default ${churn_garbage})."`
	Live        *string      `placeholder:"BYTES" help:"Keep BYTES of other heap alive, such as 1GiB (default ${churn_live})."`
}

func (c *churnCommand) Run() error { return c.bench(workload.Churn, c.read) }

// Help returns what the scenario does, with examples.
func (c *churnCommand) Help() string {
	return teach(workload.Churn, `
    # decay on and off, nothing else
    dewpond bench churn --contenders dewpond,dewpond-nodecay
    # does decay show in the tail?
    dewpond bench churn --html report.html
    # does the live heap matter?
    dewpond bench churn --live 0
`)
}

func (c *churnCommand) read(r *flagReader, s *workload.Spec) {
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.rate(c.Rate, s)
	r.mix(c.Mix, s)
	r.number("blocks", c.Blocks, &s.Blocks, 1, mostBlocks)
	r.every(c.Every, "time between bursts", s)
	r.idleTimeout(c.IdleTimeout, s)
	r.bytes("garbage", c.Garbage, &s.Garbage)
	r.live(c.Live, s)
}

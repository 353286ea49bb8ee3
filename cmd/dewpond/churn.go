package main

import "github.com/dewpond/dewpond/cmd/dewpond/internal/workload"

type churnCommand struct {
	benchFlags

	Goroutines  *int     `placeholder:"N" help:"Goroutines of the steady traffic (${churn_goroutines})."`
	Rate        *float64 `placeholder:"N" help:"Their operations a second, all together (${churn_rate})."`
	Mix         *string  `placeholder:"SIZE:PERCENT,..." help:"Block sizes and how often each is asked for (${churn_mix})."`
	Blocks      *int     `placeholder:"N" help:"Blocks held by each burst (${churn_blocks})."`
	Every       *string  `placeholder:"TIME" help:"From one burst to the next (${churn_every})."`
	IdleTimeout *string  `placeholder:"TIME" help:"dewpond's IdleTimeout (${churn_idle_timeout}: far below dewpond's default of 60s on purpose, so that decay acts)."`
	Garbage     *string  `placeholder:"BYTES" help:"Unrelated garbage to make each second, such as 100MB (${churn_garbage})."`
	Live        *string  `placeholder:"BYTES" help:"Heap kept alive beside the pool, such as 1GiB (${churn_live})."`
}

func (c *churnCommand) Run() error { return c.bench(workload.Churn, c.read) }

// Help returns what the scenario does, with examples.
func (c *churnCommand) Help() string {
	return teach(workload.Churn, `
    dewpond bench churn --contenders dewpond,dewpond-nodecay   decay on and off, nothing else
    dewpond bench churn --html report.html                     does decay show in the tail?
    dewpond bench churn --live 0                               does the live heap matter?
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

package main

import "github.com/dewpond/dewpond/cmd/dewpond/internal/workload"

type burstCommand struct {
	benchFlags

	Mix         *string `placeholder:"SIZE:100" help:"Size of the blocks (default ${burst_mix})."`
	Blocks      *int    `placeholder:"N" help:"Blocks held at once (default ${burst_blocks})."`
	Collections *int    `placeholder:"N" help:"GC cycles between two bursts (default ${burst_collections})."`
	Garbage     *string `placeholder:"BYTES" help:"Allocate BYTES of unrelated garbage per second, such as 100MB (default ${burst_garbage})."`
	Live        *string `placeholder:"BYTES" help:"Keep BYTES of other heap alive, such as 1GiB (default: none)."`
	IdleTimeout *string `placeholder:"TIME" help:"dewpond's IdleTimeout (default 60s)."`
}

func (c *burstCommand) Run() error { return c.bench(workload.Burst, c.read) }

// Help returns what the scenario does, with examples.
func (c *burstCommand) Help() string {
	return teach(workload.Burst, `
    # what survives five collections?
    dewpond bench burst --collections 5
    # what stays when a burst is over?
    dewpond bench burst --idle-timeout 500ms --duration 6s
    # charts of what is idle and resident
    dewpond bench burst --blocks 900 --html report.html
`)
}

func (c *burstCommand) read(r *flagReader, s *workload.Spec) {
	r.size(c.Mix, s)
	r.number("blocks", c.Blocks, &s.Blocks, 1, mostBlocks)
	r.number("collections", c.Collections, &s.Collections, 1, 1000)
	r.bytes("garbage", c.Garbage, &s.Garbage)
	r.live(c.Live, s)
	r.idleTimeout(c.IdleTimeout, s)
}

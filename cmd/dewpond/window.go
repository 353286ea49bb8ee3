package main

import "github.com/dewpond/dewpond/cmd/dewpond/internal/workload"

type windowCommand struct {
	benchFlags

	Mix     *string `placeholder:"SIZE:100" help:"Size of the messages (default ${window_mix})."`
	Blocks  *int    `placeholder:"N" help:"Messages in the window (default ${window_blocks})."`
	Garbage *string `placeholder:"BYTES" help:"Allocate BYTES of unrelated garbage per second, such as 100MB (default: none)."`
	Sample  *int    `placeholder:"N" help:"Time one push in N (default ${window_sample})."`
}

func (c *windowCommand) Run() error { return c.bench(workload.Window, c.read) }

// Help returns what the scenario does, with examples.
func (c *windowCommand) Help() string {
	return teach(workload.Window, `
    dewpond bench window --blocks 1000000        a window of a gigabyte
    dewpond bench window --hgrm distributions    for HdrHistogram's plotter
`)
}

func (c *windowCommand) read(r *flagReader, s *workload.Spec) {
	r.size(c.Mix, s)
	r.number("blocks", c.Blocks, &s.Blocks, 1, mostBlocks)
	r.bytes("garbage", c.Garbage, &s.Garbage)
	r.number("sample", c.Sample, &s.Sample, 1, mostSample)
}

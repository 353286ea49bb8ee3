package main

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

type beyondCommand struct {
	benchFlags

	Mix     *string `placeholder:"SIZE:100" help:"Size of the blocks (${beyond_mix})."`
	Blocks  *int    `placeholder:"N" help:"Blocks of a burst (${beyond_blocks})."`
	Bursts  *int    `placeholder:"N" help:"Bursts of a round (${beyond_bursts})."`
	Written *string `placeholder:"BYTES" help:"How much of each block is written (${beyond_written})."`
}

func (c *beyondCommand) Run() error { return c.bench(workload.Beyond, c.read) }

// Help returns what the scenario does, with examples.
func (c *beyondCommand) Help() string {
	return teach(workload.Beyond, `
    dewpond bench beyond --blocks 1000                  within 64 MiB
    dewpond bench beyond --written 64KiB                all of each block is written: 1.3 GB
    GOMEMLIMIT=2GiB dewpond bench beyond                a memory limit: idle memory is bounded by it
`)
}

func (c *beyondCommand) read(r *flagReader, s *workload.Spec) {
	r.size(c.Mix, s)
	r.number("blocks", c.Blocks, &s.Blocks, 1, mostBlocks)
	r.number("bursts", c.Bursts, &s.Bursts, 1, 1000)
	r.bytes("written", c.Written, &s.Written)
	if size := s.Mix[0].Size; s.Written < 1 || s.Written > int64(size) {
		r.add("written", fmt.Errorf("%d bytes: give 1 to %d, the size of a block", s.Written, size))
	}
}

package main

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

type beyondCommand struct {
	benchFlags

	Mix     *string `placeholder:"SIZE:100" help:"Size of the blocks (default ${beyond_mix})."`
	Blocks  *int    `placeholder:"N" help:"Blocks of a burst (default ${beyond_blocks})."`
	Bursts  *int    `placeholder:"N" help:"Bursts of a round (default ${beyond_bursts})."`
	Written *string `placeholder:"BYTES" help:"Write BYTES of each block (default ${beyond_written})."`

	MemoryLimit *string `placeholder:"BYTES" help:"GOMEMLIMIT of each round, such as 2GiB (default: that of the environment)."`
	Collections *int    `placeholder:"N" help:"Run N GC cycles between two bursts (default 0)."`
	SecondSize  *string `placeholder:"BYTES" help:"Between two bursts, get and put back 512 blocks of BYTES from the same pool, 20 times (default: none)."`
}

func (c *beyondCommand) Run() error { return c.bench(workload.Beyond, c.read) }

// Help returns what the scenario does, with examples.
func (c *beyondCommand) Help() string {
	return teach(workload.Beyond, `
    # within 64 MiB
    dewpond bench beyond --blocks 1000
    # all of each block is written: 1.3 GB
    dewpond bench beyond --written 64KiB
    # a memory limit: idle memory is bounded by it
    dewpond bench beyond --memory-limit 2GiB
    # what do GC cycles between bursts leave?
    dewpond bench beyond --collections 3
    # does one size leave room for another?
    dewpond bench beyond --second-size 16KiB
`)
}

func (c *beyondCommand) read(r *flagReader, s *workload.Spec) {
	r.size(c.Mix, s)
	r.number("blocks", c.Blocks, &s.Blocks, 1, mostBlocks)
	r.number("bursts", c.Bursts, &s.Bursts, 1, 1000)
	r.bytes("written", c.Written, &s.Written)
	r.bytes("memory-limit", c.MemoryLimit, &s.MemoryLimit)
	if c.MemoryLimit != nil && s.MemoryLimit < leastMemoryLimit {
		r.add("memory-limit", fmt.Errorf("%q: give at least 64MiB", *c.MemoryLimit))
	}
	r.number("collections", c.Collections, &s.Collections, 0, 1000)
	if c.SecondSize != nil {
		var size int64
		r.bytes("second-size", c.SecondSize, &size)
		if s.SecondSize = int(size); size < 1 || size > contender.Largest {
			r.add("second-size", fmt.Errorf("%q: give 1 byte to 1MiB", *c.SecondSize))
		}
	}
	if size := s.Mix[0].Size; s.Written < 1 || s.Written > int64(size) {
		r.add("written", fmt.Errorf("%d bytes: give 1 to %d, the size of a block", s.Written, size))
	}
}

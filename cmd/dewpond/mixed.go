package main

import (
	"errors"
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/amount"
)

type mixedCommand struct {
	benchFlags

	Goroutines *int         `placeholder:"N" help:"Goroutines at work (default ${mixed_goroutines})."`
	Mix        *string      `placeholder:"SIZE:PERCENT,..." help:"Block sizes, and the percentage of requests for each (default ${mixed_mix})."`
	Hold       *string      `placeholder:"HOW" help:"Between Get and Put do nothing (none), let other goroutines run (yield), pass the block to a goroutine that puts it back (pass), or wait (a duration)."`
	Garbage    *string      `placeholder:"BYTES" help:"Allocate BYTES of unrelated garbage per second, such as 100MB (default: none)."`
	Mode       *string      `placeholder:"MODE" help:"Load model: closed (each goroutine starts an operation when its last one ends) or open (operations arrive on a fixed schedule, and waiting counts) (default closed)."`
	Rate       *amount.Rate `placeholder:"N/s" help:"Open mode: arrivals per second, such as 50000/s (default ${open_rate}/s)."`
	Sample     *int         `placeholder:"N" help:"Closed mode: time one operation in N (${mixed_sample}). Open mode times all."`
}

func (c *mixedCommand) Run() error { return c.bench(workload.Mixed, c.read) }

// Help returns what the scenario does, with examples.
func (c *mixedCommand) Help() string {
	return teach(workload.Mixed, `
    # a first look, no verdict
    dewpond bench mixed --quick --contenders nop,make,dewpond
    # many blocks out at once
    dewpond bench mixed --hold yield --goroutines 2000
    # a pipeline: got here, put there
    dewpond bench mixed --hold pass --goroutines 8
    # beside a service that allocates
    dewpond bench mixed --garbage 100MB
    # waiting is part of the time
    dewpond bench mixed --mode open --rate 100000
`)
}

func (c *mixedCommand) read(r *flagReader, s *workload.Spec) {
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.mix(c.Mix, s)
	if c.Hold != nil {
		var err error
		s.Hold, err = workload.ParseHold(*c.Hold)
		r.add("hold", err)
	}
	if s.Hold.Pass && s.Goroutines%2 > 0 {
		r.add("goroutines", fmt.Errorf("%d: with --hold pass one of two goroutines puts back what the other gets: give an even number", s.Goroutines))
	}
	r.bytes("garbage", c.Garbage, &s.Garbage)
	switch {
	case c.Mode == nil, *c.Mode == "closed":
		if c.Rate != nil {
			r.add("rate", errors.New("arrivals have a rate in open mode only: add --mode open"))
		}
		r.number("sample", c.Sample, &s.Sample, 1, mostSample)
	case *c.Mode == "open":
		if c.Sample != nil {
			r.add("sample", errors.New("open mode times every operation: leave it out"))
		}
		if s.Hold.Pass {
			r.add("hold", errors.New("in open mode an operation begins and ends in one goroutine: leave pass out"))
		}
		s.Open, s.Sample, s.Rate = true, 1, openRate
		r.rate(c.Rate, s)
	default:
		r.add("mode", fmt.Errorf("unknown mode %q: valid are closed, open", *c.Mode))
	}
}

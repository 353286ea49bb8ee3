package main

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// mostFloodHold is the longest hold of flood: a round does not end before its last request.
const mostFloodHold = 10 * time.Second

type floodCommand struct {
	benchFlags

	Limit      *string  `placeholder:"BYTES" help:"Bound on the bytes in use (default ${flood_limit})."`
	Times      *float64 `placeholder:"N" help:"Offer N times the traffic that the bound allows (default ${flood_times})."`
	Mix        *string  `placeholder:"SIZE:PERCENT,..." help:"Block sizes, and the percentage of requests for each (default ${flood_mix})."`
	Hold       *string  `placeholder:"TIME" help:"Hold each block for TIME (default ${flood_hold})."`
	Goroutines *int     `placeholder:"N" help:"At most N requests at a time. Further arrivals are dropped (default ${flood_goroutines})."`
	Garbage    *string  `placeholder:"BYTES" help:"Allocate BYTES of unrelated garbage per second, such as 100MB (default: none)."`
}

func (c *floodCommand) Run() error { return c.bench(workload.Flood, c.read) }

// Help returns what the scenario does, with examples.
func (c *floodCommand) Help() string {
	return teach(workload.Flood, `
    # figures in about 10 s
    dewpond bench flood --quick
    # within the bound: is anything refused?
    dewpond bench flood --times 0.5
    # the same traffic, a lower bound
    dewpond bench flood --limit 4MB --times 40
`)
}

func (c *floodCommand) read(r *flagReader, s *workload.Spec) {
	r.bytes("limit", c.Limit, &s.Limit)
	if s.Limit < 1 || s.Limit > mostLive {
		r.add("limit", fmt.Errorf("%d bytes: give 1 byte to 64GiB", s.Limit))
	}
	if c.Times != nil {
		s.Times = *c.Times
	}
	r.mix(c.Mix, s)
	r.duration("hold", c.Hold, &s.Hold.Wait, "hold", time.Millisecond, mostFloodHold)
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.bytes("garbage", c.Garbage, &s.Garbage)
	if r.errs != nil {
		return
	}
	s.Rate = s.FloodRate()
	if !(s.Rate >= 1 && s.Rate <= mostRate) {
		r.add("times", fmt.Errorf("%v times the bound are %v arrivals a second: give flags that make 1 to %d of them", s.Times, s.Rate, mostRate))
	}
}

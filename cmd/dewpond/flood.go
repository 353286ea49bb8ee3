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

	Limit      *string  `placeholder:"BYTES" help:"The bound: bytes that may be out at once (${flood_limit})."`
	Times      *float64 `placeholder:"N" help:"The traffic, in multiples of what the bound allows (${flood_times})."`
	Mix        *string  `placeholder:"SIZE:PERCENT,..." help:"Block sizes and how often each is asked for (${flood_mix})."`
	Hold       *string  `placeholder:"TIME" help:"How long a request holds its block (${flood_hold})."`
	Goroutines *int     `placeholder:"N" help:"Requests at once, at most: what arrives beyond is dropped, so that memory does not run out (${flood_goroutines})."`
	Garbage    *string  `placeholder:"BYTES" help:"Unrelated garbage to make each second, such as 100MB (none)."`
}

func (c *floodCommand) Run() error { return c.bench(workload.Flood, c.read) }

// Help returns what the scenario does, with examples.
func (c *floodCommand) Help() string {
	return teach(workload.Flood, `
    dewpond bench flood --quick                  figures in about 10 s
    dewpond bench flood --times 0.5              within the bound: is anything refused?
    dewpond bench flood --limit 4MB --times 40   the same traffic, a lower bound
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

package main

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

const (
	mostSeeds = 100_000
	leastLate = time.Microsecond
	mostLate  = time.Minute
)

type misuseCommand struct {
	benchFlags

	Seeds      *int     `placeholder:"N" help:"Seeds of each kind of misuse (${misuse_seeds})."`
	Late       *string  `placeholder:"TIME" help:"How long after its Put a block is misused, at most (${misuse_late})."`
	Goroutines *int     `placeholder:"N" help:"Goroutines of the steady traffic (${misuse_goroutines})."`
	Rate       *float64 `placeholder:"N" help:"Their operations a second, all together (${misuse_rate})."`
	Mix        *string  `placeholder:"SIZE:PERCENT,..." help:"Block sizes and how often each is asked for, by the seeds too (${misuse_mix})."`
}

func (c *misuseCommand) Run() error { return c.bench(workload.Misuse, c.read) }

// Help returns what the scenario does, with examples.
func (c *misuseCommand) Help() string {
	return teach(workload.Misuse, `
    dewpond bench misuse --late 100ms                       later than the quarantine lasts
    dewpond bench misuse --seeds 5000 --duration 4s         what does one Get in 1024 see?
    DEWPOND_CHECK=off dewpond bench misuse                  without checked mode nothing is found
`)
}

func (c *misuseCommand) read(r *flagReader, s *workload.Spec) {
	r.number("seeds", c.Seeds, &s.Seeds, 1, mostSeeds)
	r.duration("late", c.Late, &s.Late, "time after Put", leastLate, mostLate)
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.rate(c.Rate, s)
	r.mix(c.Mix, s)
}

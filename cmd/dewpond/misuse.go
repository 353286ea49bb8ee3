package main

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/amount"
)

const (
	mostSeeds = 100_000
	leastLate = time.Microsecond
	mostLate  = time.Minute
)

type misuseCommand struct {
	benchFlags

	Seeds      *int         `placeholder:"N" help:"Plant N misuses of each kind (default ${misuse_seeds})."`
	Late       *string      `placeholder:"TIME" help:"Misuse a block at most TIME after its Put (default ${misuse_late})."`
	Goroutines *int         `placeholder:"N" help:"Goroutines of the steady traffic (default ${misuse_goroutines})."`
	Rate       *amount.Rate `placeholder:"N/s" help:"Operations per second of all goroutines together, such as 50000/s (default ${misuse_rate}/s)."`
	Mix        *string      `placeholder:"SIZE:PERCENT,..." help:"Block sizes, and the percentage of requests for each (default ${misuse_mix})."`
}

func (c *misuseCommand) Run() error { return c.bench(workload.Misuse, c.read) }

// Help returns what the scenario does, with examples.
func (c *misuseCommand) Help() string {
	return teach(workload.Misuse, `
    # later than the quarantine lasts
    dewpond bench misuse --late 100ms
    # what does one Get in 1024 see?
    dewpond bench misuse --seeds 5000 --duration 4s
    # without checked mode nothing is found
    DEWPOND_CHECK=off dewpond bench misuse
`)
}

func (c *misuseCommand) read(r *flagReader, s *workload.Spec) {
	r.number("seeds", c.Seeds, &s.Seeds, 1, mostSeeds)
	r.duration("late", c.Late, &s.Late, "time after Put", leastLate, mostLate)
	r.number("goroutines", c.Goroutines, &s.Goroutines, 1, mostGoroutines)
	r.rate(c.Rate, s)
	r.mix(c.Mix, s)
}

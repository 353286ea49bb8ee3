package workload

import "time"

// Mixed is many goroutines that use a pool at once.
var Mixed = Scenario{
	Name: "mixed",
	About: "many goroutines, two sizes: each gets a block, writes all of it, may hold it or pass it on, and puts it back; every contender clears. " +
		"Shows ops/s and the tail of Get and of Put.",
	Defaults: Spec{
		Goroutines: 512,
		Mix:        Mix{{128, 70}, {8192, 30}},
		Duration:   time.Second,
		// Timing an operation of 100 to 400 ns adds about 130 ns. The control did 7 million
		// operations a second with all of them timed, 14 with one in 8, 16 with one in 64 or
		// fewer. One in 16 costs the fastest contenders about 6 %. It gives each contender of
		// at least 1.6 million operations a second the 100,000 samples a round that P9999
		// needs; a slower one has them in six rounds together.
		Sample:   16,
		Clearing: true,
	},
	Holding:     true,
	QuickRounds: 2,
	Drive:       runMixed,
}

// body returns what each worker does in the closed mode, in one run.
func (c *crew) body() func(*worker) {
	if c.Hold.Pass {
		return c.pipeline()
	}
	return (*worker).loop
}

func runMixed(j *Job) error {
	c := newCrew(j)
	if err := c.warm(); err != nil {
		return err
	}
	c.get, c.put = j.recorder("get"), j.recorder("put")
	if j.Pairs {
		c.pair = j.recorder("pair")
	}
	if j.Open {
		return c.runOpen()
	}
	start, done := c.gate(c.body())
	err := j.Measured(func() error {
		c.run(start, j.Duration)
		return done()
	})
	c.count()
	if j.Pairs && j.Result.Ops > 0 {
		j.Result.Figures["operation_ns"] = 1e9 * j.Result.Seconds / float64(j.Result.Ops)
		if j.used > 0 {
			j.Result.Figures["operation_cpu_ns"] = float64(j.used) / float64(j.Result.Ops)
		}
	}
	return err
}

package workload

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/internal/measure"
)

// Open mode: operations begin when the clock says, not when the one before has
// ended, so a pool that stalls is not excused from those that would have come
// meanwhile (coordinated omission). Three times are kept:
//
//	intended start ... handed out ......... taken up ....... done
//	|<--- lag ------->|                     |<-- service --->|
//	|<------------------- response ------------------------->|
//
// Lag is the generator's own fault. An arrival that finds as many waiting as
// there are goroutines is dropped and counted.

// spin is how long before an arrival the generator stops sleeping and yields in a
// loop instead: timers wake up to a millisecond late, yielding costs others no
// processor that they want.
const spin = 2 * time.Millisecond

func (c *crew) runOpen() error {
	response, service, lag := c.recorder("response"), c.recorder("service"), c.recorder("lag")
	queue := make(chan time.Duration, c.Goroutines) // intended starts
	start, done := c.gate(func(w *worker) {
		for intended := range queue {
			began := measure.Now()
			w.timedOperation()
			ended := measure.Now()
			service.Record(w.number, ended-began)
			response.Record(w.number, ended-intended)
		}
	})
	err := c.Measured(func() error {
		start()
		arrivals, dropped := c.generate(queue, lag)
		close(queue)
		c.Result.Figures["arrivals"] = float64(arrivals)
		c.Result.Figures["dropped_arrivals"] = float64(dropped)
		return done()
	})
	c.count()
	return err
}

// generate hands out the arrivals of the window: a Poisson process, which never
// looks at the pool and is the same for each contender of a round.
func (c *crew) generate(queue chan<- time.Duration, lag *measure.Recorder) (arrivals, dropped uint64) {
	random := rand.New(rand.NewPCG(1, uint64(c.Round)))
	next := func() time.Duration { return time.Duration(random.ExpFloat64() / c.Rate * float64(time.Second)) }
	start := measure.Now()
	for at := next(); at < c.Duration && !c.Cut(); {
		now := measure.Now() - start
		switch wait := at - now; {
		case wait > spin:
			c.Pause(wait - spin/2)
			continue
		case wait > 0:
			runtime.Gosched()
			continue
		}
		arrivals++
		select {
		case queue <- start + at:
			lag.Record(0, now-at)
		default:
			dropped++
		}
		at += next()
	}
	return arrivals, dropped
}

package workload

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/internal/measure"
)

// In open mode operations begin when the clock says, not when the previous one has ended. So
// the stall of a pool also delays the operations that would have come meanwhile, and it shows
// (coordinated omission hides it). Three times are kept:
//
//	intended start ... handed out ......... taken up ....... done
//	|<--- lag ------->|                     |<-- service --->|
//	|<------------------- response ------------------------->|
//
// Lag is the generator's fault. If as many arrivals wait as there are goroutines, the next one
// is dropped and counted.

// spin is how long before an arrival the generator stops sleeping and yields in a loop instead:
// timers wake up to a millisecond late, and yielding takes no processor that another goroutine
// wants.
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

// generate sends the arrivals of the window: a Poisson process, which does not depend on the
// pool and is the same for each contender of a round.
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

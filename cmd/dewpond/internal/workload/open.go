package workload

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
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
			began := kit.Now()
			w.timedOperation()
			ended := kit.Now()
			service.Record(w.number, ended-began)
			response.Record(w.number, ended-intended)
		}
	})
	err := c.Measured(func() error {
		start()
		c.generate(lag, func(intended time.Duration) bool {
			select {
			case queue <- intended:
				return true
			default:
				return false
			}
		})
		close(queue)
		return done()
	})
	c.count()
	return err
}

// generate makes the arrivals of the window: a Poisson process, which does not depend on the
// pool and is the same for each contender of a round. arrive gets the intended start of each; an
// arrival for which it returns false is dropped.
func (c *crew) generate(lag *kit.Recorder, arrive func(intended time.Duration) bool) (arrivals, dropped float64) {
	random := rand.New(rand.NewPCG(1, uint64(c.Round)))
	next := func() time.Duration { return time.Duration(random.ExpFloat64() / c.Rate * float64(time.Second)) }
	start := kit.Now()
	for at := next(); at < c.Duration && !c.Cut(); {
		now := kit.Now() - start
		switch wait := at - now; {
		case wait > spin:
			c.Pause(wait - spin/2)
			continue
		case wait > 0:
			runtime.Gosched()
			continue
		}
		arrivals++
		if arrive(start + at) {
			lag.Record(0, now-at)
		} else {
			dropped++
		}
		at += next()
	}
	c.Result.Figures["arrivals"], c.Result.Figures["dropped_arrivals"] = arrivals, dropped
	return arrivals, dropped
}

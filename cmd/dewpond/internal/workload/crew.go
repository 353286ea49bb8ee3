package workload

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

// warmUp is the longest that a crew runs before it is measured.
const warmUp = 200 * time.Millisecond

// A crew is the goroutines of a round of mixed, churn, flood or misuse, with what they share.
type crew struct {
	*Job
	sizes    [100]int
	pattern  pattern
	stop     atomic.Bool
	end      time.Duration // of the window: the workers stop by themselves
	get, put *kit.Recorder // nil while warming up, and where nothing is timed
	replace  *kit.Recorder // churn alone
	pair     *kit.Recorder // with Pairs alone
	workers  []*worker
	failure  atomic.Pointer[error]
	spoilt   *atomic.Uint64 // if set, counts blocks with two owners, which end no round then
}

func newCrew(j *Job) *crew {
	c := emptyCrew(j)
	for range j.Goroutines {
		c.hire()
	}
	return c
}

// emptyCrew returns a crew without workers.
func emptyCrew(j *Job) *crew {
	written := j.Mix.largest()
	if j.Written > 0 {
		written = min(written, int(j.Written))
	}
	return &crew{Job: j, sizes: j.Mix.sizes(), pattern: newPattern(written)}
}

// hire adds a worker.
func (c *crew) hire() *worker {
	w := &worker{crew: c, number: len(c.workers), view: c.Pool.View()}
	w.random.Seed(uint64(w.number), uint64(c.Round)) // the same sequence for each contender of a round
	c.workers = append(c.workers, w)
	return w
}

// run lets the started workers loop for d. They stop by themselves, with the clock that they
// read anyway: the goroutine of a timer may have to queue behind 512 others of 10 ms each. The
// timer is for workers that hold blocks for long.
func (c *crew) run(start func(), d time.Duration) {
	c.end = kit.Now() + d
	start()
	c.Pause(d)
	c.stop.Store(true)
}

// warm gets a first block of each size in every view, because otherwise the control's private
// stacks would still be filling in the window. Then it runs all workers for a while.
func (c *crew) warm() error {
	for _, w := range c.workers {
		for _, s := range c.Mix {
			b := w.view.Get(s.Size)
			c.pattern.write(b.Bytes, 0)
			w.view.Put(b)
		}
	}
	start, done := c.gate(c.body())
	c.run(start, min(c.Duration/8, warmUp))
	err := done()
	c.stop.Store(false)
	for _, w := range c.workers {
		w.ops = 0
	}
	return err
}

// gate starts the goroutines before the window, which so does not include their creation. They
// wait for start; done waits for their end.
func (c *crew) gate(body func(*worker)) (start func(), done func() error) {
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range c.workers {
		wg.Go(func() {
			<-gate
			body(w)
		})
	}
	return func() { close(gate) }, func() error {
		wg.Wait()
		if err := c.failure.Load(); err != nil {
			return *err
		}
		return nil
	}
}

func (c *crew) count() {
	for _, w := range c.workers {
		c.Result.Ops += w.ops
	}
	c.Result.Verified = c.Result.Ops
}

// fail is a separate method because in use its err would escape and be allocated each time.
func (c *crew) fail(err error) {
	if c.spoilt != nil {
		c.spoilt.Add(1)
		return
	}
	c.failure.Store(&err)
	c.stop.Store(true)
}

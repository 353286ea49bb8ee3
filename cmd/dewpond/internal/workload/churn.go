package workload

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// Churn is steady traffic with bursts beside it.
var Churn = Scenario{
	Name: "churn",
	About: "steady traffic of a few goroutines, each of which holds blocks of several sizes and replaces one after the other at a steady pace; " +
		"now and then a burst takes many blocks out at once and returns them. IdleTimeout is far below the default of 60 s on purpose, so that decay acts between two bursts. " +
		"Shows what a replacement takes, what is idle, in use and resident over time, and what decay costs the tail. Contenders clear only what they must. Takes about 4 minutes.",
	Defaults: Spec{
		Goroutines: 4,
		Mix:        Mix{{512, 70}, {4 << 10, 25}, {64 << 10, 5}},
		Garbage:    50e6,
		// Without another heap the pool's own blocks would set the collector's goal: without
		// decay there would be far fewer collections than with it, and the tails would compare
		// the collections (docs/tuning.md).
		Live:        64 << 20,
		Rate:        200_000, // so that 6 s give the million samples that P9999 needs
		Duration:    6 * time.Second,
		Blocks:      6000,
		Every:       2 * time.Second,
		IdleTimeout: 500 * time.Millisecond,
		Sample:      1,
	},
	QuickRounds: 1,
	Paced:       true,
	Bursts:      true,
	Contenders:  []string{"nop", "make", "syncpool-class", "dewpond", "dewpond-nodecay", "dewpond-offheap"},
	Drive:       runChurn,
}

// parts is the number of parts of a period. The first part passes before the burst, and the
// burst is out during the second.
const parts = 8

// runChurn runs the traffic for the whole window and bursts beside it, on a timetable that is
// the same for every contender.
func runChurn(j *Job) error {
	c := &churner{crew: newCrew(j), view: j.Pool.View(), held: make([]Marked, j.Blocks)}
	for _, w := range c.workers {
		c.clients = append(c.clients, newClient(w))
	}
	c.replace, c.get, c.put = j.recorder("replace"), j.recorder("get"), j.recorder("put")
	start, done := c.gate(func(w *worker) { c.clients[w.number].run() })
	garbage.FillHeap()
	err := j.Measured(func() error {
		s := j.watchPool(j.Duration, c.inUse)
		start()
		err := c.bursts(s)
		c.stop.Store(true)
		err = errors.Join(err, done())
		s.Stop()
		return err
	})
	for _, cl := range c.clients {
		err = errors.Join(err, cl.giveBack())
	}
	c.count()
	for name, values := range map[string][]float64{"burst_ns": c.took, "burst_return_ns": c.returned, "burst_misses": c.misses} {
		if len(values) > 0 {
			j.Result.Figures[name] = quantile.Median(values)
		}
	}
	return err
}

// A churner is the traffic and the bursts of a round.
type churner struct {
	*crew
	clients []*client

	view                   contender.View // the bursts'
	held                   []Marked
	out                    atomic.Int64 // bytes that are held
	took, returned, misses []float64    // of each burst
}

// inUse returns the bytes that are out of the pool.
func (c *churner) inUse() int64 {
	sum := c.out.Load()
	for _, cl := range c.clients {
		sum += cl.out.Load()
	}
	return sum
}

// bursts waits for the end of the window and runs its bursts.
func (c *churner) bursts(s *Sampler) error {
	began := kit.Now()
	until := func(at time.Duration) (cut bool) { return c.Pause(max(0, began+at-kit.Now())) }
	part := c.Every / parts
	random := rand.New(rand.NewPCG(2, uint64(c.Round))) // the same bursts for each contender of a round
	for at := part; at+part < c.Duration; at += c.Every {
		if until(at) {
			return nil
		}
		s.look()
		c.hold(random)
		s.look()
		cut := until(at + part)
		s.look()
		if err := c.giveBack(); err != nil || cut {
			return err
		}
		s.look()
	}
	until(c.Duration)
	return nil
}

// hold takes the blocks of a burst.
func (c *churner) hold(random *rand.Rand) {
	misser, tells := c.Pool.(contender.Misser)
	var missed uint64
	if tells {
		missed = misser.Misses()
	}
	began := kit.Now()
	out := 0
	for i := range c.held {
		h := Marked{c.view.Get(c.sizes[random.Uint64()%100]), 1<<63 | uint64(i)}
		h.Write()
		out += cap(h.Bytes)
		c.held[i] = h
	}
	c.took = append(c.took, float64(kit.Now()-began))
	if tells { // this includes the traffic's misses meanwhile
		c.misses = append(c.misses, float64(misser.Misses()-missed))
	}
	c.out.Store(int64(out))
}

// giveBack puts them back.
func (c *churner) giveBack() error {
	var errs []error
	for _, h := range c.held {
		if err := h.Verify(); err != nil {
			errs = append(errs, err)
		}
	}
	began := kit.Now()
	for i := range c.held {
		c.view.Put(c.held[i].Block)
		c.held[i] = Marked{}
	}
	c.returned = append(c.returned, float64(kit.Now()-began))
	c.out.Store(0)
	return errors.Join(errs...)
}

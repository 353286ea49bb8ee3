package workload

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

const (
	// holds is how many blocks a client has out at any moment.
	holds = 64
	// beat is how often a client wakes up for what is due.
	beat = time.Millisecond
)

// A client is one goroutine of the traffic of churn and misuse. It holds blocks and replaces one of them at a
// time, at a steady pace, so that blocks stay out for times of all lengths.
type client struct {
	*worker
	held  [holds]Marked
	taken uint64       // blocks so far, so that no two have the same mark
	out   atomic.Int64 // bytes that are held
	_     [64]byte
}

// newClient gets the first blocks of a client. They are not timed.
func newClient(w *worker) *client {
	c := &client{worker: w}
	for i := range c.held {
		c.held[i] = c.take(w.view.Get(w.draw()))
		c.out.Add(int64(cap(c.held[i].Bytes)))
	}
	return c
}

// run replaces blocks until the round is over. After a stall it catches up.
func (c *client) run() {
	pace := c.Rate / float64(c.Goroutines) / float64(time.Second)
	began := kit.Now()
	for !c.stop.Load() {
		due := uint64(pace * float64(kit.Now()-began))
		for c.ops < due && !c.stop.Load() {
			c.exchange()
		}
		time.Sleep(beat)
	}
}

// exchange is one operation, a replacement: a Put of any block that the client holds, and a Get.
// It is timed as a whole, because what a cold cache costs falls on whichever of the two comes first
// and touches more, and by halves.
func (c *client) exchange() {
	slot := &c.held[c.random.Uint64()%holds]
	n := c.draw()
	old := *slot
	if err := old.Verify(); err != nil {
		c.fail(err)
	}
	t0 := kit.Now()
	c.view.Put(old.Block)
	t1 := kit.Now()
	b := c.view.Get(n)
	t2 := kit.Now()
	if c.get != nil {
		c.replace.Record(c.number, t2-t0)
		c.put.Record(c.number, t1-t0)
		c.get.Record(c.number, t2-t1)
	}
	c.out.Add(int64(cap(b.Bytes) - cap(old.Bytes)))
	*slot = c.take(b)
	c.ops++
}

// take marks a block as the client's.
func (c *client) take(b contender.Block) Marked {
	c.taken++
	m := Marked{b, uint64(c.number)<<40 | c.taken}
	m.Write()
	return m
}

// giveBack puts back what the client holds.
func (c *client) giveBack() error {
	var errs []error
	for _, m := range c.held {
		if err := m.Verify(); err != nil {
			errs = append(errs, err)
		}
		c.view.Put(m.Block)
	}
	return errors.Join(errs...)
}

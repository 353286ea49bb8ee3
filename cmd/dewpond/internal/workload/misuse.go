package workload

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Misuse is seeded misuse among steady traffic.
var Misuse = Scenario{
	Name: "misuse",
	About: "misuse that is seeded among steady traffic, and how much of it is found: blocks that are put back twice, written after Put, and read after Put, each up to --late after its Put. " +
		"dewpond runs in checked mode, CheckAll, and dewpond-sampled watches one Get in 1024; DEWPOND_CHECK overrides both. Found is what a pool reports and what is one of the seeds; any other report is false. " +
		"A read after Put is seen off the heap alone, where it faults (Linux). Every contender clears.",
	Defaults: Spec{
		Goroutines: 4,
		Mix:        Mix{{512, 70}, {8192, 30}},
		Rate:       10_000,
		Duration:   400 * time.Millisecond,
		Seeds:      64,
		// Checked mode keeps up to 256 blocks in quarantine, 25 ms at this rate. What is misused
		// later has another owner by then, and no pool can see it.
		Late:     2 * time.Millisecond,
		Sample:   1,
		Clearing: true,
	},
	QuickRounds: 2,
	Paced:       true,
	Contenders:  []string{"nop", "make", "syncpool-class", "dewpond", "dewpond-sampled", "dewpond-offheap"},
	Drive:       runMisuse,
}

// runMisuse runs the traffic for the whole window, and the seeds beside it on a timetable that is the
// same for every contender.
func runMisuse(j *Job) error {
	f := newFinder()
	j.Pool = j.Fresh(contender.Options{Check: dewpond.CheckAll, OnViolation: f.report})
	c := newCrew(j)
	c.spoilt = new(atomic.Uint64)
	var clients []*client
	for _, w := range c.workers {
		clients = append(clients, newClient(w))
	}
	start, done := c.gate(func(w *worker) { clients[w.number].run() })
	var seeded int
	err := j.Measured(func() error {
		start()
		seeded = c.misuse(f)
		c.stop.Store(true)
		return done()
	})
	c.count()
	for _, cl := range clients {
		if all, ok := cl.giveBack().(interface{ Unwrap() []error }); ok {
			c.spoilt.Add(uint64(len(all.Unwrap())))
		}
	}
	if k, ok := j.Pool.(contender.Keeper); ok { // its last look at what lies idle
		err = errors.Join(err, k.Close())
	}
	for _, m := range misdeeds {
		j.Result.Figures[string(m)+"_found"] = float64(f.found[m])
	}
	j.Result.Figures["seeded"] = float64(seeded)
	j.Result.Figures["false_reports"] = float64(f.wrong)
	j.Result.Figures["blocks_spoilt"] = float64(c.spoilt.Load())
	return err
}

// misuse takes all steps when they are due, and returns how many seeds there were of all kinds
// together.
func (c *crew) misuse(f *finder) (seeded int) {
	view := c.Pool.View()
	random := rand.New(rand.NewPCG(4, uint64(c.Round))) // the same steps for each contender of a round
	began := kit.Now()
	for _, s := range sow(c.Seeds, c.Duration, c.Late, random) {
		if c.Pause(max(0, began+s.at-kit.Now())) {
			break
		}
		if !s.late {
			s.use(view, c.sizes[random.Uint64()%100])
			continue
		}
		f.begin(s.seed)
		s.misuse(view)
		f.end()
		seeded++
	}
	c.Pause(max(0, began+c.Duration-kit.Now()))
	return seeded
}

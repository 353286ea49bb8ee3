package workload

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
)

// Flood is more traffic than a bound allows.
var Flood = Scenario{
	Name: "flood",
	About: "a server under ten times the traffic that its bound allows: requests arrive by the clock, each in a goroutine of its own, which gets a block, writes all of it, holds it as long as a slow client takes, verifies it and puts it back. " +
		"dewpond has the bound as a Budget and refuses at once what goes beyond it; syncpool-bounded is syncpool-class behind a semaphore of the same bound. The others have no bound and admit all. " +
		"Shows the peak of resident memory, which share was refused, how many a second were served, and the time of those that were served, from the intended arrival to the end of Put. " +
		"Contenders clear only what they must.",
	Defaults: flooding(Spec{
		Open:       true,
		Goroutines: 4096, // 268 MB, should each of them hold a block
		Mix:        Mix{{64 << 10, 100}},
		Hold:       Hold{Wait: 100 * time.Millisecond},
		Limit:      16e6,
		Times:      10,
		Duration:   time.Second,
		Sample:     1,
	}),
	QuickRounds: 2,
	Holding:     true,
	Contenders:  []string{"nop", "make", "syncpool-class", "syncpool-bounded", "dewpond"},
	Drive:       runFlood,
}

// FloodRate returns the arrivals a second at which Times the Limit would be out at once if all were
// admitted and nothing but the hold took time.
func (s Spec) FloodRate() float64 {
	return s.Times * float64(s.Limit) / s.Mix.mean() / s.Hold.Wait.Seconds()
}

// flooding returns the spec with its rate.
func flooding(s Spec) Spec {
	s.Rate = s.FloodRate()
	return s
}

// A flood is a round of Flood. Its requests are goroutines that start when they arrive. Each has a
// worker meanwhile: the one that was free last, so that there are no more than it takes.
type flood struct {
	*crew
	refuser  contender.Refuser // nil: the pool admits all
	random   rand.PCG
	response *kit.Recorder
	requests sync.WaitGroup
	refused  atomic.Uint64

	mu   sync.Mutex
	free []*worker
}

func runFlood(j *Job) error {
	j.Pool = j.Fresh(contender.Options{Budget: dewpond.MustBudget("flood", j.Limit)})
	f := &flood{crew: emptyCrew(j), response: j.recorder("response")}
	f.refuser, _ = j.Pool.(contender.Refuser)
	f.random.Seed(3, uint64(j.Round)) // the same sizes for each contender of a round
	lag := j.recorder("lag")
	var admitted float64
	err := j.Measured(func() error {
		arrivals, dropped := f.generate(lag, f.arrive)
		admitted = arrivals - dropped
		f.requests.Wait()
		if err := f.failure.Load(); err != nil {
			return *err
		}
		return nil
	})
	f.count()
	if admitted > 0 {
		j.Result.Figures["refused_share"] = float64(f.refused.Load()) / admitted
		j.Result.Figures["served_per_sec"] = float64(j.Result.Ops) / j.Result.Seconds
	}
	return err
}

// arrive starts a request, unless as many as there may be are on their way.
func (f *flood) arrive(intended time.Duration) bool {
	w := f.worker()
	if w == nil {
		return false
	}
	size := f.sizes[f.random.Uint64()%100]
	f.requests.Go(func() {
		f.serve(w, intended, size)
		f.mu.Lock()
		f.free = append(f.free, w)
		f.mu.Unlock()
	})
	return true
}

// worker returns a worker that is free or new, or nil if there may be no more.
func (f *flood) worker() *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := len(f.free) - 1; last >= 0 {
		w := f.free[last]
		f.free = f.free[:last]
		return w
	}
	if len(f.workers) == f.Goroutines {
		return nil
	}
	return f.hire()
}

// serve answers a request. Only the time of one that is served counts.
func (f *flood) serve(w *worker, intended time.Duration, size int) {
	b, ok := f.get(w, size)
	if !ok {
		f.refused.Add(1)
		return
	}
	w.use(b.Bytes)
	w.view.Put(b)
	f.response.Record(w.number, kit.Now()-intended)
}

func (f *flood) get(w *worker, size int) (contender.Block, bool) {
	if f.refuser != nil {
		return f.refuser.TryGet(size)
	}
	return w.view.Get(size), true
}

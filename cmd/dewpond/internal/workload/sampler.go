package workload

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/internal/measure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

const (
	// points is into how many steps a sampler divides its stretch, and observe the
	// shortest step: a look takes some 0.1 ms, most of it for the kernel's word on
	// resident memory.
	points  = 100
	observe = 20 * time.Millisecond
)

// A Sampler looks at the process at equal intervals while a scenario runs, and
// whenever it is told to.
type Sampler struct {
	*Job
	gauges []Gauge
	cycles uint64 // collections before the first look
	began  time.Duration
	done   chan struct{}
	ended  chan struct{}

	mu     sync.Mutex // guards series and cycles
	series map[string][]result.Point
}

// A Gauge is something to look at, under the name of its series. Read may be called at
// any moment until stop.
type Gauge struct {
	Name string
	Read func() int64
}

// watchPool begins to record, over a stretch of about that length, what the pool keeps
// idle, where it can tell, what is out of it by the scenario's own count, what the
// process has resident, and how many collections there have been.
func (j *Job) watchPool(stretch time.Duration, inUse func() int64) *Sampler {
	var gauges []Gauge
	if idler, ok := j.Pool.(contender.Idler); ok {
		gauges = append(gauges, Gauge{"idle_bytes", idler.IdleBytes})
	}
	return j.Watch(stretch, append(gauges, Gauge{"in_use_bytes", inUse}))
}

// Watch begins to record gauges of the scenario's own, resident memory and collections.
func (j *Job) Watch(stretch time.Duration, gauges []Gauge) *Sampler {
	s := &Sampler{
		Job:    j,
		gauges: gauges,
		series: map[string][]result.Point{},
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	s.look() // the first costs more than those after it: it opens what they read
	clear(s.series)
	s.began = measure.Now()
	go s.run(max(stretch/points, observe))
	return s
}

// Stop ends it with a last look, and puts what it saw into the round.
func (s *Sampler) Stop() {
	close(s.done)
	<-s.ended
	s.look()
	s.Result.Series = s.series
}

// run looks at multiples of the interval; one for which the processor came too late
// is left out.
func (s *Sampler) run(interval time.Duration) {
	defer close(s.ended)
	for {
		s.look()
		now := measure.Now() - s.began
		select {
		case <-s.done:
			return
		case <-time.After(interval - now%interval):
		}
	}
}

// look adds a point to each series. A scenario calls it at the edges of a burst, which
// the interval might miss.
func (s *Sampler) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := (measure.Now() - s.began).Seconds()
	add := func(key string, value float64) {
		s.series[key] = append(s.series[key], result.Point{Seconds: at, Value: value})
	}
	for _, g := range s.gauges {
		add(g.Name, float64(g.Read()))
	}
	if rss := measure.RSS(); rss > 0 { // 0 where no system says
		add("rss_bytes", float64(rss))
	}
	cycles := measure.Collections()
	if len(s.series["collections"]) == 0 {
		s.cycles = cycles
	}
	add("collections", float64(cycles-s.cycles))
}

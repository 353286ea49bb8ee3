package workload

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

const (
	// points is the number of steps of a sampler, and observe the shortest step: a look takes
	// about 0.1 ms, most of it to ask the kernel for resident memory.
	points  = 100
	observe = 20 * time.Millisecond
)

// A Sampler looks at the process at equal intervals while a scenario runs, and whenever look
// is called.
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

// A Gauge is something to look at, under the name of its series. Read may be called until
// [Sampler.Stop] returns.
type Gauge struct {
	Name string
	Read func() int64
}

// watchPool starts to record, over about the given stretch of time, the idle bytes of a pool
// that reports them, the bytes in use by the scenario's own count, resident memory, and the
// number of collections.
func (j *Job) watchPool(stretch time.Duration, inUse func() int64) *Sampler {
	var gauges []Gauge
	if idler, ok := j.Pool.(contender.Idler); ok {
		gauges = append(gauges, Gauge{"idle_bytes", idler.IdleBytes})
	}
	return j.Watch(stretch, append(gauges, Gauge{"in_use_bytes", inUse}))
}

// Watch starts to record the given gauges, resident memory and collections.
func (j *Job) Watch(stretch time.Duration, gauges []Gauge) *Sampler {
	s := &Sampler{
		Job:    j,
		gauges: gauges,
		series: map[string][]result.Point{},
		done:   make(chan struct{}),
		ended:  make(chan struct{}),
	}
	s.look() // the first look takes longer than the others: it opens what they read
	clear(s.series)
	s.began = kit.Now()
	go s.run(max(stretch/points, observe))
	return s
}

// Stop takes a last look and stores the series in the round.
func (s *Sampler) Stop() {
	close(s.done)
	<-s.ended
	s.look()
	s.Result.Series = s.series
}

// run looks at multiples of the interval. It skips one for which it gets the processor too
// late.
func (s *Sampler) run(interval time.Duration) {
	defer close(s.ended)
	for {
		s.look()
		now := kit.Now() - s.began
		select {
		case <-s.done:
			return
		case <-time.After(interval - now%interval):
		}
	}
}

// look adds a point to each series. A scenario calls it at the edges of a burst, which the
// interval might miss.
func (s *Sampler) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := (kit.Now() - s.began).Seconds()
	add := func(key string, value float64) {
		s.series[key] = append(s.series[key], result.Point{Seconds: at, Value: value})
	}
	for _, g := range s.gauges {
		add(g.Name, float64(g.Read()))
	}
	if rss := kit.RSS(); rss > 0 { // 0 if the system does not report it
		add("rss_bytes", float64(rss))
	}
	cycles := kit.Collections()
	if len(s.series["collections"]) == 0 {
		s.cycles = cycles
	}
	add("collections", float64(cycles-s.cycles))
}

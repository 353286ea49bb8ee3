package scales

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
)

// What the collector must explain of what lies beyond P99: most of it where it is at fault, and
// next to nothing where it is not.
const (
	leastExplained = 0.8
	mostExplained  = 0.05
)

// An attributed target is one of which it is known how much the collector has to do with its tail.
type attributed struct {
	name   string
	path   string
	env    []string
	guilty bool // the collector
}

var attributedTargets = []attributed{
	{"makes garbage beside 30 MB", known.Garbage, []string{"GOGC=100"}, true},
	{"the same with GOGC=off", known.Garbage, []string{"GOGC=off"}, false},
	{"sleeps in 1 % of its requests", known.Sleeper, []string{"GOGC=100"}, false},
}

// quarter is how much of a target's capacity it is asked for.
const quarter = 0.25

// sleeperRate is of the target that hardly takes processors.
const sleeperRate = 500

// How long each target of Collector is run; the trace is of its middle half. Of the short time
// some 15 requests lie beyond P99, which is few for a verdict.
const (
	ShortAttribution = 6 * time.Second
	LongAttribution  = 20 * time.Second
)

// Collector prints how much of the tail the collector explains beside how much it has to do with
// it, and what the trace itself costs a target. Each target is run for so long.
func (s *Scales) Collector(ctx context.Context, each time.Duration) error {
	rows := [][]string{{"target", "rate", "service P99", "beyond P99 the collector explains", "true", ""}}
	var costs traceCost
	for _, a := range attributedTargets {
		r, one, err := s.attribute(ctx, a, each)
		if err != nil {
			return err
		}
		if a.path == known.Garbage && !a.guilty { // no collection disturbs the comparison
			costs = one
		}
		says, holds := explained(r.Attribution)
		truth, verdict := fmt.Sprintf("at most %s", figure.Percent(mostExplained)), "holds"
		if a.guilty {
			truth = fmt.Sprintf("at least %s", figure.Percent(leastExplained))
		}
		if !holds(a.guilty) {
			verdict = "DOES NOT"
		}
		rows = append(rows, []string{a.name, fmt.Sprintf("%.0f/s", r.Rate), cell(r.Session.Service.P99), says, truth, verdict})
	}
	if err := columns.Write(s.Out, rows); err != nil {
		return err
	}
	fmt.Fprintln(s.Out, costs)
	return nil
}

// explained returns what an attribution says of what lies beyond P99, and whether that is right.
// Where it cannot tell it blames nobody.
func explained(all []load.Attribution) (says string, holds func(guilty bool) bool) {
	if len(all) == 0 || all[0].CannotTell != "" {
		says = "cannot tell"
		if len(all) > 0 {
			says += ": " + all[0].CannotTell
		}
		return says, func(guilty bool) bool { return !guilty }
	}
	a := all[0]
	says = fmt.Sprintf("%s [%s, %s] of %d", figure.Percent(a.Explained), figure.Percent(a.Low), figure.Percent(a.High), a.Requests)
	return says, func(guilty bool) bool {
		if guilty {
			return a.Explained >= leastExplained
		}
		return a.Explained <= mostExplained
	}
}

// attribute runs one target with a trace.
func (s *Scales) attribute(ctx context.Context, a attributed, each time.Duration) (load.Result, traceCost, error) {
	s.Begin("a target that " + a.name)
	url, end, err := s.Target(ctx, a.env...)
	if err != nil {
		return load.Result{}, traceCost{}, err
	}
	defer end()
	rate := float64(sleeperRate)
	if a.path == known.Garbage {
		took, err := ask(ctx, url+known.Ready)
		if err != nil {
			return load.Result{}, traceCost{}, err
		}
		rate = quarter * float64(runtime.NumCPU()) / took.Seconds()
	}
	w := watch{ctx: ctx, url: url}
	w.interval(load.Result{})
	r, err := s.run(ctx, url, load.Request{URL: a.path}, load.Arrivals{Rate: rate, Duration: each}, load.HTTP1, load.Options{
		Pprof: url + "/debug/pprof", Interval: w.interval,
	})
	return r, w.cost(time.Duration(float64(each) * s.Scale)), err
}

// A watch looks at a target's processor time each second.
type watch struct {
	ctx context.Context
	url string

	mu    sync.Mutex
	ticks []tick
}

// A tick is one second of a run, and the target's processor time at its end.
type tick struct {
	result load.Result
	cpu    time.Duration
}

func (w *watch) interval(r load.Result) {
	cpu, err := ask(w.ctx, w.url+known.Cost)
	if err != nil {
		return // the run fails by itself where the target is gone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ticks = append(w.ticks, tick{r, cpu})
}

// A traceCost is what a request takes of a target while it is traced, and else.
type traceCost struct {
	traced, untraced part
}

// A part is the seconds of a run that are traced, or the others.
type part struct {
	cpu      time.Duration
	requests uint64
	service  *float64 // P50
}

// cost compares the seconds that the trace has whole with those that it has nothing of.
func (w *watch) cost(d time.Duration) traceCost {
	w.mu.Lock()
	defer w.mu.Unlock()
	var c traceCost
	var traced, untraced []load.Result
	from, to := d/4, 3*d/4
	for i := 1; i < len(w.ticks); i++ { // the first tick is from before the run
		begin, end := time.Duration(i-1)*time.Second, time.Duration(i)*time.Second
		cpu := w.ticks[i].cpu - w.ticks[i-1].cpu
		one := w.ticks[i].result
		switch {
		case begin >= from && end <= to:
			traced = append(traced, one)
			c.traced.add(cpu, one)
		case end <= d && (end <= from || begin >= to):
			untraced = append(untraced, one)
			c.untraced.add(cpu, one)
		}
	}
	c.traced.service, c.untraced.service = servedIn(traced), servedIn(untraced)
	return c
}

func (p *part) add(cpu time.Duration, r load.Result) {
	p.cpu += cpu
	p.requests += r.Finished
}

// servedIn is the median service time of all requests of those seconds, or nil if there are none.
func servedIn(seconds []load.Result) *float64 {
	if len(seconds) == 0 {
		return nil
	}
	return load.Merge(seconds...).Session.Service.P50
}

func (c traceCost) String() string {
	if c.traced.requests == 0 || c.untraced.requests == 0 {
		return "What the trace costs was not measured: the run was too short."
	}
	with, without := float64(c.traced.cpu)/float64(c.traced.requests), float64(c.untraced.cpu)/float64(c.untraced.requests)
	return fmt.Sprintf("While it is traced, a request takes %s of the target's processors and %s without: %s as much. Service P50 is %s and %s.",
		figure.Duration(with), figure.Duration(without), figure.Times(with/without), cell(c.traced.service), cell(c.untraced.service))
}

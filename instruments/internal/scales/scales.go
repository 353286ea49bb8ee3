// Package scales weighs the generator: it runs it on targets whose answers are known, beside what
// is true and beside other generators, and finds where it gives up.
package scales

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// Scales run the parts of calibrate.
type Scales struct {
	// Target starts a known target in a process of its own, with variables in its environment
	// beside the inherited ones.
	Target func(ctx context.Context, env ...string) (url string, end func(), err error)
	Scale  float64      // of all times; tests shorten them
	Begin  func(string) // told what begins
	Out    io.Writer
}

// run runs an action on a target, once for each arrival.
func (s *Scales) run(ctx context.Context, url string, do load.Action, a load.Arrivals, protocol load.Protocol, o load.Options) (load.Result, error) {
	a.Duration = time.Duration(float64(a.Duration) * s.Scale)
	a.Seed = 1
	r, err := load.Run(ctx, load.Scenario{
		Target: url, Arrivals: a, Session: []load.Step{{Name: "call", Do: do}},
		Protocols: []load.Share{{Protocol: protocol, Weight: 1}}, Connections: connections,
	}, o)
	if err == nil && r.Interrupted {
		err = load.ErrInterrupted
	}
	return r, err
}

// connections are as many as the stalling target has requests waiting, and some.
const connections = 128

// ask returns the nanoseconds that a target says.
func ask(ctx context.Context, url string) (time.Duration, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	return time.Duration(ns), err
}

// A weighing is one figure, measured and true.
type weighing struct {
	target, figure string
	measured       *float64
	truth          float64
}

// Weigh prints what was measured beside what is true.
func (s *Scales) Weigh(ctx context.Context) error {
	url, end, err := s.Target(ctx)
	if err != nil {
		return err
	}
	defer end()
	rows, err := s.weighings(ctx, url)
	if err != nil {
		return err
	}
	table := [][]string{{"target", "figure", "measured", "true", "measured to true"}}
	for _, r := range rows {
		table = append(table, []string{r.target, r.figure, cell(r.measured), truth(r.truth), ratio(r.measured, r.truth)})
	}
	return columns.Write(s.Out, table)
}

func cell(ns *float64) string {
	if ns == nil {
		return "-"
	}
	return figure.Duration(*ns)
}

// truth is a dash where nothing is known to be true.
func truth(ns float64) string {
	if ns == 0 {
		return "-"
	}
	return figure.Duration(ns)
}

func ratio(measured *float64, to float64) string {
	if measured == nil || to == 0 {
		return "-"
	}
	return figure.Significant(*measured / to)
}

// What the stalling target does to arrivals that the clock makes: a tenth of them waits, evenly up
// to 200 ms.
const (
	stallRate = 500
	stallP95  = 100e6
	stallP99  = 180e6
)

func (s *Scales) weighings(ctx context.Context, url string) ([]weighing, error) {
	s.Begin("a target that takes " + known.FixedTime.String())
	fixed, err := s.run(ctx, url, load.Request{URL: known.Fixed}, load.Arrivals{Rate: fixedRate, Duration: 3 * time.Second}, load.HTTP1, load.Options{})
	if err != nil {
		return nil, err
	}
	rows := []weighing{
		{"fixed 5 ms", "service P50", fixed.Session.Service.P50, float64(known.FixedTime)},
		{"fixed 5 ms", "response P50", fixed.Session.Response.P50, float64(known.FixedTime)},
	}

	s.Begin("a target that stalls")
	stalled, err := s.run(ctx, url, load.Request{URL: known.Stall}, load.Arrivals{Rate: stallRate, Duration: 3 * known.StallEvery}, load.HTTP1, load.Options{})
	if err != nil {
		return nil, err
	}
	rows = append(rows,
		weighing{"stall 200 ms in 2 s", "response P95", stalled.Session.Response.P95, stallP95},
		weighing{"stall 200 ms in 2 s", "response P99", stalled.Session.Response.P99, stallP99})

	s.Begin("a queue with four slots")
	const rate = 220
	queued, err := s.run(ctx, url, load.Request{URL: known.Queue}, load.Arrivals{Rate: rate, Process: load.Poisson, Duration: 7 * time.Second}, load.HTTP1, load.Options{})
	if err != nil {
		return nil, err
	}
	took, err := ask(ctx, url+known.QueueTook)
	if err != nil {
		return nil, err
	}
	return append(rows, queueRows(queueing.Queue{Rate: rate, Service: took, Slots: known.QueueSlots}, queued.Session.Response)...), nil
}

// queueRows compare a queue's response with the formula. On a busy machine its service can take so long
// that the queue has no steady state: then there is nothing true to hold the measured against.
func queueRows(q queueing.Queue, response *load.Times) []weighing {
	name := fmt.Sprintf("M/M/4, %s of service", figure.Duration(float64(q.Service)))
	if q.Stable() != nil {
		return []weighing{{target: name + ": no steady state, this machine is too busy", figure: "-"}}
	}
	return []weighing{
		{name, "response P50", response.P50, float64(q.Quantile(0.5))},
		{name, "response P95", response.P95, float64(q.Quantile(0.95))},
		{name, "response P99", response.P99, float64(q.Quantile(0.99))},
	}
}

// fixedRate is of the target that takes the same time for each request.
const fixedRate = 200

package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// modelCommand says what queueing theory expects of a service.
type modelCommand struct {
	Rate    command.Rate  `required:"" placeholder:"N/s" help:"Arrivals per second, such as 200/s."`
	Service time.Duration `required:"" placeholder:"TIME" help:"Mean service time of a request, without waiting."`
	Slots   int           `required:"" placeholder:"N" help:"Requests served at a time, such as connections to a database."`
	Shape   string        `default:"exponential" enum:"exponential,constant,lognormal,measured" help:"Distribution of the simulation's service times: exponential, constant, lognormal (sigma 1), or measured, from --result (default ${default})."`
	Result  string        `type:"path" placeholder:"RESULT.json" help:"A result written by --json, to show next to the model."`
	Seed    uint64        `default:"1" placeholder:"N" help:"Seed of the simulation (default ${default})."`
}

// simulated is how many arrivals the simulation has.
const simulated = 500_000

func (c *modelCommand) Run() error {
	q := queueing.Queue{Rate: float64(c.Rate), Service: c.Service, Slots: c.Slots}
	if !(c.Rate > 0) || c.Service <= 0 || c.Slots <= 0 || c.Slots > 100_000 {
		return command.UsageError{Err: errors.New("--rate, --service and --slots: give more than 0 each, and at most 100000 slots")}
	}
	var measured *load.Result
	if c.Result != "" {
		r, err := readResult(c.Result)
		if err != nil {
			return err
		}
		measured = &r
	}
	service, err := c.shape(measured)
	if err != nil {
		return err
	}
	fmt.Printf("%s/s on %s of %v: load %s\n\n", figure.Significant(q.Rate), figure.Several(c.Slots, "slot"), c.Service, figure.Significant(q.Load()))
	if err := q.Stable(); err != nil {
		fmt.Println(err)
		return nil
	}
	s := queueing.Simulate(q, service, simulated, c.Seed)
	rows := [][]string{{"", "Erlang C", "simulation, " + c.Shape}, {"waiting", figure.Percent(q.Waiting()), figure.Percent(s.Waiting())}}
	if measured != nil {
		rows[0] = append(rows[0], "measured")
	}
	row := func(name string, formula, simulation time.Duration, ns func(*load.Times) *float64) {
		cells := []string{name, figure.Duration(float64(formula)), figure.Duration(float64(simulation))}
		if measured != nil {
			cell := "-"
			if v := ns(measured.Session.Response); v != nil {
				cell = figure.Duration(*v)
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	row("mean", q.Mean(), s.Mean(), func(t *load.Times) *float64 { return &t.Mean })
	row("P50", q.Quantile(0.5), s.Quantile(0.5), func(t *load.Times) *float64 { return t.P50 })
	row("P99", q.Quantile(0.99), s.Quantile(0.99), func(t *load.Times) *float64 { return t.P99 })
	row("P999", q.Quantile(0.999), s.Quantile(0.999), func(t *load.Times) *float64 { return t.P999 })
	if err := columns.Write(os.Stdout, rows); err != nil {
		return err
	}
	use := q.Load()
	fmt.Printf("\nBeside it, one server with times of its own, whatever --service and --slots are: %v + %v x load / (1 - load)\nhas a mean of %s: %s of it is its queue.\n",
		publishedBase, publishedService, figure.Duration(float64(publishedBase)+publishedQueue(use)), figure.Duration(publishedQueue(use)))
	return nil
}

// The formula of an article on a service with a pool of connections, without its term for Redis: “Go
// Web服务性能压测实录(QPS突破12,800+):相亲网站高负载场景下的GC调优与连接池重构”, in English “A load test of a Go web
// service, past 12,800 requests a second: tuning the collector and rebuilding connection pools, on a dating site
// under high load”, whose address is not known.
const (
	publishedBase    = 12 * time.Millisecond
	publishedService = 8200 * time.Microsecond
)

// publishedQueue returns the formula's queue in nanoseconds.
func publishedQueue(load float64) float64 { return float64(publishedService) * load / (1 - load) }

func (c *modelCommand) shape(measured *load.Result) (queueing.Service, error) {
	switch c.Shape {
	case "constant":
		return queueing.Constant(c.Service), nil
	case "lognormal":
		return queueing.Lognormal(c.Service, 1), nil
	case "exponential":
		return queueing.Exponential(c.Service), nil
	}
	if measured == nil || measured.Session.Service.Samples == 0 {
		return nil, command.UsageError{Err: errors.New("--shape measured: also give --result FILE, of a run that finished sessions")}
	}
	h, err := hdrhistogram.Decode(measured.Session.Service.Histogram)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Result, err)
	}
	return queueing.Measured(h.ValueAtPercentile), nil
}

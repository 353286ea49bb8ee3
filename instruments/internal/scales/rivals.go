package scales

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/known"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load"
)

// A job is a known target at a known rate, which several tools are given.
type job struct {
	name string
	path string
	grpc bool
	rate int // a multiple of clients
	time time.Duration
	// What is true; 0 is not known.
	p50, p95, p99 float64
}

// clients is how many connections a tool has that lets each wait for its answer.
const clients = 10

var jobs = []job{
	{name: "stall 200 ms in 2 s", path: known.Stall, rate: stallRate, time: 2 * known.StallEvery, p95: stallP95, p99: stallP99},
	{name: "fixed 5 ms", path: known.Fixed, rate: fixedRate, time: 2 * time.Second, p50: float64(known.FixedTime)},
	{name: "stall, gRPC", grpc: true, rate: stallRate, time: 2 * known.StallEvery, p95: stallP95, p99: stallP99},
}

// quantiles are what a tool printed, in nanoseconds; what it does not print is absent.
type quantiles map[string]float64 // p50, p95, p99

// Rivals runs the other generators that are on the PATH on the same targets, in turns with this
// one, and prints the medians of the rounds. What could not end before the deadline is not run and
// said; a zero deadline is none.
func (s *Scales) Rivals(ctx context.Context, rounds int, deadline time.Time) error {
	url, end, err := s.Target(ctx)
	if err != nil {
		return err
	}
	defer end()
	var there []rival
	var absent []string
	for _, r := range rivals {
		if _, err := exec.LookPath(r.name); err != nil {
			absent = append(absent, r.name)
			continue
		}
		there = append(there, r)
	}
	if len(absent) > 0 {
		fmt.Fprintf(s.Out, "Not on the PATH: %s.\n", strings.Join(absent, ", "))
	}
	if len(there) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "dewload")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := contest{Scales: s, ctx: ctx, url: url, dir: dir, deadline: deadline}
	for round := range rounds {
		for _, j := range jobs {
			if err := c.turn(j, there, round); err != nil {
				return err
			}
		}
	}
	return c.write(there)
}

// A contest is some rounds of some tools.
type contest struct {
	*Scales
	ctx      context.Context
	url, dir string
	deadline time.Time
	rows     []*contestRow
	late     []string
}

// A contestRow is one tool on one target.
type contestRow struct {
	job, tool string
	rounds    []quantiles
}

func (c *contest) row(job, tool string) *contestRow {
	for _, r := range c.rows {
		if r.job == job && r.tool == tool {
			return r
		}
	}
	c.rows = append(c.rows, &contestRow{job: job, tool: tool})
	return c.rows[len(c.rows)-1]
}

// slack is how much longer than its load a tool may take, before the deadline.
const slack = time.Second

// turn runs every tool once on a target; each round begins with another one.
func (c *contest) turn(j job, there []rival, round int) error {
	j.time = max(time.Second, time.Duration(float64(j.time)*c.Scale)) // some tools count in seconds
	var runs []func() error
	for _, r := range there {
		if r.grpc == j.grpc && (r.steady || j.p50 == 0) {
			runs = append(runs, func() error { return c.rival(j, r) })
		}
	}
	if len(runs) == 0 {
		return nil
	}
	runs = append(runs, func() error { return c.own(j) })
	for i := range runs {
		if !c.deadline.IsZero() && time.Now().Add(j.time+slack).After(c.deadline) {
			c.late = append(c.late, j.name)
			return nil
		}
		if err := runs[(i+round)%len(runs)](); err != nil {
			return err
		}
	}
	return nil
}

// own runs this generator.
func (c *contest) own(j job) error {
	c.Begin("dewload on " + j.name)
	var do load.Action = load.Request{URL: j.path}
	if j.grpc {
		do = load.Procedure{Method: known.Call, JSON: map[string]any{"service": known.StallService}}
	}
	a := load.Arrivals{Rate: float64(j.rate), Duration: time.Duration(float64(j.time) / c.Scale)} // run scales it
	r, err := c.run(c.ctx, c.url, do, a, load.HTTP1, load.Options{})
	if err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		of   *load.Times
	}{{"dewload, response", r.Session.Response}, {"dewload, service", r.Session.Service}} {
		q := quantiles{}
		for name, v := range map[string]*float64{"p50": t.of.P50, "p95": t.of.P95, "p99": t.of.P99} {
			if v != nil {
				q[name] = *v
			}
		}
		row := c.row(j.name, t.name)
		row.rounds = append(row.rounds, q)
	}
	return nil
}

func (c *contest) rival(j job, r rival) error {
	c.Begin(r.name + " on " + j.name)
	args, err := r.args(j, c.url, c.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, j.time+longestStart)
	defer cancel()
	command := exec.CommandContext(ctx, r.name, args...)
	var out, errs bytes.Buffer
	command.Dir, command.Stdout, command.Stderr = c.dir, &out, &errs
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", r.name, err, strings.TrimSpace(errs.String()))
	}
	q, err := r.read(out.Bytes(), c.dir)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	row := c.row(j.name, r.name)
	row.rounds = append(row.rounds, q)
	return nil
}

// longestStart bounds what a tool may take beside its load.
const longestStart = time.Minute

// write prints a row for each tool, and why they differ.
func (c *contest) write(there []rival) error {
	table := [][]string{{"target", "tool", "P50", "P95", "P99", "rounds"}}
	ran := map[string]bool{}
	for _, j := range jobs {
		rows := slices.DeleteFunc(slices.Clone(c.rows), func(r *contestRow) bool { return r.job != j.name })
		if len(rows) == 0 {
			continue
		}
		slices.SortFunc(rows, func(a, b *contestRow) int { return strings.Compare(a.tool, b.tool) })
		table = append(table, []string{j.name, "true", ifKnown(j.p50), ifKnown(j.p95), ifKnown(j.p99), ""})
		for _, r := range rows {
			ran[r.tool] = true
			table = append(table, []string{j.name, r.tool, r.median("p50"), r.median("p95"), r.median("p99"), strconv.Itoa(len(r.rounds))})
		}
	}
	if err := columns.Write(c.Out, table); err != nil {
		return err
	}
	for _, r := range there {
		if ran[r.name] {
			fmt.Fprintf(c.Out, "%s: %s\n", r.name, r.why)
		}
	}
	if len(c.late) > 0 {
		fmt.Fprintf(c.Out, "Not all were run, for the minute is over: %s. --only rivals runs them.\n", strings.Join(slices.Compact(c.late), ", "))
	}
	return nil
}

func ifKnown(ns float64) string {
	if ns == 0 {
		return "-"
	}
	return figure.Duration(ns)
}

// median is of the rounds that have the quantile.
func (r *contestRow) median(name string) string {
	var all []float64
	for _, q := range r.rounds {
		if v, ok := q[name]; ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return figure.Duration(quantile.Median(all))
}

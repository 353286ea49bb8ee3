package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load"
	lines "github.com/dewpond/dewpond/instruments/load/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/proxy"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A soakCommand loads the service for long, and has its servers fail meanwhile.
type soakCommand struct {
	program
	Duration time.Duration `default:"1h" placeholder:"TIME" help:"Run for TIME, at least a minute (default ${default})."`
	Every    time.Duration `default:"1m" placeholder:"TIME" help:"Break something every TIME (default ${default})."`
	Rate     amount.Rate   `default:"200/s" placeholder:"N/s" help:"Start N sessions a second (default ${default})."`
}

// Help says what is done and judged.
func (soakCommand) Help() string {
	return `The service gets the sessions of dewload --example, on a PostgreSQL and a Redis with a replica that are its own. In turns a process of PostgreSQL is killed, so that it recovers, Redis stands still for 2 s, and its replica is cut off for 5 s.

At the end each session must be accounted for: finished, dropped, or failed with a reason. Memory, goroutines and file descriptors must be flat: the 95 % interval of their growth must not lie above 0 by more than 5 % of their median.`
}

// leastSoak is from when on there are enough samples for an interval.
const leastSoak = time.Minute

func (c *soakCommand) Run(ctx context.Context) (err error) {
	if c.Duration < leastSoak || c.Every <= 0 || !(c.Rate > 0) {
		return command.UsageError{Err: fmt.Errorf("--duration: give %v or more, and --every and --rate above 0", leastSoak)}
	}
	remove, err := c.build(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f, err := newFaults()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	s, err := c.start(ctx, []string{"--scorer=" + f.child.Scorer},
		"MATCHMAKER_POSTGRES="+f.servers.Postgres, "MATCHMAKER_REDIS="+f.redis, redisPassword+"="+f.servers.RedisSecret)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()

	scenario, err := s.sessions(load.Arrivals{Rate: float64(c.Rate), Process: load.Poisson, Duration: c.Duration, Seed: 1})
	if err != nil {
		return err
	}
	display := lines.NewDisplay(os.Stderr)
	display.Begin(fmt.Sprintf("%v at %.4g sessions a second; %s", c.Duration, c.Rate, f.about()))
	side := newSide(s.command.Process.Pid)
	watching, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { side.watch(watching) })
	beside.Go(func() { f.play(watching, c.Every, display.Begin) })
	r, err := load.Run(ctx, scenario, load.Options{Progress: display.Show, Metrics: "http://" + s.addresses.Admin + "/metrics"})
	stop()
	beside.Wait()
	display.Close()
	if err != nil {
		return err
	}
	for _, m := range r.Metrics {
		if m.Name == "goroutines" {
			side.series[m.Name] = m.Values
		}
	}
	return errors.Join(accounted(os.Stdout, &r, f.played), side.flat(os.Stdout), ctx.Err())
}

// accounted prints what became of the sessions, and returns an error if that does not add up.
func accounted(out io.Writer, r *load.Result, faults map[string]int) error {
	rows := [][]string{{"fault", "played"}}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		rows = append(rows, []string{name, strconv.Itoa(faults[name])})
	}
	if err := columns.Write(out, rows); err != nil {
		return err
	}
	fmt.Fprintf(out, "\noffered %d, finished %d, failed %d, dropped %d, cut %d\n", r.Offered, r.Finished, r.Failed, r.Dropped, r.Cut)
	reasons := uint64(0)
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		reasons += r.Errors[kind]
		fmt.Fprintf(out, "%d calls failed by %s, such as: %s\n", r.Errors[kind], kind, r.Messages[kind])
	}
	switch {
	case r.Offered != r.Started+r.Dropped || r.Started != r.Finished+r.Failed || r.Cut != 0 && !r.Interrupted:
		return errors.New("sessions are not accounted for")
	case r.Failed > reasons: // a session ends at its first error, and parallel calls may have several
		return fmt.Errorf("%d sessions failed, and there are %d reasons", r.Failed, reasons)
	case r.Errors[load.OtherFailed] > 0:
		return fmt.Errorf("%d calls failed for no known reason", r.Errors[load.OtherFailed])
	}
	return nil
}

// A side samples a process.
type side struct {
	pid    int
	series map[string][]float64
}

func newSide(pid int) *side { return &side{pid, map[string][]float64{}} }

func (s *side) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			dir := "/proc/" + strconv.Itoa(s.pid) + "/"
			if all, err := os.ReadDir(dir + "fd"); err == nil {
				s.add("descriptors", float64(len(all)))
			}
			text, _ := os.ReadFile(dir + "statm")
			if fields := strings.Fields(string(text)); len(fields) > 1 {
				if pages, err := strconv.ParseFloat(fields[1], 64); err == nil {
					s.add("resident bytes", pages*float64(os.Getpagesize()))
				}
			}
		}
	}
}

func (s *side) add(name string, v float64) { s.series[name] = append(s.series[name], v) }

// mostGrowth is how much of its median a series may surely grow in the whole soak.
const mostGrowth = 0.05

// flat prints how much each series grows from the first to the last, with the interval, and returns
// an error where that is surely too much.
func (s *side) flat(out io.Writer) error {
	if len(s.series) == 0 {
		fmt.Fprintln(out, "\nMemory, goroutines and descriptors: this system does not say.")
		return nil
	}
	rows := [][]string{{"", "median", "growth", "95 % interval"}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.series)) {
		median := quantile.Median(s.series[name])
		g, low, high := growth(s.series[name])
		if math.IsInf(low, 0) {
			rows = append(rows, []string{name, figure.Count(median), "-", "few samples"})
			continue
		}
		rows = append(rows, []string{name, figure.Count(median), figure.Count(g), fmt.Sprintf("[%s, %s]", figure.Count(low), figure.Count(high))})
		if low > mostGrowth*median {
			errs = append(errs, fmt.Errorf("%s are not flat: they grow by %s [%s, %s], and their median is %s", name, figure.Count(g), figure.Count(low), figure.Count(high), figure.Count(median)))
		}
	}
	fmt.Fprintln(out)
	return errors.Join(append(errs, columns.Write(out, rows))...)
}

// growth returns how much a straight line through the series rises from its first value to its last,
// without the first fifth, in which the service warms up, and the 95 % interval of that. It goes
// through the medians of twelve blocks: what one fault does for some seconds is in one of them.
func growth(all []float64) (rise, low, high float64) {
	const (
		blocks = 12
		t      = 2.228 // Student's, of 95 % and 10 degrees of freedom
	)
	all = all[len(all)/5:]
	if len(all) < blocks {
		return 0, math.Inf(-1), math.Inf(1)
	}
	var x, y [blocks]float64
	var sumX, sumY float64
	for i := range blocks {
		x[i] = (float64(i) + 0.5) / blocks
		y[i] = quantile.Median(slices.Clone(all[i*len(all)/blocks : (i+1)*len(all)/blocks]))
		sumX, sumY = sumX+x[i], sumY+y[i]
	}
	var xx, xy float64
	for i := range blocks {
		d := x[i] - sumX/blocks
		xx, xy = xx+d*d, xy+d*(y[i]-sumY/blocks)
	}
	rise = xy / xx
	var left float64
	for i := range blocks {
		e := y[i] - sumY/blocks - rise*(x[i]-sumX/blocks)
		left += e * e
	}
	half := t * math.Sqrt(left/(blocks-2)/xx)
	return rise, rise - half, rise + half
}

// faults are servers that fail.
type faults struct {
	servers *realserver.Servers
	child   *standin.Child
	cut     *proxy.Proxy // before the replica
	redis   string       // as the service is told
	primary *redis.Client
	played  map[string]int
}

func newFaults() (_ *faults, err error) {
	f := &faults{played: map[string]int{}}
	if f.servers, err = realserver.Start(realserver.Spec{Postgres: true, Regions: []string{store.East}, Replicas: 1}); err != nil {
		return nil, fmt.Errorf("soak needs a PostgreSQL and a Redis of its own: %w", err)
	}
	if f.child, err = standin.Start(standin.Spec{}); err != nil {
		return nil, errors.Join(err, f.servers.Close())
	}
	name, nodes, _ := strings.Cut(f.servers.Redis, "=")
	primary, replica, ok := strings.Cut(nodes, "+")
	if !ok {
		return nil, errors.Join(fmt.Errorf("%q has no replica", f.servers.Redis), f.child.Close(), f.servers.Close())
	}
	if f.cut, err = proxy.New(replica); err != nil {
		return nil, errors.Join(err, f.child.Close(), f.servers.Close())
	}
	f.redis = name + "=" + primary + "+" + f.cut.Addr()
	f.primary = redis.NewClient(&redis.Options{Addr: primary, Password: f.servers.RedisSecret})
	return f, nil
}

func (f *faults) about() string { return f.servers.AboutPostgres + "; " + f.servers.AboutRedis }

func (f *faults) close() error {
	f.cut.Close()
	return errors.Join(f.primary.Close(), f.child.Close(), f.servers.Close())
}

// play plays one fault after the other until ctx ends.
func (f *faults) play(ctx context.Context, every time.Duration, say func(string)) {
	all := []struct {
		name string
		play func(context.Context) error
	}{
		{"a process of PostgreSQL killed", f.killPostgres},
		{"Redis stands still", f.pauseRedis},
		{"the replica cut off", f.cutReplica},
	}
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		fault := all[i%len(all)]
		say(fault.name)
		if err := fault.play(ctx); err != nil {
			say(fault.name + ": not played: " + err.Error())
			continue
		}
		f.played[fault.name]++
	}
}

// killPostgres kills one process of the server as kill -9 does. The server then ends all others, and
// recovers.
func (f *faults) killPostgres(ctx context.Context) error {
	c, err := pgx.Connect(ctx, f.servers.Postgres)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) { // it has the password
			err = u.Err
		}
		return err
	}
	defer c.Close(ctx)
	pid := 0
	if err := c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func (f *faults) pauseRedis(ctx context.Context) error {
	return f.primary.Do(ctx, "CLIENT", "PAUSE", 2000, "ALL").Err()
}

func (f *faults) cutReplica(ctx context.Context) error {
	f.cut.Refuse(true)
	defer f.cut.Refuse(false)
	f.cut.Kill()
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
	}
	return nil
}

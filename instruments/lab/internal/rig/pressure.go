package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
)

// A pressureCommand has the service work beside memory that nobody needs, with features that go
// off where memory is scarce, and without.
type pressureCommand struct {
	Rate     amount.Rate   `default:"500/s" placeholder:"N/s" help:"Send N requests a second (default ${default})."`
	Limit    string        `default:"256MiB" placeholder:"BYTES" help:"Give the service a memory limit of BYTES (default ${default})."`
	Ballast  string        `default:"200MiB" placeholder:"BYTES" help:"Have the service take BYTES of memory that nobody needs (default ${default})."`
	Duration time.Duration `default:"15s" placeholder:"TIME" help:"Keep that memory for TIME (default ${default})."`

	program

	patience time.Duration // for features to come back; 0: 25 s
}

// Run measures and prints.
func (c *pressureCommand) Run(ctx context.Context) error { return c.pressure(ctx, plainly.Stdout) }

// A stretch is one row: the service under load, with ballast or without.
type stretch struct {
	load.Result
	account.Window
	off  []string      // features that were off in an answer
	back time.Duration // until answers said nothing of it, after the ballast was gone
}

func (c *pressureCommand) pressure(ctx context.Context, out io.Writer) (err error) {
	for flag, text := range map[string]string{"--limit": c.Limit, "--ballast": c.Ballast} {
		n, err := amount.Parse(text)
		if err == nil && n == 0 {
			err = errors.New("give bytes above 0, such as 200MiB")
		}
		if err != nil {
			return command.UsageError{Err: fmt.Errorf("%s: %w", flag, err)}
		}
	}
	if !(c.Rate > 0) || c.Duration <= 0 {
		return command.UsageError{Err: errors.New("give --rate and --duration above 0, such as 500 and 15s")}
	}
	if c.patience == 0 {
		c.patience = 25 * time.Second
	}
	remove, err := c.build(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	e := kit.Environment()
	fmt.Fprintf(out, "%s, %d processors, %s, %s, load average %.2f; stand-ins, %g requests a second, memory limit %s, ballast %s for %v.\n\n",
		e.Machine, e.CPUs, e.GoVersion, e.Time, e.LoadAverage[0], c.Rate, c.Limit, c.Ballast, c.Duration)
	rows := [][]string{{"degradation", "ballast", "requests", "failed", "P50", "P99", "peak RSS", "collections", "collector's share", "off", "back after"}}
	for _, degrade := range []string{"on", "off"} {
		with, without, err := c.turn(ctx, degrade)
		if err != nil {
			return err
		}
		rows = append(rows, without.row(degrade, "none"), with.row(degrade, c.Ballast))
	}
	return columns.Write(out, rows)
}

func (s stretch) row(degrade, ballast string) []string {
	shown := func(ns *float64) string {
		if ns == nil {
			return "-"
		}
		return time.Duration(*ns).Round(10 * time.Microsecond).String()
	}
	off, back := "-", "-"
	if len(s.off) > 0 {
		off, back = strings.Join(s.off, ", "), s.back.Round(100*time.Millisecond).String()
	}
	return []string{
		degrade, ballast, fmt.Sprint(s.Offered), fmt.Sprint(s.Failed + s.Dropped), shown(s.Session.Response.P50), shown(s.Session.Response.P99),
		fmt.Sprintf("%d MiB", s.Window.PeakRSS>>20), fmt.Sprint(s.Cycles), fmt.Sprintf("%.1f %%", 100*s.GCShare), off, back,
	}
}

// turn measures one service before and with the ballast.
func (c *pressureCommand) turn(ctx context.Context, degrade string) (with, without stretch, err error) {
	s, err := c.start(ctx, []string{"--memory-limit=" + c.Limit, "--degrade=" + degrade, "--faults"})
	if err != nil {
		return with, without, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	scenario := (&compareCommand{Connections: 64}).scenario(s.addresses.HTTP)
	scenario.Arrivals = load.Arrivals{Rate: float64(c.Rate), Process: load.Poisson, Warmup: min(time.Second, c.Duration), Duration: c.Duration, Seed: 1}
	if without.Result, without.Window, err = s.measured(ctx, scenario); err != nil {
		return with, without, err
	}
	if err := s.ballast(ctx, c.Ballast); err != nil {
		return with, without, err
	}
	over, seen := make(chan struct{}), make(chan []string)
	go func() { seen <- s.degraded(ctx, over) }()
	with.Result, with.Window, err = s.measured(ctx, scenario)
	close(over)
	with.off = <-seen
	if err != nil {
		return with, without, err
	}
	if err := s.ballast(ctx, "0"); err != nil {
		return with, without, err
	}
	with.back, err = c.recover(ctx, s, scenario, with.off)
	return with, without, err
}

// recover says how long answers say that something is off. The load goes on, for it is what has
// the collector run.
func (c *pressureCommand) recover(ctx context.Context, s *childService, scenario load.Scenario, off []string) (time.Duration, error) {
	if len(off) == 0 {
		return 0, nil
	}
	begun := time.Now()
	scenario.Arrivals.Warmup, scenario.Arrivals.Duration = 0, c.patience
	going, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { _, err := load.Run(going, scenario, load.Options{}); ended <- err }()
	for len(off) > 0 && time.Since(begun) < c.patience && ctx.Err() == nil {
		time.Sleep(lookEvery)
		if now, err := s.off(ctx); err == nil {
			off = now
		}
	}
	back := time.Since(begun)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return back, err
	}
	return back, ctx.Err()
}

// lookEvery is how often somebody asks what is degraded.
const lookEvery = 100 * time.Millisecond

// ballast sets the service's ballast.
func (s *childService) ballast(ctx context.Context, bytes string) error {
	if err := ask(ctx, http.MethodPost, "http://"+s.addresses.Admin+"/admin/ballast?bytes="+bytes, nil); err != nil {
		return fmt.Errorf("the ballast: %w", err)
	}
	return nil
}

// off asks for a match, which says what is degraded.
func (s *childService) off(ctx context.Context) ([]string, error) {
	var m struct{ Degraded []string }
	err := ask(ctx, http.MethodGet, "http://"+s.addresses.HTTP+"/api/v1/matches?uid=7", &m)
	return m.Degraded, err
}

// degraded gathers what was off until over is closed.
func (s *childService) degraded(ctx context.Context, over chan struct{}) (all []string) {
	for {
		off, _ := s.off(ctx) // an answer that does not come is counted by the load
		for _, f := range off {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
		select {
		case <-over:
			return all
		case <-time.After(lookEvery):
		}
	}
}

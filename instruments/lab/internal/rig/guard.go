package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// A guardCommand loads the service with guarded blocks and without at the same time, and compares what memory it
// needs.
type guardCommand struct {
	backendFlags

	Guard    string        `default:"touch" placeholder:"SETTING" help:"Give the guarded service DEWPOND_GUARD=SETTING, such as touch=100 (default ${default})."`
	Duration time.Duration `default:"1h" placeholder:"TIME" help:"Load the services for TIME, all rounds together (default ${default})."`
	Rounds   int           `default:"10" placeholder:"N" help:"Start the services N times (default ${default}). It takes six for a verdict."`
	Rate     amount.Rate   `default:"12/s" placeholder:"N/s" help:"Start N sessions a second at each service, of about five requests each (default ${default})."`

	program
}

// Help says what is done and judged.
func (guardCommand) Help() string {
	return `In each round three services begin anew and have the sessions of dewload --example, the same for all and at the same time: one with guarded blocks and two without, of which the second is the control. Once a second the memory of each that is resident is read from smaps_rollup; the mean of a round leaves out its first fifth.

It fails where a use after Put is reported, where nothing is sampled, and where the guarded service surely needs 1 % more memory: where the 95 % interval of the rounds lies above that. With DEWPOND_GUARD in its own environment the pools of the load, in this process, are guarded too, and what they report counts as well.`
}

// Run measures and prints.
func (c *guardCommand) Run(ctx context.Context) error {
	return c.guard(ctx, plainly.Stdout, os.Stderr)
}

// The services of a round.
const (
	without      = "without"
	withoutAgain = "without, again" // the control
	guarded      = "guarded"
)

// mostMore is how much more memory a service may need when it is guarded, as a share of it.
const mostMore = 0.01

// A guardSide is what was seen of a service in a round.
type guardSide struct {
	load.Result
	account.Window
	resident         []float64 // bytes, once a second
	goal             float64   // bytes of heap at which the collector would begin, at the end of the round
	samples, reports uint64
}

// mean is the resident memory of a round, without the first fifth, in which the service warms up.
func (s *guardSide) mean() float64 {
	late := s.resident[len(s.resident)/5:]
	sum := 0.0
	for _, v := range late {
		sum += v
	}
	return sum / float64(len(late))
}

func (c *guardCommand) guard(ctx context.Context, out, progress io.Writer) (err error) {
	if c.Rounds < 1 || !(c.Rate > 0) || c.Duration <= 0 {
		return command.UsageError{Err: errors.New("give --rounds 1 or more, and --rate and --duration above 0, such as 12 and 1h")}
	}
	if _, err := residentBytes(os.Getpid()); err != nil {
		return fmt.Errorf("this system does not say how much memory of a process is resident: %w", err)
	}
	region.Silence()
	backends := &compareCommand{backendFlags: c.backendFlags, program: c.program}
	t, most, end, err := backends.ready(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	c.program = backends.program
	begun := time.Now()
	var rounds []map[string]*guardSide
	var failed error
	for n := range c.Rounds {
		fmt.Fprintf(progress, "round %d of %d\n", n+1, c.Rounds)
		round, err := c.round(ctx, t, most/3, n)
		if err != nil {
			failed = err
			break // what was measured until then is shown
		}
		fmt.Fprintf(progress, "  %s: %s\n  %s: %s\n  %s: %s, %d samples, %d reports\n", without, figure.ByteSize(round[without].mean()),
			withoutAgain, figure.ByteSize(round[withoutAgain].mean()), guarded, figure.ByteSize(round[guarded].mean()), round[guarded].samples, round[guarded].reports)
		rounds = append(rounds, round)
	}
	if len(rounds) == 0 {
		return failed
	}
	e := kit.Environment()
	fmt.Fprintf(out, "%s, %d processors, %s, %s, load average %.2f; %s. %d rounds in %v, %s sessions a second at each of three services, DEWPOND_GUARD=%s.\n\n",
		e.Machine, e.CPUs, e.GoVersion, e.Time, e.LoadAverage[0], t.what, len(rounds), time.Since(begun).Round(time.Second), figure.Significant(float64(c.Rate)), c.Guard)
	own, setting := ownGuard()
	return errors.Join(failed, guardReport(out, rounds, own, setting), ctx.Err())
}

// round starts the services, in another order each time, and loads all at once.
func (c *guardCommand) round(ctx context.Context, t targets, connections, n int) (sides map[string]*guardSide, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v := variant.Warm(0)
	v.Open = min(v.Open, max(1, connections))
	args, environment := t.service(v)
	ways := []string{without, guarded, withoutAgain}
	ways = slices.Concat(ways[n%3:], ways[:n%3])
	services := map[string]*childService{}
	sides = map[string]*guardSide{}
	for _, way := range ways {
		setting := "off"
		if way == guarded {
			setting = c.Guard
		}
		s, failed := c.start(ctx, args, append(slices.Clone(environment), "DEWPOND_GUARD="+setting)...)
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", way, failed)
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		services[way], sides[way] = s, &guardSide{}
	}
	arrivals := load.Arrivals{Rate: float64(c.Rate), Process: load.Poisson, Duration: c.Duration / time.Duration(c.Rounds), Seed: uint64(n + 1)}
	var loads sync.WaitGroup
	for way, s := range services {
		loads.Go(func() {
			if err := s.sampled(ctx, arrivals, sides[way]); err != nil {
				cancel(fmt.Errorf("%s: %w", way, err))
			}
		})
	}
	over := make(chan struct{})
	go func() {
		loads.Wait()
		close(over)
	}()
	tick := time.NewTicker(min(time.Second, max(time.Millisecond, arrivals.Duration/10)))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-over:
			for way, side := range sides {
				if context.Cause(ctx) == nil && len(side.resident) == 0 {
					return nil, fmt.Errorf("%s: its resident memory was never read: give a longer --duration or fewer --rounds", way)
				}
			}
			return sides, context.Cause(ctx)
		case <-tick.C:
		}
		for j := range ways {
			way := ways[(i+j)%len(ways)]
			if rss, err := residentBytes(services[way].command.Process.Pid); err == nil {
				sides[way].resident = append(sides[way].resident, rss)
			}
		}
	}
}

// sampled loads a service, and asks it then how many of its Gets were sampled.
func (s *childService) sampled(ctx context.Context, arrivals load.Arrivals, side *guardSide) error {
	scenario, err := s.sessions(arrivals)
	if err != nil {
		return err
	}
	if side.Result, side.Window, err = s.measured(ctx, scenario); err != nil {
		return err
	}
	if side.Finished == 0 {
		return fmt.Errorf("no session was finished: %v", side.Messages)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addresses.Admin+"/metrics", nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	side.goal = summed(text, "go_memstats_next_gc_bytes")
	side.samples, side.reports = uint64(summed(text, "dewpond_guard_samples_total")), uint64(summed(text, "dewpond_violations_total"))
	return err
}

// summed adds up a metric, in Prometheus's text format, with whatever labels.
func summed(text []byte, name string) (sum float64) {
	for line := range bytes.Lines(text) {
		rest, ok := strings.CutPrefix(string(line), name)
		if !ok || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
			continue
		}
		if fields := strings.Fields(rest[strings.LastIndex(rest, "}")+1:]); len(fields) > 0 {
			v, _ := strconv.ParseFloat(fields[0], 64)
			sum += v
		}
	}
	return sum
}

// residentBytes is how much memory of a process is resident. statm has counters that are late by some pages for
// each processor.
func residentBytes(pid int) (float64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nRss:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " kB")
	kilobytes, err := strconv.ParseFloat(number, 64)
	return kilobytes * 1024, err
}

// ownGuard says what the guarded blocks of this process, which makes the load, have found.
func ownGuard() (all guardSide, setting string) {
	for pool := range dewpond.Pools() {
		s := pool.Stats()
		all.samples, all.reports = all.samples+s.Guard.Samples, all.reports+s.Violations
		if s.Name == "load" {
			setting = s.Guard.Setting
		}
	}
	return all, setting
}

// guardReport prints what the rounds have shown, and returns an error where that must not be.
func guardReport(out io.Writer, rounds []map[string]*guardSide, own guardSide, ownSetting string) error {
	rows := [][]string{{"service", "sessions finished", "failed", "mean RSS", "to without", "heap goal", "collections", "samples", "reports"}}
	total := map[string]guardSide{}
	for _, way := range []string{without, withoutAgain, guarded} {
		var sum guardSide
		mean := 0.0
		for _, round := range rounds {
			s := round[way]
			sum.Finished, sum.Failed, sum.Cycles = sum.Finished+s.Finished, sum.Failed+s.Failed+s.Dropped, sum.Cycles+s.Cycles
			sum.samples, sum.reports = sum.samples+s.samples, sum.reports+s.reports
			mean, sum.goal = mean+s.mean()/float64(len(rounds)), sum.goal+s.goal/float64(len(rounds))
		}
		total[way] = sum
		ratio := "-"
		if way != without {
			ratio = byHowMuch(residentRatio(rounds, way))
		}
		rows = append(rows, []string{way, fmt.Sprint(sum.Finished), fmt.Sprint(sum.Failed), figure.ByteSize(mean), ratio, figure.ByteSize(sum.goal), fmt.Sprint(sum.Cycles), fmt.Sprint(sum.samples), fmt.Sprint(sum.reports)})
	}
	errs := []error{columns.Write(out, rows)}
	fmt.Fprintf(out, "\nThe load, in this process: %d samples, %d reports; its pool's Stats.Guard.Setting is %s.\n", own.samples, own.reports, ownSetting)
	r := residentRatio(rounds, guarded)
	if r.Rounds < summary.VerdictRounds {
		fmt.Fprintf(out, "No verdict on %d rounds.\n", r.Rounds)
	} else if r.Low > 1+mostMore {
		errs = append(errs, fmt.Errorf("the guarded service surely needs more than %s more memory: %s", figure.Percent(mostMore), byHowMuch(r)))
	}
	if n := total[guarded].reports + own.reports; n > 0 {
		errs = append(errs, fmt.Errorf("%d uses after Put were reported", n))
	}
	if total[guarded].samples == 0 {
		errs = append(errs, errors.New("no Get of the guarded service was sampled"))
	}
	return errors.Join(errs...)
}

// residentRatio is of the mean memory of a service to that of the one without guarded blocks, by rounds.
func residentRatio(rounds []map[string]*guardSide, way string) result.Ratio {
	var quotients []float64
	for _, round := range rounds {
		quotients = append(quotients, round[way].mean()/round[without].mean())
	}
	return result.Ratio(summary.Interval(quotients))
}

// byHowMuch is a ratio that is near 1, as what it is more.
func byHowMuch(r result.Ratio) string {
	more := func(v float64) string { return fmt.Sprintf("%+.2f", 100*(v-1)) }
	return more(r.Median) + " % [" + more(r.Low) + ", " + more(r.High) + "]"
}

package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/load/queueing"

	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/comparison"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// A compareCommand measures each variant of the service.
type compareCommand struct {
	backendFlags

	Quick       bool     `help:"Run 2 rounds in place of 6, and give no verdict."`
	Connections int      `default:"64" placeholder:"N" help:"Run the closed loop with N users, each on a connection of its own (default ${default}). The publication has 4000, which takes three times as long."`
	Only        []string `placeholder:"NAME" help:"Measure the variant NAME, such as all or '+ db', and the variant before. Repeat the flag for more. The default is every variant." sep:"none"`
	JSON        string   `name:"json" type:"path" placeholder:"FILE" help:"Write all figures to FILE, as JSON."`
	Markdown    bool     `help:"Print the tables as Markdown."`

	program

	times times // of a turn; tests have shorter ones
}

// times are how long the parts of a turn are.
type times struct {
	warmup       time.Duration // of the open part
	closedWarmup time.Duration
	closed       time.Duration
	open         time.Duration // longer if P999 needs it, of all rounds
	openMost     time.Duration // but not longer than this, if it is set
}

// forP999 is how many requests a P999 is printed of, ten beyond it, and some more, for how many
// arrive is chance.
const forP999 = 10_400

// at returns the times for a throughput of so many users, and for a rate. A user of the closed part
// waits users/throughput for each answer: that long it takes until all are under way, and the part
// is at least twice as long.
func (t times) at(throughput float64, users int, rate float64, rounds int) times {
	waits := seconds(float64(users) / throughput)
	t.closedWarmup, t.closed = max(t.closedWarmup, waits), max(t.closed, 2*waits)
	t.open = max(t.open, min(seconds(forP999/rate/float64(rounds)), t.openMost))
	return t
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Run measures and prints.
func (c *compareCommand) Run(ctx context.Context) error {
	return c.compare(ctx, plainly.Stdout, os.Stderr)
}

// openFiles is what a process opens beside its connections.
const openFiles = 300

func (c *compareCommand) compare(ctx context.Context, out, progress io.Writer) (err error) {
	if c.Connections < 1 {
		return command.UsageError{Err: fmt.Errorf("--connections %d: give 1 or more, such as 64", c.Connections)}
	}
	if has, needs := kit.OpenFiles(), uint64(c.Connections)+openFiles; has > 0 && has < needs {
		return command.UsageError{Err: fmt.Errorf("--connections %d needs %d open files, and a process may have %d here: raise that, as with ulimit -n %d, or give --connections %d",
			c.Connections, needs, has, needs, max(1, int(has)-openFiles))}
	}
	if err := c.known(); err != nil {
		return command.UsageError{Err: err}
	}
	count := 6
	switch {
	case c.times != (times{}):
		count = 1
	case c.Quick:
		count, c.times = 2, times{300 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond, 1200 * time.Millisecond, 0}
	default:
		// Twelve variants are done in nine minutes.
		c.times = times{300 * time.Millisecond, 300 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 4200 * time.Millisecond}
	}
	var files outputs.Files[comparison.Report]
	if err := files.Open("--json", c.JSON, func(w io.Writer, r comparison.Report) error { return r.WriteJSON(w) }); err != nil {
		return err
	}
	if !slices.Contains([]string{"", auto, private, standIn}, c.Redis) {
		if _, err := region.Parse(c.Redis); err != nil {
			return command.UsageError{Err: fmt.Errorf("--redis: %w", err)}
		}
	}
	report := comparison.Report{Schema: comparison.Schema, Environment: kit.Environment(), Users: c.Connections, Rounds: count}
	t, most, end, err := c.ready(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	report.Backends, report.StandIn = t.what, t.standIn
	throughput, alone, err := c.calibrate(ctx, t, most, progress)
	if err != nil {
		return err
	}
	report.Connections = c.size(throughput, alone, most)
	report.Rate = max(1, 0.6*throughput)
	c.times = c.times.at(throughput, c.Connections, report.Rate, count)
	variants := chosen(variant.Variants(report.Connections, most), c.Only)
	byName := map[string]variant.Variant{}
	var names []string
	for _, v := range variants {
		byName[v.Name], names = v, append(names, v.Name)
	}
	var measured []comparison.Round
	for _, turn := range rounds.Interleave(names, count) {
		fmt.Fprintf(progress, "round %d of %d: %s\n", turn.Round+1, count, turn.Contender)
		r, err := c.turn(ctx, t, byName[turn.Contender], report.Rate, turn.Round)
		if err != nil {
			return fmt.Errorf("%s: %w", turn.Contender, err)
		}
		measured = append(measured, r)
	}
	report.Rows = comparison.Rows(variants, measured, c.Connections)
	report.Controls = comparison.Controls(measured)
	report.Words = comparison.Words(report.Rows, report.Controls)
	return errors.Join(files.Write(report), c.write(report, out))
}

// ready builds the service and starts what it stands on. most is how many connections the database takes. The
// caller calls end.
func (c *compareCommand) ready(ctx context.Context) (t targets, most int, end func() error, err error) {
	remove, err := c.build(ctx)
	if err != nil {
		return t, 0, nil, err
	}
	if t, err = c.targets(); err != nil {
		return t, 0, nil, errors.Join(err, remove())
	}
	end = func() error { return errors.Join(t.close(), remove()) }
	if most, err = t.most(ctx); err != nil {
		return t, 0, nil, errors.Join(err, end())
	}
	return t, most, end, nil
}

// calibrations is how many turns the rate for all is of.
const calibrations = 3

// calibrate measures the first variant alone, which gives the rate for all, and what the pool model
// needs. It returns the median of some turns, after one with cold backends that does not count.
func (c *compareCommand) calibrate(ctx context.Context, t targets, most int, progress io.Writer) (throughput float64, middle comparison.Round, err error) {
	var turns []comparison.Round
	for range 1 + calibrations {
		fmt.Fprintln(progress, "first, before alone, for the rate of all")
		r, err := c.turn(ctx, t, variant.Variants(most, most)[0], 0, 0)
		if err != nil {
			return 0, r, err
		}
		turns = append(turns, r)
	}
	return median(turns[1:])
}

// median returns the turn whose throughput is the median of all, and that in requests a second.
func median(turns []comparison.Round) (throughput float64, middle comparison.Round, err error) {
	of := func(r comparison.Round) float64 { return float64(r.Closed.Finished) / r.Closed.Seconds }
	slices.SortFunc(turns, func(a, b comparison.Round) int { return cmp.Compare(of(a), of(b)) })
	middle = turns[len(turns)/2]
	if middle.Closed.Finished == 0 {
		return 0, middle, fmt.Errorf("the service answers no request: %v", middle.Closed.Messages)
	}
	return of(middle), middle, nil
}

// known returns an error if a variant is asked for that is none.
func (c *compareCommand) known() error {
	var names []string
	for _, v := range variant.Variants(1, 1) {
		names = append(names, v.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--only %q: the variants are %s", name, strings.Join(names, "; "))
		}
	}
	return nil
}

// chosen returns the first of all and those of the names, or all if there are no names.
func chosen(all []variant.Variant, names []string) []variant.Variant {
	if len(names) == 0 {
		return all
	}
	out := all[:1:1]
	for _, v := range all[1:] {
		if slices.Contains(names, v.Name) {
			out = append(out, v)
		}
	}
	return out
}

// size is what queueing says of the connections to the database: the fewest at which one
// loan in a hundred waits, at twice before's rate, for the measures are to make it faster.
func (c *compareCommand) size(throughput float64, r comparison.Round, most int) int {
	db := r.InClosed.Store
	if db.Acquired == 0 {
		return most
	}
	hold := db.HeldTime / time.Duration(db.Acquired)
	return queueing.Slots(2*throughput, hold, 0.01, most)
}

func (c *compareCommand) write(r comparison.Report, out io.Writer) error {
	if c.Markdown {
		return r.WriteMarkdown(out)
	}
	return r.WriteText(out)
}

// targets are the backends of all turns, in a process of their own.
type targets struct {
	child                   *standin.Child
	servers                 *realserver.Servers
	postgres, redis, scorer string
	redisSecret             string
	what                    string
	standIn                 bool
	elsewhere               bool // some are not this command's own
}

// close ends what was started.
func (t targets) close() error { return errors.Join(t.child.Close(), t.servers.Close()) }

// used is the processor time of all backends so far, or -1 if it is not known.
func (t targets) used() time.Duration {
	if t.elsewhere {
		return -1
	}
	pids := []int{t.child.PID()}
	if pid, ok := t.servers.PID(); ok {
		pids = append(pids, pid)
	}
	return usedBy(pids...)
}

func (c *compareCommand) targets() (targets, error) {
	regions := []string{store.East, store.West}
	servers, err := privately(&c.Postgres, &c.Redis, realserver.Spec{Regions: regions, Replicas: 1})
	if err != nil {
		return targets{}, err
	}
	spec := standin.Spec{Postgres: c.Postgres == standIn}
	if c.Redis == standIn {
		spec.Regions = regions
	}
	child, err := standin.Start(spec)
	if err != nil {
		return targets{}, errors.Join(err, servers.Close())
	}
	t := targets{child: child, servers: servers, postgres: c.Postgres, redis: c.Redis, scorer: child.Scorer, standIn: spec.Postgres || spec.Regions != nil}
	t.elsewhere = !spec.Postgres && servers.Postgres == "" || spec.Regions == nil && servers.Redis == ""
	postgres := "" // a DSN has secrets
	if spec.Postgres {
		t.postgres, postgres = child.Postgres, standIn
	}
	t.redisSecret = cmp.Or(servers.RedisSecret, os.Getenv(redisPassword))
	if spec.Regions != nil {
		t.redis, t.redisSecret = child.Redis, ""
	}
	t.what = about(servers.AboutPostgres, postgres, "PostgreSQL") + "; " + about(servers.AboutRedis, c.Redis, "Redis") + "; scorer stand-in"
	return t, nil
}

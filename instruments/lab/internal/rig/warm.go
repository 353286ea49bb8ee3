package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// A warmCommand measures the service from the moment on at which it says that it is ready.
type warmCommand struct {
	backendFlags

	Idle   int         `default:"16" placeholder:"N" help:"Start the service with --db-min-idle N and --redis-min-idle N, and without (default ${default})."`
	Rate   amount.Rate `default:"300/s" placeholder:"N/s" help:"Send N requests a second (default ${default})."`
	Rounds int         `default:"10" placeholder:"N" help:"Start the service N times in each way, in turns (default ${default}). It takes six for a verdict."`

	program

	span time.Duration // of what is called a second; tests have a shorter one
}

// Run measures and prints.
func (c *warmCommand) Run(ctx context.Context) error { return c.warm(ctx, plainly.Stdout, os.Stderr) }

// The ways to start the service.
const (
	cold   = "none"
	warmed = "warm"
)

// A start is one start of the service: the first second of it, and the second one.
type start struct {
	first, second load.Result
	inFirst       account.Window
	redis         int64 // connections that all Redis servers took in the first second; -1 where they do not say
}

func (c *warmCommand) warm(ctx context.Context, out, progress io.Writer) (err error) {
	switch {
	case c.Idle < 1 || c.Idle > variant.MostIdle:
		return command.UsageError{Err: fmt.Errorf("--idle %d: give 1 to %d, such as 16", c.Idle, variant.MostIdle)}
	case !(c.Rate > 0) || c.Rounds < 1:
		return command.UsageError{Err: errors.New("give --rate above 0, such as 300, and --rounds 1 or more")}
	case c.span == 0:
		c.span = time.Second
	}
	region.Silence()
	backends := &compareCommand{backendFlags: c.backendFlags, program: c.program}
	t, _, end, err := backends.ready(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	c.program = backends.program
	nodes, err := t.redisNodes(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.close()) }()
	// The first start finds cold backends, and a database without a schema: it does not count.
	fmt.Fprintln(progress, "first, without, for the backends")
	if _, err := c.begin(ctx, t, nodes, cold, 0); err != nil {
		return err
	}
	starts := map[string][]start{}
	for _, turn := range rounds.Interleave([]string{cold, warmed}, c.Rounds) {
		fmt.Fprintf(progress, "round %d of %d: %s\n", turn.Round+1, c.Rounds, turn.Contender)
		s, err := c.begin(ctx, t, nodes, turn.Contender, turn.Round)
		if err != nil {
			return err
		}
		starts[turn.Contender] = append(starts[turn.Contender], s)
	}
	e := kit.Environment()
	fmt.Fprintf(out, "%s, %d processors, %s, %s, load average %.2f; %s. %d starts in each way, %s requests a second from readiness on.\n\n",
		e.Machine, e.CPUs, e.GoVersion, e.Time, e.LoadAverage[0], t.what, c.Rounds, figure.Significant(float64(c.Rate)))
	if err := columns.Write(out, c.table(starts)); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, line := range warmWords(starts) {
		fmt.Fprintln(out, line)
	}
	if spoiled := spoiledStarts(starts); len(spoiled) > 0 {
		return &command.Ending{Text: "not valid: " + strings.Join(spoiled, "; "), Code: 4}
	}
	return ctx.Err()
}

// begin starts the service and asks it for a second, and for another.
func (c *warmCommand) begin(ctx context.Context, t targets, nodes redisNodes, way string, round int) (b start, err error) {
	v := variant.Warm(0)
	if way == warmed {
		v = variant.Warm(c.Idle)
	}
	args, environment := t.service(v)
	s, err := c.start(ctx, args, environment...)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	scenario := (&compareCommand{Connections: 64}).scenario(s.addresses.HTTP)
	scenario.Arrivals = load.Arrivals{Rate: float64(c.Rate), Process: load.Poisson, Duration: c.span, Seed: uint64(round)}
	before := nodes.taken(ctx)
	if b.first, b.inFirst, err = s.measured(ctx, scenario); err != nil {
		return b, err
	}
	if b.redis = nodes.taken(ctx); before >= 0 && b.redis >= 0 {
		b.redis -= before
	}
	scenario.Arrivals.Seed += 1 << 20
	if b.second, _, err = s.measured(ctx, scenario); err != nil {
		return b, err
	}
	return b, ctx.Err()
}

func (c *warmCommand) table(starts map[string][]start) [][]string {
	rows := [][]string{{"idle connections", "first second: P50", "P99", "longest", "failed", "PostgreSQL: made", "waited for one", "Redis: made", "second second: P50", "P99", "longest"}}
	for _, way := range []string{cold, warmed} {
		var first, second []load.Result
		var made, waited, redis int64
		for _, s := range starts[way] {
			first, second = append(first, s.first), append(second, s.second)
			made, waited = made+s.inFirst.Store.Made, waited+s.inFirst.Store.Waited
			redis += s.redis
		}
		ofRedis := "?"
		if redis >= 0 {
			ofRedis = figure.Significant(float64(redis) / float64(max(1, len(first))))
		}
		one, two := load.Merge(first...), load.Merge(second...)
		name := cold
		if way == warmed {
			name = fmt.Sprint(c.Idle)
		}
		each := func(n int64) string { return figure.Significant(float64(n) / float64(max(1, len(first)))) }
		rows = append(rows, []string{
			name, quantileOf(one.Session.Response.P50), quantileOf(one.Session.Response.P99), figure.Duration(one.Session.Response.Max), fmt.Sprint(one.Failed + one.Dropped), each(made), each(waited), ofRedis,
			quantileOf(two.Session.Response.P50), quantileOf(two.Session.Response.P99), figure.Duration(two.Session.Response.Max),
		})
	}
	return rows
}

// quantileOf is a quantile, which there is none of few samples.
func quantileOf(ns *float64) string {
	if ns == nil {
		return "few samples"
	}
	return figure.Duration(*ns)
}

// warmWords say what warm connections do to the first second, beside what they do to the next, where they are
// of no use.
func warmWords(starts map[string][]start) (out []string) {
	ratio := func(of func(start) float64) (result.Ratio, bool) {
		var quotients []float64
		for i := range min(len(starts[cold]), len(starts[warmed])) {
			if a, b := of(starts[warmed][i]), of(starts[cold][i]); a > 0 && b > 0 {
				quotients = append(quotients, a/b)
			}
		}
		return result.Ratio(summary.Interval(quotients)), len(quotients) > 0
	}
	say := func(what string, first, second func(start) float64) {
		r, ok := ratio(first)
		if !ok {
			return
		}
		text := fmt.Sprintf("%s of the first second with warm connections is %s of that without", what, figure.Bracketed(r))
		again, ok := ratio(second)
		if ok {
			text += fmt.Sprintf("; of the second second, the control, %s", figure.Bracketed(again))
		}
		switch side := verdict.OfRepeated(r, again, false); side {
		case verdict.None:
			text += fmt.Sprintf(": no verdict on %d starts.", r.Rounds)
		case verdict.Better, verdict.Worse:
			text += fmt.Sprintf(": %s.", side)
		case verdict.Unseen:
			text += ": the control shows as much."
		default:
			text += ": it cannot be told apart."
		}
		out = append(out, text)
	}
	worst := func(r load.Result) float64 { return r.Session.Response.Max }
	say("The longest response", func(s start) float64 { return worst(s.first) }, func(s start) float64 { return worst(s.second) })
	mean := func(r load.Result) float64 { return r.Session.Response.Mean }
	say("The mean response", func(s start) float64 { return mean(s.first) }, func(s start) float64 { return mean(s.second) })
	return out
}

// spoiledStarts are those of which the generator has spoiled the figures, and how.
func spoiledStarts(starts map[string][]start) (spoiled []string) {
	for _, way := range []string{cold, warmed} {
		for i, s := range starts[way] {
			if !s.first.Valid {
				spoiled = append(spoiled, fmt.Sprintf("start %d with %s: %s", i+1, way, strings.Join(s.first.Why, ", ")))
			}
		}
	}
	return spoiled
}

package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load/queueing"

	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// A poolsCommand shows what the bounds of a pool of connections do.
type poolsCommand struct {
	Rate     amount.Rate   `default:"300/s" placeholder:"N/s" help:"Ask the pool for N connections a second (default ${default})."`
	Hold     time.Duration `default:"10ms" placeholder:"TIME" help:"Hold each connection for TIME on average, exponentially distributed (default ${default})."`
	Open     int           `default:"50" placeholder:"N" help:"Open at most N connections (default ${default})."`
	Idle     int           `default:"20" placeholder:"N" help:"Keep at most N idle connections (default ${default})."`
	Lifetime time.Duration `default:"30m" placeholder:"TIME" help:"Close a connection that is older than TIME (default ${default})."`
	Duration time.Duration `default:"10s" placeholder:"TIME" help:"Measure each row for TIME, and for twice as long where callers wait (default ${default}). Three rows are measured at once."`
	Patience time.Duration `default:"500ms" placeholder:"TIME" help:"Give up on a connection after waiting for TIME (default ${default})."`
}

// Run prints the table.
func (c *poolsCommand) Run(ctx context.Context) error { return c.pools(ctx, plainly.Stdout) }

// published is the reuse that [experiment.MatchMaking] has of 50 open, 20 idle and 30 minutes at 300
// loans a second.
const published = 0.87

// A poolRow is one pool, simulated and measured.
type poolRow struct {
	pool      queueing.Pool
	simulated queueing.Simulation
	measured  measuredPool
}

func (c *poolsCommand) pools(ctx context.Context, out io.Writer) error {
	if !(c.Rate > 0) || c.Hold <= 0 || c.Open < 1 || c.Idle < 1 || c.Idle > c.Open || c.Lifetime < 0 || c.Duration <= 0 || c.Patience <= 0 {
		return command.UsageError{Err: errors.New("give --rate, --hold, --duration and --patience above 0, --idle from 1 to --open, and --lifetime 0 or more")}
	}
	child, err := standin.Start(standin.Spec{Postgres: true, NoScorer: true, Service: c.Hold, Most: 10_000})
	if err != nil {
		return err
	}
	defer child.Close()
	dial, err := dialing(ctx, child.Postgres)
	if err != nil {
		return err
	}
	rows := c.rows()
	fmt.Fprintf(out, "A pool of connections at %.0f loans a second of %v: %.2f are busy in the mean. A connection takes %v to be made.\n", c.Rate, c.Hold, c.busy(), dial.Round(10*time.Microsecond))
	fmt.Fprintln(out, "Measured is database/sql on the stand-in, which takes that time for a statement; the simulation has the mean that was measured.")
	turns := make(chan struct{}, 3)
	var measuring sync.WaitGroup
	failures := make([]error, len(rows))
	for i := range rows {
		measuring.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			r := &rows[i]
			if r.measured, failures[i] = c.measureAll(ctx, child.Postgres, r.pool, uint64(i)); failures[i] != nil {
				return
			}
			r.simulated = r.pool.Simulate(c.load(r.measured.hold, dial), 200_000, 1)
		})
	}
	measuring.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	if err := errors.Join(c.table(out, rows), c.sensitivity(out, dial)); err != nil {
		return err
	}
	return ctx.Err()
}

// busy is how many connections are in use, in the mean.
func (c *poolsCommand) busy() float64 { return float64(c.Rate) * c.Hold.Seconds() }

// rows are the base, and what lies around it.
func (c *poolsCommand) rows() []poolRow {
	base := queueing.Pool{Open: c.Open, Idle: c.Idle, Lifetime: c.Lifetime}
	rows := []poolRow{{pool: base}}
	busy := int(c.busy()) + 1
	for _, open := range []int{busy + 1, busy + 3} {
		if open < c.Open {
			rows = append(rows, poolRow{pool: queueing.Pool{Open: open, Idle: min(open, c.Idle), Lifetime: c.Lifetime}})
		}
	}
	for _, idle := range []int{2, busy + 1, c.Open} {
		if idle != c.Idle && idle <= c.Open {
			rows = append(rows, poolRow{pool: queueing.Pool{Open: c.Open, Idle: idle, Lifetime: c.Lifetime}})
		}
	}
	for _, lifetime := range []time.Duration{time.Second, 3 * time.Second} {
		rows = append(rows, poolRow{pool: queueing.Pool{Open: c.Open, Idle: c.Idle, Lifetime: lifetime}})
	}
	return rows
}

func (c *poolsCommand) load(hold, dial time.Duration) queueing.Demand {
	return queueing.Demand{Rate: float64(c.Rate), Hold: queueing.Exponential(hold), Dial: dial, Patience: c.Patience}
}

// dialing is how long it takes to make a connection.
func dialing(ctx context.Context, dsn string) (time.Duration, error) {
	var all []time.Duration
	for range 20 {
		begun := time.Now()
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return 0, err
		}
		all = append(all, time.Since(begun))
		c.Close(ctx)
	}
	slices.Sort(all)
	return quantile.Of(all, 0.5), nil
}

// A measuredPool is what a pool did, or several equal ones together.
type measuredPool struct {
	store.PoolStats
	hold    time.Duration   // mean
	seconds float64         // of all pools
	waits   []time.Duration // sorted
}

func (m measuredPool) p99() time.Duration {
	if len(m.waits) < 1000 {
		return -1
	}
	return quantile.Of(m.waits, 0.99)
}

// Loans that wait come in bunches, so the P99 of a few thousand waits can be off by half. Where
// loans have to wait, so many equal pools are measured at once, and for twice as long: then it is
// off by an eighth at most, nearly always.
const equalPools = 8

// measureAll lends from one pool, or from several that have loads of their own.
func (c *poolsCommand) measureAll(ctx context.Context, dsn string, p queueing.Pool, seed uint64) (measuredPool, error) {
	if p.Open == c.Open {
		return c.measure(ctx, dsn, p, seed, c.Duration)
	}
	var (
		measuring sync.WaitGroup
		each      [equalPools]measuredPool
		failures  [equalPools]error
		all       measuredPool
	)
	for i := range each {
		measuring.Go(func() {
			each[i], failures[i] = c.measure(ctx, dsn, p, seed+uint64(100*i), 2*c.Duration)
		})
	}
	measuring.Wait()
	for _, m := range each {
		all.Acquired += m.Acquired
		all.Made += m.Made
		all.Waited += m.Waited
		all.TimedOut += m.TimedOut
		all.hold += m.hold / equalPools
		all.seconds += m.seconds
		all.waits = append(all.waits, m.waits...)
	}
	slices.Sort(all.waits)
	return all, errors.Join(failures[:]...)
}

func (c *poolsCommand) measure(ctx context.Context, dsn string, p queueing.Pool, seed uint64, duration time.Duration) (m measuredPool, err error) {
	o := store.PoolOptions{Client: store.PgxSQL, MaxOpen: p.Open, MaxIdle: p.Idle, MaxLifetime: p.Lifetime, Health: "off", Timeout: c.Patience}
	if err := o.Validate(); err != nil {
		return m, err
	}
	s, err := store.Open(ctx, dsn, o)
	if err != nil {
		return m, err
	}
	defer s.Close()
	var (
		r       = rand.New(rand.NewPCG(seed, 2))
		due     = time.Now()
		warm    = due.Add(duration / 10)
		end     = warm.Add(duration)
		before  store.PoolStats
		begun   time.Time
		loans   sync.WaitGroup
		mu      sync.Mutex
		failure error
	)
	for ctx.Err() == nil && due.Before(end) {
		due = due.Add(time.Duration(r.ExpFloat64() / float64(c.Rate) * 1e9))
		time.Sleep(time.Until(due))
		counts := due.After(warm)
		if counts && begun.IsZero() {
			begun, before = time.Now(), s.PoolStats()
		}
		loans.Go(func() {
			var t store.Times
			_, err := s.User(store.WithTimes(ctx, &t), 7)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				failure = err
			}
			if err == nil && counts {
				m.waits = append(m.waits, t.Wait)
			}
		})
	}
	loans.Wait()
	after := s.PoolStats()
	if begun.IsZero() || failure != nil || after.Acquired+after.TimedOut == before.Acquired+before.TimedOut {
		return m, errors.Join(errors.New("the pool was not measured"), failure, ctx.Err())
	}
	m.seconds = time.Since(begun).Seconds()
	m.PoolStats = after
	m.Acquired -= before.Acquired
	m.Made -= before.Made
	m.Waited -= before.Waited
	m.TimedOut -= before.TimedOut
	if m.hold = c.Hold; m.Acquired > 0 { // else all have timed out
		m.hold = (after.HeldTime - before.HeldTime) / time.Duration(m.Acquired)
	}
	slices.Sort(m.waits)
	return m, nil
}

func (c *poolsCommand) table(out io.Writer, rows []poolRow) error {
	fmt.Fprintln(out)
	cells := [][]string{{
		"open/idle/lifetime", "load", "reuse, simulated", "measured", "made/s, simulated", "measured",
		"waiting, simulated", "measured", "P99 wait, simulated", "measured", "timed out, simulated", "measured",
	}}
	for _, r := range rows {
		s, m := r.simulated, r.measured
		p99 := "few samples"
		if m.p99() >= 0 {
			p99 = m.p99().Round(10 * time.Microsecond).String()
		}
		cells = append(cells, []string{
			fmt.Sprintf("%d/%d/%v", r.pool.Open, r.pool.Idle, r.pool.Lifetime), fmt.Sprintf("%.2f", float64(c.Rate)*m.hold.Seconds()/float64(r.pool.Open)),
			fmt.Sprintf("%.3f", s.Reuse()), fmt.Sprintf("%.3f", m.Reuse()),
			fmt.Sprintf("%.2f", s.MadePerSecond()), fmt.Sprintf("%.2f", float64(m.Made)/m.seconds),
			fmt.Sprintf("%.4f", s.Waiting()), fmt.Sprintf("%.4f", float64(m.Waited)/float64(m.Acquired+m.TimedOut)),
			s.Wait(0.99).Round(10 * time.Microsecond).String(), p99,
			fmt.Sprintf("%d of %d", s.TimedOut, s.Served+s.TimedOut), fmt.Sprintf("%d of %d", m.TimedOut, m.Acquired+m.TimedOut),
		})
	}
	if err := columns.Write(out, cells); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s, says %.0f %% reuse of 50 open, 20 idle and 30m at 300 a second. Steady arrivals do not give that: here it is %.1f %% simulated and %.1f %% measured.\n",
		experiment.MatchMaking, 100*published, 100*rows[0].simulated.Reuse(), 100*rows[0].measured.Reuse())
	fmt.Fprintln(out, "It takes 1/lifetime for a rate at which connections end. It is none: a connection is closed when it is one certain age, not at any time.")
	return nil
}

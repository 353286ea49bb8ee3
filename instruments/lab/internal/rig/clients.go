package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"

	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// A clientsCommand compares the three clients of PostgreSQL.
type clientsCommand struct {
	Postgres string        `default:"private" env:"MATCHMAKER_POSTGRES" placeholder:"DSN" help:"Use the PostgreSQL at DSN; private starts a server where PostgreSQL is installed (default ${default}). A stand-in does not do."`
	Duration time.Duration `default:"3s" placeholder:"TIME" help:"Measure each client for TIME in each round (default ${default})."`
	Rounds   int           `default:"6" placeholder:"N" help:"Measure each client in N rounds (default ${default})."`
}

// A clientCommand is one round of one client, in a process of its own.
type clientCommand struct{}

// A clientQuestion is what such a process is asked.
type clientQuestion struct {
	DSN, Client string
	Duration    time.Duration
}

// A clientAnswer is what one client did in one round.
type clientAnswer struct {
	Throughput, Allocs, Bytes float64 // a second; for each query
	RSS                       float64
	Goroutines                float64
	Left                      float64 // goroutines, after Close
	Failed                    uint64
}

// Connections of each client, and goroutines that ask.
const (
	clientConnections = 50
	clientAskers      = 64
)

// compared are the clients; the others are compared with the first.
var compared = []*store.Client{store.PQ, store.PgxSQL, store.PgxPool}

func clientNames() (names []string) {
	for _, c := range compared {
		names = append(names, c.String())
	}
	return names
}

// Run serves one question.
func (clientCommand) Run() error { return child.Serve(measureClient) }

// Run prints the table.
func (c *clientsCommand) Run(ctx context.Context) error { return c.clients(ctx, plainly.Stdout) }

func (c *clientsCommand) clients(ctx context.Context, out io.Writer) error {
	if c.Postgres == standIn {
		return command.UsageError{Err: errors.New("clients needs a PostgreSQL, for what a client costs depends on what it is answered: give --postgres postgres://USER@HOST/DATABASE")}
	}
	if c.Rounds < 1 || c.Duration <= 0 {
		return command.UsageError{Err: errors.New("give --rounds 1 or more, and --duration above 0")}
	}
	none := standIn
	servers, err := privately(&c.Postgres, &none, realserver.Spec{})
	if err != nil {
		return err
	}
	defer servers.Close()
	if err := prepared(ctx, c.Postgres); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s.\n", about(servers.AboutPostgres, "", "PostgreSQL"))
	names := clientNames()
	answers := map[string][]clientAnswer{}
	for _, turn := range rounds.Interleave(names, c.Rounds) {
		var a clientAnswer
		q := clientQuestion{c.Postgres, turn.Contender, c.Duration}
		if err := child.Run(ctx, []string{"client"}, q, &a); err != nil {
			return err
		}
		if a.Failed > 0 {
			return fmt.Errorf("%s: %d queries failed", turn.Contender, a.Failed)
		}
		answers[turn.Contender] = append(answers[turn.Contender], a)
	}
	return writeClients(out, names, answers, c.Rounds)
}

// prepared makes the schema where there is none, and holds the pool against the server.
func prepared(ctx context.Context, dsn string) error {
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	c, err := pgx.Connect(within, dsn)
	if err != nil {
		return fmt.Errorf("PostgreSQL does not answer: %w", err)
	}
	defer c.Close(context.Background())
	if err := store.Prepare(ctx, c); err != nil {
		return err
	}
	return store.Fit(ctx, c, clientConnections)
}

// measureClient has many goroutines ask for users.
func measureClient(ctx context.Context, q clientQuestion) (a clientAnswer, err error) {
	before := runtime.NumGoroutine()
	client := slices.Index(clientNames(), q.Client)
	if client < 0 {
		return a, fmt.Errorf("there is no client %q", q.Client)
	}
	o := store.PoolOptions{Client: compared[client], MaxOpen: clientConnections, Health: "off"}
	if err := o.Validate(); err != nil {
		return a, err
	}
	s, err := store.Open(ctx, q.DSN, o)
	if err != nil {
		return a, err
	}
	var (
		asking         sync.WaitGroup
		over           = make(chan struct{})
		queries, fails atomic.Uint64
	)
	for i := range clientAskers {
		asking.Go(func() {
			for uid := int64(i); ; uid++ {
				select {
				case <-over:
					return
				default:
				}
				if _, err := s.User(ctx, 1+uid%store.Users); err != nil {
					fails.Add(1)
				}
				queries.Add(1)
			}
		})
	}
	time.Sleep(q.Duration / 5) // until all connections are there
	w, from := kit.Open(), queries.Load()
	time.Sleep(q.Duration)
	// The goroutines that ask are no client's.
	a.Goroutines = float64(runtime.NumGoroutine() - before - clientAskers)
	n := queries.Load() - from
	account := w.Close()
	close(over)
	asking.Wait()
	a.RSS, a.Failed = float64(kit.RSS()), fails.Load()
	if n > 0 {
		a.Throughput, a.Allocs, a.Bytes = float64(n)/account.Seconds, float64(account.Allocs)/float64(n), float64(account.AllocBytes)/float64(n)
	}
	s.Close()
	for range 100 { // what Close has asked to end may take a moment
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.Left = float64(runtime.NumGoroutine() - before)
	return a, nil
}

func writeClients(out io.Writer, names []string, answers map[string][]clientAnswer, n int) error {
	of := func(name string, f func(clientAnswer) float64) []float64 {
		var v []float64
		for _, a := range answers[name] {
			v = append(v, f(a))
		}
		return v
	}
	figures := []struct {
		name string
		f    func(clientAnswer) float64
		show func(float64) string
	}{
		{"queries/s", func(a clientAnswer) float64 { return a.Throughput }, whole},
		{"allocs/query", func(a clientAnswer) float64 { return a.Allocs }, whole},
		{"B/query", func(a clientAnswer) float64 { return a.Bytes }, whole},
		{"RSS", func(a clientAnswer) float64 { return a.RSS }, func(v float64) string { return fmt.Sprintf("%.0f MiB", v/(1<<20)) }},
		{"goroutines", func(a clientAnswer) float64 { return a.Goroutines }, whole},
		{"left after Close", func(a clientAnswer) float64 { return a.Left }, whole},
	}
	fmt.Fprintf(out, "%d connections, %d goroutines that ask for a user, %d rounds of each client, interleaved: medians, and the ratio to %s.\n\n", clientConnections, clientAskers, n, names[0])
	head := []string{"client"}
	for _, c := range figures {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	ratios := map[string]result.Ratio{}
	for _, name := range names {
		row := []string{name}
		for _, c := range figures {
			v, base := of(name, c.f), of(names[0], c.f)
			cell := c.show(summary.Interval(v).Median)
			if quotients := divided(v, base); name != names[0] && quotients != nil {
				r := result.Ratio(summary.Interval(quotients))
				ratios[name+" "+c.name] = r
				cell += fmt.Sprintf(" (%.2fx [%.2f, %.2f])", r.Median, r.Low, r.High)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if err := columns.Write(out, rows); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s, says of pgxpool after lib/pq: memory 1.24 to 0.65 GB (-47 %%), goroutines 412 to 89 (-78 %%).\n", experiment.MatchMaking)
	for _, claim := range []struct {
		column string
		says   float64
	}{{"RSS", 0.53}, {"goroutines", 0.22}, {"B/query", 0.53}} {
		r, ok := ratios[store.PgxPool.String()+" "+claim.column]
		if !ok {
			continue
		}
		text := fmt.Sprintf("Here %s is %.2fx [%.2f, %.2f] of lib/pq's, where it would have to be %.2fx", claim.column, r.Median, r.Low, r.High, claim.says)
		switch side := verdict.OfRatio(r, false, verdict.Least); {
		case side == verdict.None:
			text += fmt.Sprintf(": no verdict on %d rounds.", r.Rounds)
		case side == verdict.Worse:
			text += ": it is more."
		case side != verdict.Better: // an interval that contains 1 may contain the claim, too
			text += ": it cannot be told apart."
		case r.Low <= claim.says:
			text += ": so it is."
		default:
			text += ": it is less, by less than that."
		}
		fmt.Fprintln(out, text)
	}
	return nil
}

// divided is v by base, pair by pair, or nil where a base is 0.
func divided(v, base []float64) (out []float64) {
	for i := range min(len(v), len(base)) {
		if base[i] <= 0 {
			return nil
		}
		out = append(out, v[i]/base[i])
	}
	return out
}

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/proxy"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// An outageCommand plays what can go wrong, in each mode of health.
type outageCommand struct {
	Postgres string        `default:"auto" env:"MATCHMAKER_POSTGRES" placeholder:"DSN" help:"Use the PostgreSQL at DSN; private starts a server, standin starts a stand-in, and auto is private where PostgreSQL is installed and standin elsewhere (default ${default})."`
	Redis    string        `default:"auto" env:"MATCHMAKER_REDIS" placeholder:"HOST:PORT" help:"Use the Redis server at HOST:PORT, or private, standin or auto, as for --postgres (default ${default})."`
	Duration time.Duration `default:"3s" placeholder:"TIME" help:"Let each outage last for TIME (default ${default})."`
	Callers  int           `default:"20" placeholder:"N" help:"Ask from N goroutines, by at most N connections (default ${default})."`
	Only     []string      `placeholder:"NAME" sep:"none" help:"Play the outage NAME: killed, restarted, hung, dropped or slow. Repeat the flag for more. The default is all."`

	redisSecret string

	around time.Duration // before and after it; 0: a second, and a second and a half
}

// slowFrom is from when on a command is called slow.
const slowFrom = 50 * time.Millisecond

// pingEvery is how often the background pings in an outage.
const pingEvery = 200 * time.Millisecond

// An outage is something that goes wrong between the service and its backends, for a time.
type outage struct {
	name  string
	begin func(p *proxy.Proxy)
	end   func(p *proxy.Proxy)
}

var outages = []outage{
	{"killed", func(p *proxy.Proxy) { p.Kill() }, func(*proxy.Proxy) {}},
	{"restarted", func(p *proxy.Proxy) { p.Refuse(true); p.Kill() }, func(p *proxy.Proxy) { p.Refuse(false) }},
	{"hung", func(p *proxy.Proxy) { p.Hang(true) }, func(p *proxy.Proxy) { p.Hang(false) }},
	{"dropped", func(p *proxy.Proxy) { p.Drop(true) }, func(p *proxy.Proxy) { p.Drop(false) }},
	{"slow", func(p *proxy.Proxy) { p.Delay(60 * time.Millisecond) }, func(p *proxy.Proxy) { p.Delay(0) }},
}

// An asked is one command of a caller.
type asked struct {
	begun  time.Time
	took   time.Duration
	failed bool
}

// Run plays all and prints.
func (c *outageCommand) Run(ctx context.Context) error { return c.outages(ctx, plainly.Stdout) }

func (c *outageCommand) outages(ctx context.Context, out io.Writer) error {
	region.Silence()
	if c.Callers < 1 || c.Duration <= 0 {
		return command.UsageError{Err: errors.New("give --callers 1 or more, and --duration above 0")}
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(outages, func(o outage) bool { return o.name == name }) {
			return command.UsageError{Err: fmt.Errorf("--only %s: give killed, restarted, hung, dropped or slow", name)}
		}
	}
	servers, err := privately(&c.Postgres, &c.Redis, realserver.Spec{Regions: []string{store.East}})
	if err != nil {
		return err
	}
	defer servers.Close()
	spec := standin.Spec{Postgres: c.Postgres == standIn, NoScorer: true}
	if c.Redis == standIn {
		spec.Regions = []string{store.East}
	}
	child, err := standin.Start(spec)
	if err != nil {
		return err
	}
	defer child.Close()
	dsn, address := c.Postgres, primaryOf(c.Redis)
	postgres := "" // a DSN has secrets
	if spec.Postgres {
		dsn, postgres = child.Postgres, standIn
	} else if err := prepared(ctx, dsn); err != nil {
		return err
	}
	c.redisSecret = cmp.Or(servers.RedisSecret, os.Getenv(redisPassword))
	if spec.Regions != nil {
		address, c.redisSecret = primaryOf(child.Redis), ""
	}
	what := about(servers.AboutPostgres, postgres, "PostgreSQL") + "; " + about(servers.AboutRedis, c.Redis, "Redis")
	fmt.Fprintf(out, "%s; through a proxy; %d callers; each outage lasts %v. Slow is %v or more. Noticed is from when on a command fails at once, back from when on one is answered after the end.\n\n",
		what, c.Callers, c.Duration, slowFrom)
	rows := [][]string{{"outage", "of", "health", "commands", "errors", "slow", "worst", "noticed after", "back after"}}
	all := totals{}
	for _, o := range outages {
		if len(c.Only) > 0 && !slices.Contains(c.Only, o.name) {
			continue
		}
		for _, health := range []string{liveness.Off, liveness.FastFail, liveness.Ping, liveness.Both} {
			var (
				playing sync.WaitGroup
				seen    [2]observed
				errs    [2]error
			)
			playing.Go(func() { seen[0], errs[0] = c.postgres(ctx, dsn, health, o) })
			playing.Go(func() { seen[1], errs[1] = c.redis(ctx, address, health, o) })
			playing.Wait()
			if err := errors.Join(append(errs[:], ctx.Err())...); err != nil {
				return err
			}
			for i, of := range []string{"PostgreSQL", "Redis"} {
				rows = append(rows, append([]string{o.name, of, health}, seen[i].cells()...))
				all.add(o.name, health, seen[i])
			}
		}
	}
	if err := columns.Write(out, rows); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, line := range all.words() {
		fmt.Fprintln(out, line)
	}
	return nil
}

// totals are what callers saw, by outage and mode of health, of both servers together.
type totals map[[2]string]observed

func (t totals) add(outage, health string, o observed) {
	for _, key := range [][2]string{{outage, health}, {"", health}} { // "" is all outages
		sum := t[key]
		sum.commands += o.commands
		sum.failed += o.failed
		sum.slow += o.slow
		t[key] = sum
	}
}

// words compare errors with errors, where the article does, and what is slow apart from them.
func (t totals) words() (out []string) {
	change := func(off, both int) string {
		if off == 0 {
			return ""
		}
		return fmt.Sprintf(", which is %+.0f %%", 100*(float64(both)/float64(off)-1))
	}
	errors := func(outage, when string) {
		off, both := t[[2]string{outage, liveness.Off}], t[[2]string{outage, liveness.Both}]
		if off.commands > 0 {
			out = append(out, fmt.Sprintf("Errors%s: %d of %d commands with health off, %d of %d with both%s.", when, off.failed, off.commands, both.failed, both.commands, change(off.failed, both.failed)))
		}
	}
	errors("killed", " where idle connections were killed, and each was used once")
	errors("", " in all outages")
	off, both := t[[2]string{"", liveness.Off}], t[[2]string{"", liveness.Both}]
	return append(out,
		fmt.Sprintf("%s, says -92 %% of the errors, and not of which.", experiment.MatchMaking),
		fmt.Sprintf("Slow commands in all outages: %d with health off, %d with both%s. Where callers go on asking, a command that fails at once is one error more: what health saves there is the time of each.", off.slow, both.slow, change(off.slow, both.slow)))
}

// An observed is what the callers saw of one outage.
type observed struct {
	commands, failed, slow int
	worst, noticed, back   time.Duration // noticed and back are negative where they were not seen
}

func (o observed) cells() []string {
	shown := func(d time.Duration) string {
		if d < 0 {
			return "-"
		}
		return d.Round(time.Millisecond).String()
	}
	return []string{strconv.Itoa(o.commands), strconv.Itoa(o.failed), strconv.Itoa(o.slow), shown(o.worst), shown(o.noticed), shown(o.back)}
}

// observe makes one of what each caller did.
func observe(all []asked, begun, ended time.Time) observed {
	slices.SortFunc(all, func(a, b asked) int { return a.begun.Compare(b.begun) })
	o := observed{commands: len(all), noticed: -1, back: -1}
	for _, a := range all {
		o.worst = max(o.worst, a.took)
		if a.took >= slowFrom {
			o.slow++
		}
		done := a.begun.Add(a.took)
		if a.failed {
			o.failed++
			if o.noticed < 0 && !a.begun.Before(begun) && a.took < 5*time.Millisecond {
				o.noticed = a.begun.Sub(begun)
			}
		} else if done.After(ended) && (o.back < 0 || done.Sub(ended) < o.back) {
			o.back = done.Sub(ended)
		}
	}
	return o
}

// postgres plays an outage of PostgreSQL.
func (c *outageCommand) postgres(ctx context.Context, dsn, health string, o outage) (observed, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return observed{}, err
	}
	p, err := proxy.New(net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))))
	if err != nil {
		return observed{}, err
	}
	defer p.Close()
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return observed{}, command.UsageError{Err: errors.New("outage needs --postgres as postgres://USER@HOST:PORT/DATABASE, to put its proxy there")}
	}
	u.Host = p.Addr()
	options := store.PoolOptions{MaxOpen: c.Callers, Health: health, PingEvery: pingEvery, PingTimeout: 100 * time.Millisecond, Timeout: 500 * time.Millisecond}
	if err := options.Validate(); err != nil {
		return observed{}, err
	}
	s, err := store.Open(ctx, u.String(), options)
	if err != nil {
		return observed{}, err
	}
	defer s.Close()
	return c.play(ctx, p, o, func(ctx context.Context, i int) error {
		_, err := s.User(ctx, int64(1+i%store.Users))
		return err
	})
}

// redis plays an outage of a Redis.
func (c *outageCommand) redis(ctx context.Context, address, health string, o outage) (observed, error) {
	p, err := proxy.New(address)
	if err != nil {
		return observed{}, err
	}
	defer p.Close()
	m, err := region.New([]region.Nodes{{Name: store.East, Primary: p.Addr()}}, region.Options{Health: health, MaxActive: c.Callers, Password: c.redisSecret})
	if err != nil {
		return observed{}, err
	}
	defer m.Close()
	return c.play(ctx, p, o, func(ctx context.Context, _ int) error {
		_, err := m.Get(ctx, store.East, "matchmaker:outage")
		return err
	})
}

// play has the callers ask while the outage comes and goes. Where connections are killed, all are
// idle at that moment, and asked at once later: then every error is one that a request notices.
func (c *outageCommand) play(ctx context.Context, p *proxy.Proxy, o outage, ask func(ctx context.Context, i int) error) (observed, error) {
	before, after := time.Second, 1500*time.Millisecond
	if c.around > 0 {
		before, after = c.around, c.around
	}
	var (
		mu      sync.Mutex
		all     []asked
		calling sync.WaitGroup
	)
	call := func(i int) {
		a := asked{begun: time.Now()}
		a.failed = ask(ctx, i) != nil
		a.took = time.Since(a.begun)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, a)
	}
	atOnce := func() {
		for i := range c.Callers {
			calling.Go(func() { call(i) })
		}
		calling.Wait()
	}
	if o.name == "killed" {
		p.Delay(5 * time.Millisecond) // so that each caller needs a connection of its own
		atOnce()
		p.Delay(0)
		all = nil
		begun := time.Now()
		o.begin(p)
		time.Sleep(2 * pingEvery) // they stay idle, and the background has had its turn
		p.Delay(5 * time.Millisecond)
		atOnce()
		return observe(all, begun, begun), nil
	}
	over := make(chan struct{})
	for i := range c.Callers {
		calling.Go(func() {
			for n := i; ; n += c.Callers {
				select {
				case <-over:
					return
				default:
				}
				call(n)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	time.Sleep(before)
	begun := time.Now()
	o.begin(p)
	time.Sleep(c.Duration)
	ended := time.Now()
	o.end(p)
	time.Sleep(after)
	close(over)
	calling.Wait()
	return observe(all, begun, ended), nil
}

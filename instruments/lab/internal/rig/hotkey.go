package rig

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// A hotKeyCommand asks a Redis for one key at a rate, with a local cache and without.
type hotKeyCommand struct {
	Redis      string        `default:"private" env:"MATCHMAKER_REDIS" placeholder:"HOST:PORT" help:"Use the Redis server at HOST:PORT, of which MATCHMAKER_REDIS_PASSWORD has the password; private starts a server where Redis is installed (default ${default}). A stand-in does not do."`
	HotKey     string        `default:"user:10086" placeholder:"user:UID" help:"Ask for the profile of the user UID, from 1 to 20000 (default ${default})."`
	Rate       amount.Rate   `default:"10000/s" placeholder:"N/s" help:"Ask N times a second (default ${default}). Then the rate is doubled until Redis or the machine does not follow."`
	LocalCache time.Duration `default:"5ms" placeholder:"TIME" help:"Keep an answer for TIME where there is a local cache (default ${default})."`
	Duration   time.Duration `default:"3s" placeholder:"TIME" help:"Measure each row for TIME (default ${default})."`

	program
}

// Run measures and prints.
func (c *hotKeyCommand) Run(ctx context.Context) error { return c.hotKey(ctx, plainly.Stdout) }

// What [experiment.MatchMaking] adds to a response for a hot key: nothing up to a rate, and so much for
// each read a second above it.
const (
	publishedCool = 8000
	publishedStep = 15 * time.Microsecond
)

// Ends of the ladder of rates: the share of what was asked that is answered, below which something does
// not follow; the share of one processor at which Redis has no more; and how often a rate is doubled.
const (
	follows     = 0.9
	noMore      = 0.95
	mostDoubled = 6
)

func (c *hotKeyCommand) hotKey(ctx context.Context, out io.Writer) (err error) {
	region.Silence()
	uid, err := c.check()
	if err != nil {
		return command.UsageError{Err: err}
	}
	remove, err := c.build(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	postgres := standIn
	servers, err := privately(&postgres, &c.Redis, realserver.Spec{Regions: []string{store.East}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, servers.Close()) }()
	h := &heated{address: primaryOf(c.Redis), secret: cmp.Or(servers.RedisSecret, os.Getenv(redisPassword)), life: c.LocalCache}
	if h.server, err = askRedis(ctx, h.address, h.secret); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.server.close()) }()
	value, err := json.Marshal(store.Seeded(uid))
	if err != nil {
		return err
	}
	if err := h.fill(ctx, "matchmaker:lab:"+c.HotKey, value); err != nil { // the profile's own may be in use
		return err
	}
	defer func() { err = errors.Join(err, h.clear(context.WithoutCancel(ctx))) }()
	e := kit.Environment()
	fmt.Fprintf(out, "%s, %d processors, %s, %s, load average %.2f; %s. Reads of a profile, %s, of %d B.\n\n",
		e.Machine, e.CPUs, e.GoVersion, e.Time, e.LoadAverage[0], about(servers.AboutRedis, c.Redis, "Redis"), c.HotKey, len(value))
	rows, err := c.climb(ctx, h)
	if err != nil {
		return err
	}
	pipes, err := h.flooded(ctx, c.Duration)
	if err != nil {
		return err
	}
	service, spoiled, err := c.serve(ctx, h, uid)
	if err != nil {
		return err
	}
	cells := [][]string{{"reads of", "local cache", "asked/s", "answered/s", "failed", "P50", "P99", "Redis: reads/s", "its processor"}}
	for _, r := range rows {
		cells = append(cells, r.cells())
	}
	cells = append(cells, []string{"the key, by 64 at once", "-", "all", figure.Count(pipes.answered), "0", "-", "-", figure.Count(pipes.redis.reads), ofOne(pipes.redis.share)})
	if err := columns.Write(out, cells); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nThe service, asked for that profile by HTTP:")
	if err := columns.Write(out, service); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, line := range c.words(rows, pipes) {
		fmt.Fprintln(out, line)
	}
	for _, r := range rows {
		if r.rate <= float64(c.Rate) && !r.follows() && r.redis.share < noMore {
			spoiled = append(spoiled, fmt.Sprintf("%s reads a second were answered of %s: this machine ended first", figure.Count(r.answered), figure.Count(r.rate)))
		}
	}
	if len(spoiled) > 0 {
		return &command.Ending{Text: "not valid: " + strings.Join(spoiled, "; ") + "; give less --rate, or nothing else to do to the machine", Code: 4}
	}
	return ctx.Err()
}

// check returns the uid of the hot key, or what is wrong.
func (c *hotKeyCommand) check() (uid int64, err error) {
	text, ok := strings.CutPrefix(c.HotKey, "user:")
	uid, err = strconv.ParseInt(text, 10, 64)
	switch {
	case !ok || err != nil || uid < 1 || uid > store.Users:
		return 0, fmt.Errorf("--hot-key %q: give user:UID, with a UID from 1 to %d, such as user:10086", c.HotKey, store.Users)
	case !(c.Rate > 0) || c.Rate > 1e6:
		return 0, fmt.Errorf("--rate %v: give reads a second, above 0 and at most 1000000, such as 10000/s", c.Rate)
	case c.LocalCache <= 0 || c.LocalCache > time.Minute:
		return 0, fmt.Errorf("--local-cache %v: give a time above 0 and up to a minute, such as 5ms: there are rows without a cache in any case", c.LocalCache)
	case c.Duration < 10*time.Millisecond:
		return 0, fmt.Errorf("--duration %v: give 10ms or more, such as 3s", c.Duration)
	case c.Redis == standIn:
		return 0, errors.New("--redis standin: a stand-in has not Redis's one processor: install redis-server, or give --redis HOST:PORT of a server")
	}
	if c.Redis == private || c.Redis == auto || c.Redis == "" {
		if err := realserver.Installed(realserver.Spec{Regions: []string{store.East}}); err != nil {
			return 0, fmt.Errorf("there is no Redis to ask: %w; install redis-server, or give --redis HOST:PORT of a server", err)
		}
		c.Redis = private
	}
	return uid, nil
}

// climb measures the key below the rate from which on it is published to be hot, at the rate that is asked
// for, beside as many reads of other keys and with a local cache, and then at twice the rate again and again.
func (c *hotKeyCommand) climb(ctx context.Context, h *heated) ([]heat, error) {
	asked := float64(c.Rate)
	plan := []heat{{rate: min(asked, publishedCool)}, {rate: asked}, {rate: asked, spread: true}, {rate: asked, cached: true}}
	if asked <= publishedCool {
		plan = plan[1:]
	}
	var rows []heat
	for _, r := range plan {
		if err := h.measure(ctx, &r, c.Duration); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	for range mostDoubled {
		asked *= 2
		for _, cached := range []bool{false, true} {
			r := heat{rate: asked, cached: cached}
			if err := h.measure(ctx, &r, c.Duration); err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
		if r := rows[len(rows)-2]; !r.follows() || r.redis.share >= noMore {
			break
		}
	}
	return rows, nil
}

// serve measures the service with its local cache and without, at half of what it answers in a closed loop
// without, or at the rate that is asked for if that is less.
func (c *hotKeyCommand) serve(ctx context.Context, h *heated, uid int64) (rows [][]string, spoiled []string, err error) {
	rows = [][]string{{"local cache", "asked/s", "answered/s", "failed", "P50", "P99", "Redis: reads/s", "its processor", "the service's processors"}}
	rate := 0.0
	for _, life := range []time.Duration{0, c.LocalCache} {
		row, at, why, err := c.serveOnce(ctx, h, uid, life, rate)
		if err != nil {
			return nil, nil, err
		}
		rows, rate = append(rows, row), at
		for _, w := range why {
			spoiled = append(spoiled, "the service: "+w)
		}
	}
	return rows, spoiled, nil
}

func (c *hotKeyCommand) serveOnce(ctx context.Context, h *heated, uid int64, life time.Duration, rate float64) (row []string, at float64, why []string, err error) {
	args := []string{"--postgres=standin"}
	kept := "none"
	if life > 0 {
		args, kept = append(args, "--local-cache="+life.String()), life.String()
	}
	s, err := c.start(ctx, args, "MATCHMAKER_REDIS="+store.East+"="+h.address, redisPassword+"="+h.secret)
	if err != nil {
		return nil, 0, nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	scenario := (&compareCommand{Connections: 32}).scenario(s.addresses.HTTP)
	scenario.Data = nil
	scenario.Session = []load.Step{{Name: "profile", Do: load.Request{URL: fmt.Sprintf("/api/v1/users/%d", uid), Expect: load.Expect{Status: http.StatusOK}}}}
	if rate == 0 {
		most, err := c.closed(ctx, s, scenario)
		if err != nil {
			return nil, 0, nil, err
		}
		rate = min(float64(c.Rate), most/2)
	}
	scenario.Arrivals = load.Arrivals{Rate: rate, Process: load.Poisson, Warmup: c.Duration / 10, Duration: c.Duration, Seed: 1}
	before, err := h.server.counts(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	begun := time.Now()
	r, window, err := s.measured(ctx, scenario)
	if err != nil {
		return nil, 0, nil, err
	}
	after, err := h.server.counts(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	redis := before.until(after)
	return []string{
		kept, figure.Count(rate), figure.Count(float64(r.Finished) / r.Seconds), fmt.Sprint(r.Failed + r.Dropped),
		quantileOf(r.Session.Response.P50), quantileOf(r.Session.Response.P99), figure.Count(redis.reads), ofOne(redis.share),
		figure.Significant(window.CPU.Seconds() / time.Since(begun).Seconds()),
	}, rate, r.Why, ctx.Err()
}

// closed returns how many requests a second the service answers in a closed loop, which lasts until it has
// answered some.
func (c *hotKeyCommand) closed(ctx context.Context, s *childService, scenario load.Scenario) (float64, error) {
	for span := c.Duration / 3; ; span *= 2 {
		scenario.Arrivals = load.Arrivals{Users: 32, Warmup: span / 3, Duration: span}
		r, _, err := s.measured(ctx, scenario)
		switch {
		case err != nil:
			return 0, err
		case r.Finished > 0 && r.Seconds > 0:
			return float64(r.Finished) / r.Seconds, nil
		case r.Failed > 0 || ctx.Err() != nil:
			return 0, errors.Join(fmt.Errorf("the service answers no request: %v", r.Messages), ctx.Err())
		}
	}
}

// ofOne is a share of one processor.
func ofOne(share float64) string {
	if share < 0 {
		return "?"
	}
	return figure.Percent(share)
}

// words say where Redis's one processor ends, what a hot key costs beside others, and what the cache buys.
func (c *hotKeyCommand) words(rows []heat, pipes heat) (out []string) {
	find := func(is func(heat) bool) (heat, bool) {
		i := slices.IndexFunc(rows, is)
		return rows[max(i, 0)], i >= 0
	}
	at := func(rate float64, spread, cached bool) (heat, bool) {
		return find(func(r heat) bool { return r.rate == rate && r.spread == spread && r.cached == cached })
	}
	rate := float64(c.Rate)
	hot, _ := at(rate, false, false)
	spread, _ := at(rate, true, false)
	cached, _ := at(rate, false, true)
	if hot.each() > 0 && pipes.each() > 0 {
		out = append(out, fmt.Sprintf("Redis serves all commands by one processor. At %s reads a second, one at a time, that has %s for each, and is full at %s a second; by 64 at once it has %s for each, is full at %s, and was %s full at %s.",
			figure.Count(hot.answered), figure.Duration(hot.each()), figure.Count(1e9/hot.each()), figure.Duration(pipes.each()), figure.Count(1e9/pipes.each()), ofOne(pipes.redis.share), figure.Count(pipes.answered)))
	}
	var last heat
	for _, r := range rows {
		if !r.cached && !r.spread {
			last = r
		}
	}
	switch {
	case last.redis.share >= noMore:
		out = append(out, fmt.Sprintf("One at a time it ends at %s a second here, with its processor %s full.", figure.Count(last.answered), ofOne(last.redis.share)))
	case !last.follows():
		out = append(out, fmt.Sprintf("One at a time %s a second were answered of %s: this machine ended first, with Redis's processor %s full.", figure.Count(last.answered), figure.Count(last.rate), ofOne(last.redis.share)))
	default:
		out = append(out, fmt.Sprintf("It followed up to %s a second, the most that is tried.", figure.Count(last.rate)))
	}
	if spread.each() > 0 {
		out = append(out, fmt.Sprintf("Redis needs %s for each read of the hot key, and %s for each where the reads are of %d keys: that processor is all reads' together. Of several servers a hot key has one.", figure.Duration(hot.each()), figure.Duration(spread.each()), spreadKeys))
	}
	saved := "?"
	if hot.redis.reads > 0 {
		saved = figure.Percent(cached.redis.reads/hot.redis.reads) + " of those without"
	}
	out = append(out, fmt.Sprintf("With a local cache of %v Redis had %s reads a second of %s: %s. It has at most one in %v for each process, %s a second, however many are asked.",
		c.LocalCache, figure.Count(cached.redis.reads), figure.Count(cached.answered), saved, c.LocalCache, figure.Count(1/c.LocalCache.Seconds())))
	if cool, ok := at(publishedCool, false, false); ok && rate > publishedCool {
		adds := time.Duration((rate - publishedCool) * float64(publishedStep))
		text := fmt.Sprintf("%s, adds %v for each read a second above %d: %v at %s a second. ", experiment.MatchMaking, publishedStep, publishedCool, adds, figure.Count(rate))
		if cool.follows() && hot.follows() {
			text += fmt.Sprintf("Here the P50 is %s at %d a second and %s at %s, the P99 %s and %s.",
				figure.Duration(cool.p50), publishedCool, figure.Duration(hot.p50), figure.Count(rate), figure.Duration(cool.p99), figure.Duration(hot.p99))
		} else {
			text += "It cannot be told here: this machine did not follow."
		}
		out = append(out, text)
	}
	return out
}

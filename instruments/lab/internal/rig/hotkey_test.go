package rig

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// hot is the command with what its flags have by themselves.
func hot(change func(c *hotKeyCommand)) *hotKeyCommand {
	c := &hotKeyCommand{Redis: private, HotKey: "user:10086", Rate: 10_000, LocalCache: 5 * time.Millisecond, Duration: time.Second}
	change(c)
	return c
}

func TestHotKeyRefuses(t *testing.T) {
	t.Setenv("PATH", "") // no Redis is installed
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for want, change := range map[string]func(c *hotKeyCommand){
		`--hot-key "10086": give user:UID, with a UID from 1 to 20000`: func(c *hotKeyCommand) { c.HotKey = "10086" },
		`--hot-key "user:20001": give`:                                 func(c *hotKeyCommand) { c.HotKey = "user:20001" },
		`--hot-key "user:x": give`:                                     func(c *hotKeyCommand) { c.HotKey = "user:x" },
		"--rate 0: give reads a second":                                func(c *hotKeyCommand) { c.Rate = 0 },
		"--rate 2e+06: give":                                           func(c *hotKeyCommand) { c.Rate = 2e6 },
		"--local-cache 0s: give a time above 0":                        func(c *hotKeyCommand) { c.LocalCache = 0 },
		"--duration 1ms: give 10ms or more":                            func(c *hotKeyCommand) { c.Duration = time.Millisecond },
		"a stand-in has not Redis's one processor: install":            func(c *hotKeyCommand) { c.Redis = standIn },
		"there is no Redis to ask: redis-server is not installed; install redis-server, or give --redis HOST:PORT": func(*hotKeyCommand) {},
	} {
		if err := hot(change).hotKey(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := hot(func(c *hotKeyCommand) { c.Redis, c.Service = gone.Addr().String(), "matchmaker" })
	if err := c.hotKey(context.Background(), io.Discard); err == nil || !strings.Contains(err.Error(), "does not answer") || !strings.Contains(err.Error(), "start it, or give the address of one that does") {
		t.Errorf("a Redis that is away: %v", err)
	}
}

// What a Redis says of itself is read, and what is no number is no figure.
func TestRedisCounts(t *testing.T) {
	var a redisCounts
	for _, section := range []map[string]string{
		{"used_cpu_sys_main_thread": "1.5", "used_cpu_user_main_thread": "2.25"},
		{"total_connections_received": "7"},
		{"cmdstat_get": "calls=120,usec=3,usec_per_call=0.02", "cmdstat_set": "calls=9"},
	} {
		if err := a.read(section); err != nil {
			t.Fatal(err)
		}
	}
	if a.main != 3750*time.Millisecond || a.connections != 7 || a.reads != 120 {
		t.Errorf("%+v", a)
	}
	b := a
	b.at, b.reads, b.main = a.at.Add(2*time.Second), 2120, a.main+time.Second
	if w := a.until(b); w.reads != 1000 || w.share != 0.5 {
		t.Errorf("%+v", w)
	}
	b.main = -1
	if w := a.until(b); w.share != -1 || ofOne(w.share) != "?" {
		t.Errorf("of a Redis that does not say: %+v", w)
	}
	for _, section := range []map[string]string{{"cmdstat_get": "calls=x"}, {"total_connections_received": "many"}} {
		if err := a.read(section); err == nil {
			t.Errorf("%v is read", section)
		}
	}
}

// The words say where the processor of Redis ends, or that the machine ended first.
func TestHotKeyWords(t *testing.T) {
	row := func(rate, answered, share float64, spread, cached bool) heat {
		return heat{rate: rate, answered: answered, spread: spread, cached: cached, p50: 1e5, p99: 2e5, redis: redisWindow{answered, share}}
	}
	rows := []heat{row(8000, 8000, 0.08, false, false), row(10000, 10000, 0.1, false, false), row(10000, 10000, 0.12, true, false)}
	kept := row(10000, 10000, 0.002, false, true)
	kept.redis.reads = 200
	rows = append(rows, kept, row(20000, 15000, 0.3, false, false), row(20000, 20000, 0.002, false, true))
	pipes := heat{answered: 500_000, redis: redisWindow{500_000, 0.99}}
	c := hot(func(*hotKeyCommand) {})
	words := strings.Join(c.words(rows, pipes), "\n")
	for _, want := range []string{
		"At 10.0 k reads a second, one at a time, that has 10.0 µs for each, and is full at 100 k a second; by 64 at once it has 1.98 µs for each, is full at 505 k, and was 99 % full at 500 k.",
		"One at a time 15.0 k a second were answered of 20.0 k: this machine ended first, with Redis's processor 30 % full.",
		"Redis needs 10.0 µs for each read of the hot key, and 12.0 µs for each where the reads are of 10000 keys:",
		"With a local cache of 5ms Redis had 200 reads a second of 10.0 k: 2 % of those without.",
		"adds 15µs for each read a second above 8000: 30ms at 10.0 k a second. Here the P50 is 100 µs at 8000 a second and 100 µs at 10.0 k",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	rows[4].answered, rows[4].redis.share = 19_990, 0.97
	if words := strings.Join(c.words(rows, pipes), "\n"); !strings.Contains(words, "One at a time it ends at 20.0 k a second here, with its processor 97 % full.") {
		t.Error(words)
	}
	rows[0].answered = 7000
	if words := strings.Join(c.words(rows, pipes), "\n"); !strings.Contains(words, "30ms at 10.0 k a second. It cannot be told here: this machine did not follow.") {
		t.Error(words)
	}
	rows[4].redis.share = 0.4
	if words := strings.Join(c.words(rows, pipes), "\n"); !strings.Contains(words, "It followed up to 20.0 k a second") {
		t.Error(words)
	}
}

// realRedis starts a Redis, or skips the test.
func realRedis(t *testing.T) *heated {
	t.Helper()
	startsProcesses(t)
	s, err := realserver.Start(realserver.Spec{Regions: []string{store.East}})
	if errors.Is(err, realserver.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := &heated{address: primaryOf(s.Redis), secret: s.RedisSecret, life: time.Minute}
	if h.server, err = askRedis(t.Context(), h.address, h.secret); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.server.close() })
	return h
}

// Each read goes to Redis without a cache, and none with one that has the key. Nothing is left in Redis.
func TestHeated(t *testing.T) {
	h := realRedis(t)
	if err := h.fill(t.Context(), "hot", []byte("value")); err != nil {
		t.Fatal(err)
	}
	const duration = 100 * time.Millisecond
	for _, r := range []heat{{rate: 2000}, {rate: 2000, spread: true}, {rate: 2000, cached: true}} {
		if err := h.measure(t.Context(), &r, duration); err != nil || r.failed > 0 {
			t.Fatalf("%+v: %v", r, err)
		}
		switch {
		case r.answered <= 0 || r.p50 <= 0 || r.p99 < r.p50 || r.redis.share < 0:
			t.Errorf("%+v", r)
		case r.cached != (r.redis.reads == 0):
			t.Errorf("with a cache %v, Redis had %v reads a second", r.cached, r.redis.reads)
		}
	}
	pipes, err := h.flooded(t.Context(), duration)
	if err != nil || pipes.answered <= 0 || pipes.redis.reads <= 0 {
		t.Errorf("%+v, %v", pipes, err)
	}
	if err := h.clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := h.server.client.DBSize(t.Context()).Result(); n != 0 || err != nil {
		t.Errorf("%d keys are left, %v", n, err)
	}
	if err := h.measure(t.Context(), &heat{rate: 2000}, duration); err == nil || !strings.Contains(err.Error(), "the key is not there") {
		t.Errorf("of a key that is not there: %v", err)
	}
}

// The whole command, at a small rate. What so short a run measures is chance.
func TestHotKey(t *testing.T) {
	h := realRedis(t)
	t.Setenv(redisPassword, h.secret)
	c := hot(func(c *hotKeyCommand) {
		c.program, c.Redis, c.Rate, c.Duration = service(t), h.address, 100, 60*time.Millisecond
	})
	var out strings.Builder
	err := c.hotKey(t.Context(), &out)
	if ending := (*command.Ending)(nil); err != nil && !(errors.As(err, &ending) && ending.Code == 4) { // a busy machine
		t.Fatal(err)
	}
	if !containsAll(out.String(), "the key ", "10000 keys", "by 64 at once", "The service, asked", "With a local cache of 5ms", "Redis needs ") {
		t.Error(out.String())
	}
}

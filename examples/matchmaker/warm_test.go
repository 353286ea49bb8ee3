package main

import (
	"context"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/proxy"
)

// metric returns the sum of a metric with such labels.
func (r *running) metric(t *testing.T, name, labels string) (sum float64) {
	t.Helper()
	_, text := r.do(t, "GET", "http://"+r.Admin+"/metrics", "")
	for _, m := range regexp.MustCompile(`(?m)^`+name+`\{([^}]*)\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], labels) {
			v, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
	}
	return sum
}

// The service is ready when the connections are open that it keeps idle, also where each takes its time.
func TestServeWarm(t *testing.T) {
	startsProcesses(t)
	p, err := standin.NewPostgres()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dsn, err := url.Parse(p.DSN())
	if err != nil {
		t.Fatal(err)
	}
	far, err := proxy.New(dsn.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	far.Delay(100 * time.Millisecond) // each answer of the database
	dsn.Host = far.Addr()
	redis := miniredis.RunT(t)
	set := func(c *serveCommand) {
		c.Postgres, c.Redis, c.DBMinIdle, c.RedisMinIdle = dsn.String(), "cn-east="+redis.Addr(), 5, 4
	}
	// What comes before readiness: what comes after it takes its time too.
	c := &serveCommand{Scorer: standIn, Unhurried: true, substitute: standIns}
	set(c)
	b, err := c.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if stats := b.store.PoolStats(); stats.Idle != 5 {
		t.Errorf("before readiness %d connections to PostgreSQL are idle, want 5", stats.Idle)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	r := beginWith(t, set)
	if idle := r.metric(t, "matchmaker_store_connections", `state="idle"`); idle != 5 {
		t.Errorf("%v connections to PostgreSQL are idle, want 5", idle)
	}
	if idle := r.metric(t, "matchmaker_redis_connections", `state="idle"`); idle < 4 {
		t.Errorf("%v connections to Redis are idle, want 4", idle)
	}
}

// Where Redis does not take them, or the client cannot, the service ends with what to do.
func TestServeRefusesToKeepIdle(t *testing.T) {
	for want, set := range map[string]func(c *serveCommand){
		"--db-min-idle 5: pgx-sql opens no connection": func(c *serveCommand) { c.DBClient, c.DBMinIdle = "pgx-sql", 5 },
		"--redis-min-idle: at least 40 idle":           func(c *serveCommand) { c.RedisMinIdle = 40 },
		"--local-cache -5ms: give a time such as 5ms":  func(c *serveCommand) { c.LocalCache = -5 * time.Millisecond },
	} {
		c := &serveCommand{Postgres: standIn, Redis: standIn, Scorer: standIn}
		set(c)
		if err := c.serve(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// With --local-cache Redis is asked once for a profile that everybody asks for, and who writes it reads that.
func TestServeLocalCache(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, func(c *serveCommand) { c.LocalCache = time.Hour })
	const gets = 20
	for range gets {
		r.ask(t, "GET", "/api/v1/users/7", "", 200)
	}
	// The first finds nothing, and fills Redis; the second is kept.
	const name = "matchmaker_local_cache_gets_total"
	if redis, process := r.metric(t, name, `from="redis"`), r.metric(t, name, `from="process"`); redis != 2 || process != gets-2 {
		t.Errorf("Redis has answered %v, this process %v of %d", redis, process, gets)
	}
	for _, name := range []string{"Ada", "Bea"} {
		r.ask(t, "PUT", "/api/v1/users/7", `{"name":"`+name+`"}`, 200)
		if _, text := r.ask(t, "GET", "/api/v1/users/7", "", 200); !strings.Contains(text, `"name":"`+name+`"`) {
			t.Errorf("who has written %s reads %s", name, text)
		}
	}
}

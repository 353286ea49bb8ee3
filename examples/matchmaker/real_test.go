package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// privateServers starts a PostgreSQL and Redis with replicas, or skips the test.
func privateServers(t *testing.T) *realserver.Servers {
	t.Helper()
	s, err := realserver.Start(realserver.Spec{Postgres: true, Regions: []string{store.East, store.West}, Replicas: 1})
	if errors.Is(err, realserver.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// On real servers with replicas, a profile that was written is what is read.
func TestServeOnRealServers(t *testing.T) {
	servers := privateServers(t)
	r := beginWith(t, func(c *serveCommand) {
		c.Postgres, c.Redis, c.RedisPassword = servers.Postgres, servers.Redis, servers.RedisSecret
	})
	if !containsAll(r.text, "postgres  server 127.0.0.1:", "redis     server cn-east=127.0.0.1:") {
		t.Error(r.text)
	}
	dsn, err := url.Parse(servers.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	if secret, _ := dsn.User.Password(); secret == "" || strings.Contains(r.text, secret) || strings.Contains(r.text, servers.RedisSecret) {
		t.Errorf("a password is printed: %s", r.text)
	}
	for i := range 100 {
		path := "/api/v1/users/" + itoa(1+i%20)
		name := fmt.Sprintf(`"name":"Ada %d"`, i)
		r.ask(t, "PUT", path, "{"+name+"}", 200)
		if _, text := r.ask(t, "GET", path, "", 200); !strings.Contains(text, name) {
			t.Errorf("%s, want %s", text, name)
		}
		r.ask(t, "GET", "/api/v1/matches?uid="+itoa(1+i%20), "", 200)
	}
	_, metrics := r.do(t, "GET", "http://"+r.Admin+"/metrics", "")
	for _, want := range []string{
		`matchmaker_redis_reads_total{from="primary for own",region="cn-east"}`, `matchmaker_redis_reads_total{from="replica",region="us-west"}`,
		`matchmaker_redis_replica_lag_bytes{node="127.0.0.1:`, `matchmaker_redis_replica_read{node="127.0.0.1:`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
}

// A node that is called a replica and is none is said to be, and is not read.
func TestServeWithAFalseReplica(t *testing.T) {
	startsProcesses(t)
	primary, other := miniredis.RunT(t), miniredis.RunT(t)
	r := beginWith(t, func(c *serveCommand) { c.Redis = "cn-east=" + primary.Addr() + "+" + other.Addr() })
	if !strings.Contains(r.text, "("+other.Addr()+" is not read: ") {
		t.Error(r.text)
	}
	for range 2 {
		r.ask(t, "GET", "/api/v1/users/7", "", 200)
	}
	if len(primary.Keys()) == 0 || len(other.Keys()) > 0 {
		t.Errorf("the primary has %v, and what is no replica %v", primary.Keys(), other.Keys())
	}
}

func TestServeRefusesIdleAboveOpen(t *testing.T) {
	c := &serveCommand{Postgres: standIn, Redis: standIn, RedisMaxOpen: 16, RedisMaxIdle: 20}
	err := c.serve(context.Background(), io.Discard)
	if !errors.As(err, new(command.UsageError)) || !containsAll(err.Error(), "--redis-max-idle, --redis-min-idle: 20 idle connections of at most 16", "give at most 16") {
		t.Error(err)
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// The limit is nine tenths of the cgroup's, what was asked for, or none.
func TestCollect(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(noLimit) })
	t.Setenv("GOMEMLIMIT", "")
	cgroup := func(n uint64, err error) func() (uint64, error) { return func() (uint64, error) { return n, err } }
	for _, tt := range []struct {
		flag   string
		cgroup func() (uint64, error)
		limit  int64 // 0: refused
		says   string
	}{
		{"", cgroup(10<<30, nil), 9 << 30, "nine tenths of the cgroup's 10737418240"},
		{"auto", cgroup(10<<30, nil), 9 << 30, "nine tenths"},
		{"auto", cgroup(0, memlimit.ErrNoLimit), noLimit, "no cgroup with a limit"},
		{"auto", cgroup(1<<63-4096, nil), noLimit, "no cgroup with a limit"},
		{"auto", cgroup(0, os.ErrPermission), noLimit, "cannot be read"},
		{"auto", cgroup(1<<20, nil), 0, "give auto, off, or more bytes, such as"},
		{"8GiB", cgroup(10<<30, nil), 8 << 30, "by --memory-limit"},
		{"off", cgroup(10<<30, nil), noLimit, "by --memory-limit"},
		{"1MiB", nil, 0, "give auto, off, or more bytes, such as"},
		{"lots", nil, 0, "1000GB, or off"},
		{"-1", nil, 0, "1000GB, or off"},
	} {
		debug.SetMemoryLimit(20 << 30)
		from, err := (&serveCommand{MemoryLimit: tt.flag}).collect(tt.cgroup)
		if tt.limit == 0 {
			if !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), tt.says) || debug.SetMemoryLimit(-1) != 20<<30 {
				t.Errorf("--memory-limit %s: %v, want %q", tt.flag, err, tt.says)
			}
			continue
		}
		if limit := debug.SetMemoryLimit(-1); err != nil || limit != tt.limit || !strings.Contains(from, tt.says) {
			t.Errorf("--memory-limit %q: %d, %q, %v, want %d and %q", tt.flag, limit, from, err, tt.limit, tt.says)
		}
	}
	t.Setenv("GOMEMLIMIT", "20GiB")
	if from, err := new(serveCommand).collect(cgroup(10<<30, nil)); err != nil || from != "by GOMEMLIMIT" || debug.SetMemoryLimit(-1) != 20<<30 {
		t.Errorf("the environment's: %q, %v", from, err)
	}
}

// What cannot be is refused at the start, with the valid form, before anything listens.
func TestServeRefuses(t *testing.T) {
	startsProcesses(t)
	taken, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(taken)
	free := []string{"--http=127.0.0.1:0", "--https=127.0.0.1:0", "--grpc=127.0.0.1:0", "--admin=127.0.0.1:0"}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--http=" + taken[0].Addr().String()}, "give another address, or port 0 for a free one"},
		{[]string{"--admin=0.0.0.0:0"}, "a loopback address, such as 127.0.0.1:8082"},
		{[]string{"--redis=cn-east=+127.0.0.1:6380"}, "region cn-east has no primary: it comes first, as in cn-east=HOST:PORT+REPLICA:PORT"},
		{[]string{"--redis=us=127.0.0.1:6379,us=127.0.0.1:6380"}, "region us is there twice"},
		{[]string{"--redis=us"}, "is no region: write cn-east=HOST:PORT"},
		{[]string{"--db-client=pq", "--db-max-open=16", "--db-max-idle=20"}, "give at most 16"},
		{[]string{"--db-max-idle=20"}, "pgxpool has no bound on idle connections"},
		{[]string{"--db-max-open=150"}, "the server takes 100 connections and keeps 3 of them for superusers: give at most 97"},
		{[]string{"--memory-limit=1MiB"}, "give auto, off, or more bytes"},
		{[]string{"--upload-budget=1MiB"}, "two uploads must have room"},
		{[]string{"--image-budget=1MiB"}, "such as 256MiB"},
		{[]string{"--upload-per-connection=1MiB"}, "such as 16MiB"},
		{[]string{"--gogc=-5"}, "or -1 for none"},
		{[]string{"--scorer=garbage"}, "write http://HOST:PORT/PATH, or --scorer standin"},
		{[]string{"--scorer=ftp://127.0.0.1/score"}, "write http://HOST:PORT/PATH, or --scorer standin"},
		{[]string{"--redis=us=127.0.0.1:1"}, "start it, give the address of one that answers, or --redis standin"},
		{[]string{"--scorer=http://127.0.0.1:1/score"}, "start it, give the address of one that answers, or --scorer standin"},
		{[]string{"--health=luck"}, "both"},
		{[]string{"--postgres=127.0.0.1 5432"}, "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, or --postgres standin"},
		{[]string{"--memory=stack"}, "must be one of"},
		{[]string{"--faults", "--postgres=postgres://matchmaker@127.0.0.1:1/x", "--redis=us=127.0.0.1:1", "--scorer=http://127.0.0.1:1"}, "--faults plays on stand-ins"},
	} {
		err := run(context.Background(), append(append([]string{"serve"}, free...), tt.args...))
		if !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.says)
		}
	}
}

// A database that does not answer is no mistake in the arguments: the error has the host, the
// reason and what would do.
func TestServeWithoutItsDatabase(t *testing.T) {
	startsProcesses(t)
	for _, c := range []struct {
		listens bool // and never answers
		why     string
	}{{false, "refused"}, {true, "deadline exceeded"}} {
		l, err := listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l[0].Addr().String()
		if c.listens {
			defer closeAll(l)
		} else {
			closeAll(l)
		}
		s := &serveCommand{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", GRPC: "127.0.0.1:0", Admin: "127.0.0.1:0", Postgres: "postgres://matchmaker@" + at + "/x", Redis: standIn, UploadBudget: "64MiB", substitute: standIns}
		err = s.serve(t.Context(), io.Discard)
		if err == nil || errors.As(err, new(command.UsageError)) || !containsAll(err.Error(), at+"/x", c.why, "--postgres standin") {
			t.Errorf("want %q: %v", c.why, err)
		}
	}
}

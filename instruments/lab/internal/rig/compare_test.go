package rig

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/instruments/lab/internal/rig/comparison"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

// Two variants are measured by three processes. What a short run on a busy machine measures is
// chance; that no request fails is not.
func TestCompare(t *testing.T) {
	startsProcesses(t)
	file := filepath.Join(t.TempDir(), "report.json")
	c := &compareCommand{
		program: service(t), backendFlags: backendFlags{standIn, standIn}, Connections: 8, JSON: file, Only: []string{"all"},
		times: times{50 * time.Millisecond, 50 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond, 0},
	}
	var out strings.Builder
	if err := c.compare(t.Context(), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r comparison.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[0].Variant != "before" || r.Rows[1].Variant != "all" || !r.StandIn {
		t.Fatalf("%s", text)
	}
	for _, row := range r.Rows {
		if row.Response.Errors > 0 || row.Allocs <= 0 || row.Bytes <= 0 || (row.CPU.Backends < 0) != (usedBy() < 0) {
			t.Errorf("%+v", row)
		}
	}
	if !containsAll(out.String(), "stand-in", "No verdict", "312 ms") {
		t.Error(out.String())
	}
}

// The processor time of backends is known if all are this command's own.
func TestTargetsUsed(t *testing.T) {
	startsProcesses(t)
	if usedBy() < 0 {
		t.Skip("no /proc on " + runtime.GOOS)
	}
	for _, tt := range []struct {
		postgres, redis string
		known           bool
	}{
		{standIn, standIn, true},
		{auto, auto, true},
		{standIn, "cn-east=127.0.0.1:1", false},
		{"postgres://127.0.0.1:1/", standIn, false},
	} {
		targets, err := (&compareCommand{backendFlags: backendFlags{tt.postgres, tt.redis}}).targets()
		if err != nil {
			t.Fatal(err)
		}
		if used := targets.used(); (used >= 0) != tt.known {
			t.Errorf("%s and %s: %v", tt.postgres, tt.redis, used)
		}
		if err := targets.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMedianOfTurns(t *testing.T) {
	turn := func(finished uint64, seconds float64) comparison.Round {
		return comparison.Round{Closed: load.Result{Finished: finished, Seconds: seconds}}
	}
	throughput, middle, err := median([]comparison.Round{turn(900, 1), turn(1000, 10), turn(300, 2)})
	if err != nil || throughput != 150 || middle.Closed.Finished != 300 {
		t.Errorf("%v of %d requests, %v", throughput, middle.Closed.Finished, err)
	}
	if _, _, err := median([]comparison.Round{turn(0, 1), turn(900, 1), turn(0, 1)}); err == nil || !strings.Contains(err.Error(), "no request") {
		t.Errorf("of a service that answers nothing: %v", err)
	}
}

// The open part is as long as a P999 of all rounds needs, within bounds, and the closed one twice
// as long as a user waits for an answer.
func TestTimes(t *testing.T) {
	full := times{time.Second, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}
	with := func(closedWarmup, closed, open time.Duration) times {
		return times{time.Second, closedWarmup, closed, open, 4 * time.Second}
	}
	for _, tt := range []struct {
		times            times
		throughput, rate float64
		users            int
		want             times
	}{
		{full, 3000, 2000, 64, full},
		{full, 3000, 520, 64, with(time.Second, 2*time.Second, forP999*time.Second/520/6)},
		{full, 1000, 100, 64, with(time.Second, 2*time.Second, 4*time.Second)},
		{full, 1000, 2000, 4000, with(4*time.Second, 8*time.Second, 3*time.Second)},
		{times{open: time.Second}, 1000, 100, 500, times{closedWarmup: time.Second / 2, closed: time.Second, open: time.Second}},
	} {
		got := tt.times.at(tt.throughput, tt.users, tt.rate, 6)
		if got.open = got.open.Round(time.Microsecond); got.open == tt.want.open.Round(time.Microsecond) {
			got.open = tt.want.open
		}
		if got != tt.want {
			t.Errorf("%+v at %v of %d users, and %v: %+v, want %+v", tt.times, tt.throughput, tt.users, tt.rate, got, tt.want)
		}
	}
}

// A file that cannot be written is an error before anything is measured.
func TestCompareFile(t *testing.T) {
	c := compareCommand{Connections: 8, JSON: filepath.Join(t.TempDir(), "none", "x.json"), backendFlags: backendFlags{standIn, "x"}}
	if err := c.compare(context.Background(), io.Discard, io.Discard); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "--json: ") {
		t.Errorf("%v", err)
	}
}

func TestCompareRefuses(t *testing.T) {
	for _, tt := range []struct {
		c    compareCommand
		says string
	}{
		{compareCommand{}, "give 1 or more"},
		{compareCommand{Connections: 8, Only: []string{"+ luck"}}, "the variants are before; "},
		{compareCommand{Connections: int(kit.OpenFiles())}, "open files, and a process may have"},
		{compareCommand{Connections: 8, backendFlags: backendFlags{standIn, "x"}}, "is no region"},
	} {
		if tt.c.Connections > 1<<30 {
			continue // a system without a bound on open files
		}
		err := tt.c.compare(context.Background(), io.Discard, io.Discard)
		if !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.says)
		}
	}
}

// A service that is measured has its passwords from where other users of the machine do not read.
func TestPasswordsAreOnNoCommandLine(t *testing.T) {
	args, environment := targets{postgres: "postgres://u:TOPSECRET@h/d", redis: "a=h:1", redisSecret: "TOPSECRET", scorer: "http://h/"}.service(variant.Variant{})
	if strings.Contains(strings.Join(args, " "), "TOPSECRET") || !slices.Contains(environment, "MATCHMAKER_POSTGRES=postgres://u:TOPSECRET@h/d") {
		t.Errorf("arguments %v, environment %v", args, environment)
	}
}

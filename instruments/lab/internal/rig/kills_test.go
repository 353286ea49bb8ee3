package rig

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"

	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"
)

// killSeed in the environment gives the steps at which [TestKilledDatabases] kills.
const killSeed = "MATCHMAKER_TEST_SEED"

// TestKilledDatabases kills a database of the service as kill -9 does, and nobody starts it again, while
// dewload asks the service: at the first session, in the run, or when the last one was due. Each session
// has finished or failed with a reason, and no process and no file is left.
func TestKilledDatabases(t *testing.T) {
	startsProcesses(t)
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc")
	}
	spec := realserver.Spec{Postgres: true, Regions: []string{"cn-east"}}
	if err := realserver.Installed(spec); err != nil {
		t.Skip(err)
	}
	seed := rand.Uint64()
	if text := os.Getenv(killSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("again by %s=%d", killSeed, seed)
	p := service(t) // before there is another directory
	random := rand.New(rand.NewPCG(seed, 0))
	for _, victim := range []string{"PostgreSQL", "Redis"} {
		step := random.IntN(3)
		t.Run(victim+" "+[]string{"at the first session", "in the run", "after the last arrival"}[step], func(t *testing.T) {
			killedDatabase(t, p, spec, victim, step)
		})
	}
}

func killedDatabase(t *testing.T, p program, spec realserver.Spec, victim string, step int) {
	dir, err := os.MkdirTemp("", "mm") // t.TempDir is long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL does not run as root
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	servers, err := realserver.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	victims := map[string]func(*testing.T, *realserver.Servers) int{"PostgreSQL": postmaster, "Redis": redisServer}
	pid := victims[victim](t, servers)
	s, err := p.start(t.Context(), []string{"--scorer=standin"}, "MATCHMAKER_POSTGRES="+servers.Postgres, "MATCHMAKER_REDIS="+servers.Redis, redisPassword+"="+servers.RedisSecret)
	if err != nil {
		t.Fatal(err)
	}

	f, err := scenariofile.Parse("session.yaml", []byte(scenariofile.Example))
	if err != nil {
		t.Fatal(err)
	}
	scenario := f.Scenario
	scenario.Target, scenario.Thresholds, scenario.Abort = "http://"+s.addresses.HTTP, nil, load.Abort{}
	scenario.Arrivals = load.Arrivals{Rate: 20, Process: load.Poisson, Duration: 2 * time.Second, Seed: 1}
	var once sync.Once
	kill := func() {
		once.Do(func() {
			if err := killProcess(pid); err != nil {
				t.Error(err)
			}
		})
	}
	o := load.Options{Progress: func(p load.Progress) {
		if p.Elapsed >= time.Duration(step)*time.Second {
			kill()
		}
	}}
	if step == 0 {
		kill()
	}
	r, err := load.Run(t.Context(), scenario, o)
	kill()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := accounted(&out, &r, nil); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	t.Log(out.String())
	if victim == "PostgreSQL" && step == 0 && r.Finished > 0 {
		t.Errorf("%d sessions finished without a database", r.Finished)
	}

	if err := s.stop(); err != nil {
		t.Error(err)
	}
	servers.Close() // says that one had ended
	for left := processesOf(t, dir); len(left) > 0; left = processesOf(t, dir) {
		time.Sleep(10 * time.Millisecond) // a hang shows in the test binary's timeout
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v: %v are left", err, left)
	}
}

func killProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// postmaster is the process that has started all others of a PostgreSQL.
func postmaster(t *testing.T, s *realserver.Servers) (pid int) {
	c, err := pgx.Connect(t.Context(), s.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	text := ""
	if err := c.QueryRow(t.Context(), "SELECT pg_read_file('postmaster.pid')").Scan(&text); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(text, "\n")
	if pid, err = strconv.Atoi(line); err != nil {
		t.Fatal(err)
	}
	return pid
}

var processID = regexp.MustCompile(`process_id:(\d+)`)

func redisServer(t *testing.T, s *realserver.Servers) (pid int) {
	c := redis.NewClient(&redis.Options{Addr: primaryOf(s.Redis), Password: s.RedisSecret})
	defer c.Close()
	text, err := c.Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	found := processID.FindStringSubmatch(text)
	if found == nil {
		t.Fatal(text)
	}
	if pid, err = strconv.Atoi(found[1]); err != nil {
		t.Fatal(err)
	}
	return pid
}

// processesOf are those whose arguments or environment name the directory.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, p := range all {
		if p == "/proc/"+strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, name := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join(p, name))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				continue // somebody else's, or it ends
			}
			if bytes.Contains(text, []byte(dir)) {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

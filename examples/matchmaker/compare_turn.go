package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/load"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/account"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/comparison"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/store"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/variant"
)

// most is how many connections the database takes.
func (t targets) most(ctx context.Context) (int, error) {
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	c, err := pgx.Connect(within, t.postgres)
	if err != nil {
		return 0, fmt.Errorf("PostgreSQL does not answer: %w; try --postgres standin", err)
	}
	defer c.Close(context.Background())
	most, reserved, err := store.Bounds(within, c)
	return most - reserved, err
}

// turn measures one variant once, in a process of its own. With rate 0 it has no open part.
func (c *compareCommand) turn(ctx context.Context, t targets, v variant.Variant, rate float64, round int) (r comparison.Round, err error) {
	r.Variant = v.Name
	s, err := startService(ctx, append([]string{"--postgres=" + t.postgres, "--redis=" + t.redis, "--scorer=" + t.scorer}, v.Args()...))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()

	scenario := c.scenario(s.addresses.HTTP)
	scenario.Arrivals = load.Arrivals{Users: c.Connections, Warmup: c.times.closedWarmup, Duration: c.times.closed, Seed: uint64(round)}
	if r.Closed, r.InClosed, err = s.measured(ctx, scenario); err != nil || rate == 0 {
		return r, err
	}
	scenario.Arrivals = load.Arrivals{Rate: rate, Process: load.Poisson, Warmup: c.times.warmup, Duration: c.times.open, Seed: uint64(round)}
	begun, backends := time.Now(), t.used()
	if r.Open, r.InOpen, err = s.measured(ctx, scenario); err != nil {
		return r, err
	}
	all := float64(time.Since(begun)) * float64(runtime.NumCPU())
	r.ServiceCPU, r.BackendsCPU = float64(r.InOpen.CPU)/all, -1
	if after := t.used(); backends >= 0 && after >= 0 {
		r.BackendsCPU = float64(after-backends) / all
	}
	return r, ctx.Err()
}

// scenario is the load test's one path, for few users: their profiles are soon in Redis, whatever
// came before.
func (c *compareCommand) scenario(address string) load.Scenario {
	return load.Scenario{
		Name: "matches", Target: "http://" + address, Connections: c.Connections,
		Data:    []load.Data{load.Integers("uid", 1, 2000)},
		Limits:  load.Limits{InFlight: max(2000, 2*c.Connections), Timeout: time.Minute},
		Session: []load.Step{{Name: "matches", Do: load.Request{URL: "/api/v1/matches?uid=${uid}", Expect: load.Expect{Status: http.StatusOK}}}},
	}
}

// A childService is the service in a process of its own.
type childService struct {
	command   *exec.Cmd
	addresses Addresses
	dir       string
}

// asService is set in its environment: there, a test's program is the service.
const asService = "MATCHMAKER_SERVICE"

func startService(ctx context.Context, args []string) (*childService, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &childService{}
	if s.dir, err = os.MkdirTemp("", "matchmaker"); err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "addresses.json")
	s.command = exec.Command(self, append([]string{"serve", "--http=127.0.0.1:0", "--https=127.0.0.1:0", "--grpc=127.0.0.1:0", "--admin=127.0.0.1:0", "--addresses=" + file}, args...)...)
	s.command.Env = append(withoutCollector(os.Environ()), asService+"=1")
	said := new(strings.Builder)
	s.command.Stderr = said
	out, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	over := context.AfterFunc(ctx, func() { s.command.Process.Kill() })
	defer over()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s.addresses)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the service did not start: %w", err), s.stop(), errors.New(strings.TrimSpace(said.String())))
	}
	go io.Copy(io.Discard, out) // it says no more, until Wait closes the pipe
	return s, nil
}

// withoutCollector drops what sets the collector: flags do.
func withoutCollector(env []string) []string {
	var out []string
	for _, e := range env {
		if !strings.HasPrefix(e, "GOGC=") && !strings.HasPrefix(e, "GOMEMLIMIT=") {
			out = append(out, e)
		}
	}
	return out
}

// stop ends the service as Ctrl-C does, or by force where there is none.
func (s *childService) stop() error {
	if s.command.Process.Signal(os.Interrupt) != nil {
		s.command.Process.Kill()
	}
	err := s.command.Wait()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// measured runs a scenario, and says what the service did meanwhile.
func (s *childService) measured(ctx context.Context, scenario load.Scenario) (load.Result, account.Window, error) {
	before, err := s.account(ctx)
	if err != nil {
		return load.Result{}, account.Window{}, err
	}
	result, err := load.Run(ctx, scenario, load.Options{})
	if err != nil {
		return result, account.Window{}, err
	}
	after, err := s.account(ctx)
	return result, account.Between(before, after), err
}

func (s *childService) account(ctx context.Context) (a account.Snapshot, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addresses.Admin+"/admin/account", nil)
	if err != nil {
		return a, err
	}
	q.Close = true
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	return a, json.NewDecoder(res.Body).Decode(&a)
}

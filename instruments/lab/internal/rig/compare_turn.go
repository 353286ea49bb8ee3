package rig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/comparison"
	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
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
	args, environment := t.service(v)
	s, err := c.start(ctx, args, environment...)
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

// service is how a service on these backends is started. What may have a password is in its
// environment: who lists processes sees arguments.
func (t targets) service(v variant.Variant) (args, environment []string) {
	return append([]string{"--scorer=" + t.scorer}, v.Args()...),
		[]string{"MATCHMAKER_POSTGRES=" + t.postgres, "MATCHMAKER_REDIS=" + t.redis, redisPassword + "=" + t.redisSecret}
}

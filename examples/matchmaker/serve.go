package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	"github.com/dewpond/dewpond/examples/matchmaker/plainly"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A serveCommand is the service's options.
type serveCommand struct {
	HTTP      string `name:"http" default:"127.0.0.1:8080" placeholder:"ADDR" help:"HTTP/1.1 and h2c (${default}); port 0 takes a free one."`
	HTTPS     string `name:"https" default:"127.0.0.1:8443" placeholder:"ADDR" help:"TLS with HTTP/2, by a certificate made at the start (${default})."`
	GRPC      string `name:"grpc" default:"127.0.0.1:8081" placeholder:"ADDR" help:"gRPC (${default}); --http answers it too."`
	Admin     string `default:"127.0.0.1:8082" placeholder:"ADDR" help:"Metrics, profiles and health, on a loopback address (${default})."`
	Addresses string `type:"path" placeholder:"FILE" help:"Write the addresses to a file, as JSON."`

	Scorer       string `default:"standin" env:"MATCHMAKER_SCORER" placeholder:"URL" help:"A scorer that answers as the stand-in does, or standin (the default)."`
	Postgres     string `default:"standin" env:"MATCHMAKER_POSTGRES" placeholder:"DSN" help:"A PostgreSQL, or standin (the default)."`
	UploadBudget string `default:"64MiB" placeholder:"BYTES" help:"Memory of uploads, all together; those that find no room wait, then get 503 (${default})."`

	UploadPerConnection string `placeholder:"BYTES" help:"How much of it one connection may have, or off. By itself an eighth, and room for one upload at least. Where a proxy brings many users by one connection of HTTP/2: off."`
	UploadPerAddress    string `default:"off" placeholder:"BYTES" help:"How much of it one peer address may have, or off (${default}): behind a proxy all users have one."`
	ImageBudget         string `default:"256MiB" placeholder:"BYTES" help:"Memory of the images that are decoded, all together; one that takes more is refused, and others wait, then get 503 (${default})."`

	DBClient      string        `name:"db-client" default:"pgxpool" placeholder:"CLIENT" help:"pgxpool, pgx-sql (database/sql on pgx) or pq (database/sql on lib/pq) (${default})."`
	DBMaxOpen     int           `name:"db-max-open" default:"50" placeholder:"N" help:"Connections to PostgreSQL at most (${default})."`
	DBMaxIdle     int           `name:"db-max-idle" placeholder:"N" help:"How many of them are kept that nobody uses; all by itself. database/sql's own default is 2; pgxpool has no such bound."`
	DBMaxLifetime time.Duration `name:"db-max-lifetime" default:"30m" placeholder:"TIME" help:"A connection that is older is closed (${default}); 0: none is."`
	DBMaxIdleTime time.Duration `name:"db-max-idle-time" default:"30m" placeholder:"TIME" help:"A connection that nobody has used for longer is closed (${default}); 0: none is."`

	DBTimeout time.Duration `name:"db-timeout" default:"5s" placeholder:"TIME" help:"Of a statement, its wait for a connection included (${default})."`

	Health      string        `placeholder:"MODE" help:"How dead connections and servers are found: fastfail looks before each use, ping in the background; both, or off. By itself both where the client can: pgx-sql has fastfail, and pq is off."`
	PingEvery   time.Duration `default:"30s" placeholder:"TIME" help:"How often an idle connection to PostgreSQL is pinged (${default})."`
	PingTimeout time.Duration `default:"2s" placeholder:"TIME" help:"How long it has to answer (${default})."`

	ScorerTransport string `default:"tuned" enum:"tuned,default" help:"How the scorer is called: tuned keeps 200 idle connections for 90 s, default is net/http's, which keeps 2 (${default})."`
	Memory          string `default:"dewpond" enum:"dewpond,sync.Pool,none" help:"Where the memory of a request comes from: dewpond, sync.Pool in the same places, or none: new for each request (${default})."`

	GOGC        int    `name:"gogc" placeholder:"PERCENT" help:"The collector's GOGC; the environment's by itself, -1 for none."`
	MemoryLimit string `placeholder:"LIMIT" help:"The collector's memory limit: bytes, such as 256MiB, off, or auto: nine tenths of the cgroup's, and none where it has none. By itself GOMEMLIMIT, or else auto."`
	Degrade     string `default:"on" enum:"on,off" help:"Whether features go off where memory is scarce (${default}); off is there to be compared with."`

	SessionLog string `type:"path" placeholder:"FILE" help:"Write a line of JSON for each request, as dewload learn reads it."`
	Faults     bool   `help:"Have POST /admin/fault and POST /admin/ballast, which play what can go wrong with the stand-ins and with memory."`

	// substitute stands in for backends.
	substitute func(wanted) (substitutes, error) `kong:"-"`
	Unhurried  bool                              `hidden:"" help:"Wait a minute for what the service is made of, and let the machine's memory pressure turn nothing off: for tests on a busy machine."`
	// bodyGrace, if it is not 0, is what every body has in any case, of the time to come.
	bodyGrace time.Duration `kong:"-"`

	Redis string `default:"standin" env:"MATCHMAKER_REDIS" placeholder:"REGIONS" help:"cn-east=HOST:PORT+REPLICA:PORT,us-west=HOST:PORT; the first is the fallback. Or standin (the default). MATCHMAKER_REDIS_PASSWORD has their password."`

	// RedisPassword is that of every Redis of --redis. It comes by the environment: who lists
	// processes sees flags.
	RedisPassword string `kong:"-"`

	RedisMaxOpen int `name:"redis-max-open" default:"32" placeholder:"N" help:"Connections to each Redis at most (${default}), and one more for probes."`
	RedisMaxIdle int `name:"redis-max-idle" placeholder:"N" help:"How many of them are kept that nobody uses; all by itself."`
}

// regionOptions are those of the connections to each Redis.
func (c *serveCommand) regionOptions() (region.Options, error) {
	o := region.Options{MaxActive: c.RedisMaxOpen, MaxIdle: c.RedisMaxIdle, Health: c.Health, Timeout: c.within(0)}
	if c.Redis != standIn {
		o.Password = cmp.Or(c.RedisPassword, os.Getenv(redisPassword))
	}
	if err := o.Validate(); err != nil {
		return o, command.UsageError{Err: fmt.Errorf("--redis-max-open, --redis-max-idle: %w", err)}
	}
	return o, nil
}

// redisPassword is the variable that has the password of --redis.
const redisPassword = "MATCHMAKER_REDIS_PASSWORD"

// poolOptions are those of the connections to PostgreSQL.
func (c *serveCommand) poolOptions() (store.PoolOptions, error) {
	client, err := c.client()
	if err != nil {
		return store.PoolOptions{}, err
	}
	o := store.PoolOptions{Client: client, MaxOpen: c.DBMaxOpen, MaxIdle: c.DBMaxIdle, MaxLifetime: c.DBMaxLifetime, MaxIdleTime: c.DBMaxIdleTime, Health: c.Health, PingEvery: c.PingEvery, PingTimeout: c.PingTimeout, Timeout: c.DBTimeout}
	if err := o.Validate(); err != nil {
		return o, command.UsageError{Err: err}
	}
	return o, nil
}

// sessions opens the session log. There is none without --session-log.
func (c *serveCommand) sessions() (*sessionlog.Log, func() error, error) {
	if c.SessionLog == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.Create(c.SessionLog)
	if err != nil {
		return nil, nil, command.UsageError{Err: fmt.Errorf("--session-log: %w; give a file in a directory that is there", err)}
	}
	log := sessionlog.New(f)
	return log, func() error { return errors.Join(log.Err(), f.Close()) }, nil
}

// within is how long the service waits for something: d, if it is not Unhurried.
func (c *serveCommand) within(d time.Duration) time.Duration {
	if c.Unhurried {
		return time.Minute
	}
	return d
}

// linger is how long the service goes on when it is told to stop, and grace how long requests in
// flight have to end then.
const (
	linger = 300 * time.Millisecond
	grace  = 8 * time.Second
)

// Run serves until ctx is done.
func (c *serveCommand) Run(ctx context.Context) error { return c.serve(ctx, plainly.Stdout) }

func (c *serveCommand) serve(ctx context.Context, out io.Writer) (err error) {
	limited, err := c.collect(memlimit.FromCgroup)
	if err != nil {
		return err
	}
	log, closeLog, err := c.sessions()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLog()) }()
	b, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := b.close(); err == nil {
			err = closeErr
		}
	}()
	bytes := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "matchmaker"})
	source, err := c.source(bytes)
	if err != nil {
		return errors.Join(err, bytes.Close())
	}
	defer func() { err = errors.Join(err, source.Close(), bytes.Close()) }()
	s, err := newServers(c, b, source, bytes, log)
	if err != nil {
		return err
	}
	if err := c.tell(out, b, s.addresses, limited); err != nil {
		return errors.Join(err, s.stop(context.Background()))
	}
	s.ready.Store(true)
	fmt.Fprintln(out, "ready")
	select {
	case err = <-s.failed:
	case <-ctx.Done():
	}
	if c.Unhurried {
		s.leave(0)
	} else {
		s.leave(linger)
	}
	within, cancel := context.WithTimeout(context.Background(), c.within(grace))
	defer cancel()
	return errors.Join(err, s.stop(within))
}

// Addresses are where the service listens.
type Addresses struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
	GRPC  string `json:"grpc"`
	Admin string `json:"admin"`
}

func (c *serveCommand) tell(out io.Writer, b *backends, a Addresses, limited string) error {
	fmt.Fprintf(out, "postgres  %s\nredis     %s\nscorer    %s\n", b.postgres, b.redis, b.scorer)
	fmt.Fprintf(out, "collector GOGC %d, memory limit %s (%s)\n", collector().GOGC, collector().Limit, limited)
	fmt.Fprintf(out, "http      http://%s (HTTP/1.1, h2c)\nhttps     https://%s (HTTP/2)\ngrpc      %s\nadmin     http://%s/metrics\n", a.HTTP, a.HTTPS, a.GRPC, a.Admin)
	if c.Addresses == "" {
		return nil
	}
	text, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Addresses, append(text, '\n'), 0o644)
}

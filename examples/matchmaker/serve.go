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
	HTTP      string `name:"http" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Listen on ADDR for HTTP/1.1, and for HTTP/2 without TLS (default ${default}). Port 0 takes a free port."`
	HTTPS     string `name:"https" default:"127.0.0.1:8443" placeholder:"ADDR" help:"Listen on ADDR for HTTP/2 with TLS, with a certificate that is made at the start (default ${default})."`
	GRPC      string `name:"grpc" default:"127.0.0.1:8081" placeholder:"ADDR" help:"Listen on ADDR for gRPC (default ${default}). --http answers gRPC too."`
	Admin     string `default:"127.0.0.1:8082" placeholder:"ADDR" help:"Listen on ADDR, which must be a loopback address, for metrics, profiles and health checks (default ${default})."`
	Metrics   string `placeholder:"ADDR" help:"Listen on ADDR, which may be of any network, for metrics and health checks alone, as a container's are asked for. By default only --admin answers them."`
	Addresses string `type:"path" placeholder:"FILE" help:"Write the addresses that the service listens on to FILE, as JSON."`

	Scorer       string `default:"standin" env:"MATCHMAKER_SCORER" placeholder:"URL" help:"Ask the scorer at URL for scores. It must answer as the stand-in does, which standin starts (default ${default})."`
	Postgres     string `default:"standin" env:"MATCHMAKER_POSTGRES" placeholder:"DSN" help:"Use the PostgreSQL at DSN, or start a stand-in with standin (default ${default})."`
	UploadBudget string `default:"64MiB" placeholder:"BYTES" help:"Use at most BYTES of memory for all uploads together (default ${default}). An upload that finds no room waits, and then gets status 503."`

	UploadPerConnection string `placeholder:"BYTES" help:"Let one connection use at most BYTES of --upload-budget; off sets no bound. The default is an eighth of it, and at least room for one upload. Give off where a proxy brings many users by one HTTP/2 connection."`
	UploadPerAddress    string `default:"off" placeholder:"BYTES" help:"Let one client address use at most BYTES of --upload-budget; off sets no bound (default ${default}). Behind a proxy all users have one address."`
	ImageBudget         string `default:"256MiB" placeholder:"BYTES" help:"Use at most BYTES of memory for all images that are being decoded (default ${default}). An image that needs more is refused; one that finds no room waits, and then gets status 503."`

	DBClient      string        `name:"db-client" default:"pgxpool" placeholder:"CLIENT" help:"Use CLIENT to talk to PostgreSQL: pgxpool, pgx-sql (pgx on database/sql) or pq (lib/pq on database/sql) (default ${default})."`
	DBMaxOpen     int           `name:"db-max-open" default:"50" placeholder:"N" help:"Open at most N connections to PostgreSQL (default ${default})."`
	DBMaxIdle     int           `name:"db-max-idle" placeholder:"N" help:"Keep at most N idle connections to PostgreSQL. The default is to keep all; that of database/sql is 2. pgxpool has no such bound and refuses the flag."`
	DBMaxLifetime time.Duration `name:"db-max-lifetime" default:"30m" placeholder:"TIME" help:"Close a connection to PostgreSQL that is older than TIME (default ${default}); 0 sets no bound."`
	DBMaxIdleTime time.Duration `name:"db-max-idle-time" default:"30m" placeholder:"TIME" help:"Close a connection to PostgreSQL that nobody has used for TIME (default ${default}); 0 sets no bound."`

	DBTimeout time.Duration `name:"db-timeout" default:"5s" placeholder:"TIME" help:"Fail a statement that takes longer than TIME, including the wait for a connection (default ${default})."`

	Health      string        `placeholder:"MODE" help:"Look for dead connections and servers: fastfail looks before each use, ping looks in the background, both does both, and off neither. The default for Redis is both, and for PostgreSQL what the client can do: both with pgxpool, fastfail with pgx-sql, off with pq."`
	PingEvery   time.Duration `default:"30s" placeholder:"TIME" help:"Ping each idle connection to PostgreSQL every TIME, where --health pings (default ${default})."`
	PingTimeout time.Duration `default:"2s" placeholder:"TIME" help:"Close a connection to PostgreSQL that does not answer a ping within TIME (default ${default})."`

	ScorerTransport string `default:"tuned" enum:"tuned,default" placeholder:"NAME" help:"Call the scorer by this http.Transport: tuned keeps 200 idle connections for 90 s, default is net/http's own and keeps 2 (default ${default})."`
	Memory          string `default:"dewpond" enum:"dewpond,sync.Pool,none" placeholder:"NAME" help:"Take the memory of requests from dewpond's pools, from sync.Pool in the same places, or from none: new memory for each request (default ${default})."`

	GOGC        int    `name:"gogc" placeholder:"PERCENT" help:"Set the garbage collector's GOGC to PERCENT; -1 turns the collector off. The default is the environment's GOGC."`
	MemoryLimit string `placeholder:"LIMIT" help:"Set the garbage collector's memory limit to LIMIT: bytes, such as 256MiB; off; or auto, nine tenths of the cgroup's limit, and off where there is none. The default is the environment's GOMEMLIMIT, and auto where it is not set."`
	Degrade     string `default:"on" enum:"on,off" placeholder:"on|off" help:"Turn features off where memory is scarce, on or off (default ${default}). off is for comparisons."`

	SessionLog string `type:"path" placeholder:"FILE" help:"Write a line of JSON to FILE for each request, for dewload learn."`
	Faults     bool   `help:"Answer POST /admin/fault, which breaks stand-ins, and POST /admin/ballast, which takes memory."`

	// substitute stands in for backends.
	substitute func(wanted) (substitutes, error) `kong:"-"`
	Unhurried  bool                              `hidden:"" help:"Wait a minute for what the service is made of, and let the machine's memory pressure turn nothing off: for tests on a busy machine."`
	// bodyGrace, if it is not 0, is what every body has in any case, of the time to come.
	bodyGrace time.Duration `kong:"-"`

	Redis string `default:"standin" env:"MATCHMAKER_REDIS" placeholder:"REGIONS" help:"Use the Redis servers of REGIONS, as in cn-east=HOST:PORT+REPLICA:PORT,us-west=HOST:PORT, or start stand-ins with standin (default ${default}). The first region also serves users of a region that is not listed. MATCHMAKER_REDIS_PASSWORD has the password of all."`

	// RedisPassword is that of every Redis of --redis. It comes by the environment: who lists
	// processes sees flags.
	RedisPassword string `kong:"-"`

	RedisMaxOpen int `name:"redis-max-open" default:"32" placeholder:"N" help:"Open at most N connections to each Redis server, and one more for probes (default ${default})."`
	RedisMaxIdle int `name:"redis-max-idle" placeholder:"N" help:"Keep at most N idle connections to each Redis server. The default is to keep all."`

	DBMinIdle    int `name:"db-min-idle" placeholder:"N" help:"Keep at least N idle connections to PostgreSQL open, within --db-max-open, and be ready when they are. The default is none; database/sql cannot, and refuses the flag."`
	RedisMinIdle int `name:"redis-min-idle" placeholder:"N" help:"Keep at least N idle connections to each Redis server open, within --redis-max-open, and be ready when they are. The default is none."`

	LocalCache time.Duration `placeholder:"TIME" help:"Keep what Redis has answered for TIME in this process, such as 5ms: a key that everybody asks for costs Redis one read in TIME. What another process writes is seen TIME later. The default is to keep nothing."`
}

// regionOptions are those of the connections to each Redis.
func (c *serveCommand) regionOptions() (region.Options, error) {
	o := region.Options{MaxActive: c.RedisMaxOpen, MaxIdle: c.RedisMaxIdle, MinIdle: c.RedisMinIdle, Health: c.Health, Timeout: c.within(0)}
	if c.Redis != standIn {
		o.Password = cmp.Or(c.RedisPassword, os.Getenv(redisPassword))
	}
	if err := o.Validate(); err != nil {
		return o, command.UsageError{Err: fmt.Errorf("--redis-max-open, --redis-max-idle, --redis-min-idle: %w", err)}
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
	o := store.PoolOptions{Client: client, MaxOpen: c.DBMaxOpen, MaxIdle: c.DBMaxIdle, MinIdle: c.DBMinIdle, MaxLifetime: c.DBMaxLifetime, MaxIdleTime: c.DBMaxIdleTime, Health: c.Health, PingEvery: c.PingEvery, PingTimeout: c.PingTimeout, Timeout: c.DBTimeout}
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

	Metrics string `json:"metrics,omitempty"` // where --metrics is given
}

func (c *serveCommand) tell(out io.Writer, b *backends, a Addresses, limited string) error {
	fmt.Fprintf(out, "postgres  %s\nredis     %s\nscorer    %s\n", b.postgres, b.redis, b.scorer)
	fmt.Fprintf(out, "collector GOGC %d, memory limit %s (%s)\n", collector().GOGC, collector().Limit, limited)
	fmt.Fprintf(out, "http      http://%s (HTTP/1.1, h2c)\nhttps     https://%s (HTTP/2)\ngrpc      %s\nadmin     http://%s/metrics\n", a.HTTP, a.HTTPS, a.GRPC, a.Admin)
	if a.Metrics != "" {
		fmt.Fprintf(out, "metrics   http://%s/metrics\n", a.Metrics)
	}
	if c.Addresses == "" {
		return nil
	}
	text, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(c.Addresses, append(text, '\n'), 0o644)
}

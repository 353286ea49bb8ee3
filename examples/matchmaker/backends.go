package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/near"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// standIn is the value of a flag that asks for one.
const standIn = "standin"

// backends are what the service stands on.
type backends struct {
	substitutes substitutes
	store       store.Store
	regions     *region.Map
	near        *near.Cache // nil where nothing is kept in this process

	postgres, redis, scorer string // what each is, for people
	scorerURL               string
}

// wanted are the backends that something is to stand in for.
type wanted struct {
	postgres, redis, scorer bool
	faults                  bool // and whether what can go wrong with it can be played
}

// substitutes stand in for backends: where those are that were wanted, what else the admin port
// answers, and what ends them all. The zero value is none.
type substitutes struct {
	postgres, redis, scorer string // a DSN, what region.Parse reads, a URL
	routes                  func(*http.ServeMux)
	end                     func() error
}

// connectWithin is how long a database has to answer at the start.
const connectWithin = 4 * time.Second

// connect has the substitutes start that are wanted, and connects to the backends.
func (c *serveCommand) connect(ctx context.Context) (b *backends, err error) {
	region.Silence()
	pool, err := c.poolOptions()
	if err != nil {
		return nil, err
	}
	redis, err := c.regionOptions()
	if err != nil {
		return nil, err
	}
	if c.LocalCache < 0 {
		return nil, command.UsageError{Err: fmt.Errorf("--local-cache %v: give a time such as 5ms, or leave it out: then nothing is kept in this process", c.LocalCache)}
	}
	w := wanted{c.Postgres == standIn, c.Redis == standIn, c.Scorer == standIn || c.Scorer == "", c.Faults}
	if err := c.addressed(w); err != nil {
		return nil, err
	}
	b = &backends{postgres: "server", redis: "server " + c.Redis, scorer: "server " + c.Scorer, scorerURL: c.Scorer}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
			b = nil
		}
	}()
	if w != (wanted{}) {
		if b.substitutes, err = c.substitute(w); err != nil {
			return b, err
		}
	}
	dsn, at := c.Postgres, c.Redis
	if w.postgres {
		dsn, b.postgres = b.substitutes.postgres, "stand-in (process of its own)"
	}
	if w.redis {
		at, b.redis = b.substitutes.redis, "stand-in "+b.substitutes.redis
	}
	if w.scorer {
		b.scorerURL, b.scorer = b.substitutes.scorer, "stand-in"
	}
	nodes, err := region.Parse(at)
	if err != nil {
		return b, err
	}
	if err := b.openStore(ctx, dsn, pool, c.within(connectWithin)); err != nil {
		return b, err
	}
	if b.regions, err = region.New(nodes, redis); err == nil {
		err = b.awaitRedis(ctx, c.within(connectWithin))
	}
	if err == nil && !w.scorer {
		err = awaitScorer(ctx, c.Scorer, c.within(connectWithin))
	}
	if err == nil {
		b.regions.Probe(ctx) // from here on, replicas that have all are read
		err = b.warm(ctx, pool, redis, c.within(connectWithin))
	}
	if err == nil {
		if c.LocalCache > 0 {
			b.near = near.New(b.regions, c.LocalCache)
		}
		b.regions.Replicas(func(region, node string, read bool, _ int64) {
			if !read {
				b.redis += fmt.Sprintf(" (%s is not read: it is not there, lags, or is no replica of %s's primary)", node, region)
			}
		})
	}
	return b, err
}

// cache is what keeps values by key.
func (b *backends) cache() service.Cache {
	if b.near != nil {
		return b.near
	}
	return b.regions
}

// warm returns when the connections are open that are to be kept idle: the first request makes none.
func (b *backends) warm(ctx context.Context, pool store.PoolOptions, redis region.Options, connectWithin time.Duration) error {
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := store.Warm(within, b.store, pool.MinIdle); err != nil {
		return command.UsageError{Err: fmt.Errorf("--db-min-idle %d: %w; is the server near its max_connections? Give less", pool.MinIdle, err)}
	}
	if err := b.regions.Warm(within); err != nil {
		return command.UsageError{Err: fmt.Errorf("--redis-min-idle %d: %w; is the server near its maxclients? Give less", redis.MinIdle, err)}
	}
	return nil
}

// addressed returns an error if a backend that nothing stands in for has an address that is none.
func (c *serveCommand) addressed(w wanted) error {
	if _, err := region.Parse(c.Redis); err != nil && !w.redis {
		return command.UsageError{Err: fmt.Errorf("--redis: %w", err)}
	}
	if _, err := pgx.ParseConfig(c.Postgres); err != nil && !w.postgres {
		return command.UsageError{Err: fmt.Errorf("--postgres: %w; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, or --postgres standin", err)}
	}
	if u, err := url.Parse(c.Scorer); !w.scorer && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		return command.UsageError{Err: fmt.Errorf("--scorer %q is no address: write http://HOST:PORT/PATH, or --scorer standin", c.Scorer)}
	}
	return nil
}

// awaitRedis wants every region's primary to answer. One that is slow has its time.
func (b *backends) awaitRedis(ctx context.Context, connectWithin time.Duration) error {
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	for {
		err := b.regions.Ping(within)
		if err == nil {
			return nil
		}
		refused := (*net.OpError)(nil)
		if errors.As(err, &refused) && refused.Op == "dial" && !refused.Timeout() || within.Err() != nil {
			return command.UsageError{Err: fmt.Errorf("--redis: %w; start it, give the address of one that answers, or --redis standin", err)}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// awaitScorer wants the scorer to answer with a score.
func awaitScorer(ctx context.Context, url string, connectWithin time.Duration) error {
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := upstream.Await(within, url); err != nil {
		return command.UsageError{Err: fmt.Errorf("--scorer: %w; start it, give the address of one that answers, or --scorer standin", err)}
	}
	return nil
}

func (b *backends) openStore(ctx context.Context, dsn string, o store.PoolOptions, connectWithin time.Duration) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s:%d/%s", config.Host, config.Port, config.Database)
	within, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	c, err := pgx.ConnectConfig(within, config)
	if err != nil {
		return fmt.Errorf("PostgreSQL at %s does not answer: %w; try --postgres standin", at, err)
	}
	defer c.Close(context.Background())
	making, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := store.Prepare(making, c); err != nil {
		return fmt.Errorf("PostgreSQL at %s: %w", at, err)
	}
	err = store.Fit(making, c, o.MaxOpen)
	if errors.As(err, new(*store.BoundError)) {
		return command.UsageError{Err: err}
	}
	if err != nil {
		return fmt.Errorf("PostgreSQL at %s: %w", at, err)
	}
	b.postgres += fmt.Sprintf(" %s, by %s of at most %d connections", at, o.Client, o.MaxOpen)
	b.store, err = store.Open(ctx, dsn, o)
	return err
}

func (b *backends) close() error {
	var all error
	if b.store != nil {
		b.store.Close()
	}
	if b.near != nil {
		b.near.Close()
	}
	if b.regions != nil {
		all = b.regions.Close()
	}
	if b.substitutes.end != nil {
		all = errors.Join(all, b.substitutes.end())
	}
	return all
}

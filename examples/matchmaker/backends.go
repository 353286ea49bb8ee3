package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/region"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/store"
)

// standIn is the value of a flag that asks for one.
const standIn = "standin"

// backends are what the service stands on.
type backends struct {
	child   *standin.Child
	faults  faults // nil without --faults
	store   store.Store
	regions *region.Map

	postgres, redis, scorer string // what each is, for people
	scorerURL               string
}

// connectWithin is how long a database has to answer at the start.
const connectWithin = 4 * time.Second

// connect starts the stand-ins that are asked for, and connects to the backends.
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
	dsn, nodes := c.Postgres, []region.Nodes(nil)
	spec := standin.Spec{Postgres: dsn == standIn}
	if c.Redis == standIn {
		spec.Regions = []string{store.East, store.West}
	} else if nodes, err = region.Parse(c.Redis); err != nil {
		return nil, usageError{fmt.Errorf("--redis: %w", err)}
	}
	if dsn != standIn {
		if _, err := pgx.ParseConfig(dsn); err != nil {
			return nil, usageError{fmt.Errorf("--postgres: %w; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, or --postgres standin", err)}
		}
	}
	b = &backends{postgres: "server", redis: "server " + c.Redis, scorer: "stand-in"}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
			b = nil
		}
	}()
	if c.Scorer != standIn && c.Scorer != "" {
		b.scorer, b.scorerURL, spec.NoScorer = "server "+c.Scorer, c.Scorer, true
	}
	if spec.Postgres || spec.Regions != nil || !spec.NoScorer {
		if b.child, err = standin.Start(spec); err != nil {
			return b, err
		}
	}
	if c.Faults {
		if b.child == nil {
			return b, usageError{errors.New("--faults plays on stand-ins, and there is none: leave out --postgres, --redis or --scorer, or --faults")}
		}
		b.faults = faults{}
		if err := b.faults.before(&b.child.Addresses); err != nil {
			return b, err
		}
	}
	if spec.Postgres {
		dsn, b.postgres = b.child.Postgres, "stand-in (process of its own)"
	}
	if spec.Regions != nil {
		b.redis = "stand-in " + b.child.Redis
		if nodes, err = region.Parse(b.child.Redis); err != nil {
			return b, err
		}
	}
	if !spec.NoScorer {
		b.scorerURL = b.child.Scorer
	}
	if err := b.openStore(ctx, dsn, pool, c.within(connectWithin)); err != nil {
		return b, err
	}
	if b.regions, err = region.New(nodes, redis); err == nil {
		b.regions.Probe(ctx) // from here on, replicas that have all are read
		b.regions.Replicas(func(region, node string, read bool, _ int64) {
			if !read {
				b.redis += fmt.Sprintf(" (%s is not read: it is not there, lags, or is no replica of %s's primary)", node, region)
			}
		})
	}
	return b, err
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
		return usageError{err}
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
	if b.regions != nil {
		all = b.regions.Close()
	}
	b.faults.close()
	if b.child != nil {
		all = errors.Join(all, b.child.Close())
	}
	return all
}

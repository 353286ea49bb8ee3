package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// A Client is a client of PostgreSQL, with the pool of connections that comes with it.
type Client struct {
	name       string
	healths    []string // the modes that it can; the first is what it does where nobody says
	boundsIdle bool     // its pool has a bound on idle connections
	keepsIdle  bool     // it opens idle connections before somebody asks
	open       func(ctx context.Context, dsn string, o PoolOptions) (Store, error)
}

// String returns the client's name.
func (c *Client) String() string { return c.name }

// defaultMaxOpen is how many connections there are at most where nobody says.
const defaultMaxOpen = 50

// PoolOptions are of a pool of connections.
type PoolOptions struct {
	Client  *Client // nil: [PgxPool]
	MaxOpen int     // connections at most; 0: 50
	// MaxIdle is how many are kept that nobody uses; 0: MaxOpen. pgxpool has no such bound.
	MaxIdle     int
	MinIdle     int           // how many idle ones are kept open, within MaxOpen; database/sql keeps none
	MaxLifetime time.Duration // a connection that is older is closed; 0: none is
	MaxIdleTime time.Duration // one that nobody has used for longer is closed; 0: none is
	// Health is a mode of package liveness. Empty is the most that the client can: both on
	// pgxpool, fastfail on pgx-sql, and off on lib/pq.
	Health      string
	PingEvery   time.Duration // in the background; 0: 30 s
	PingTimeout time.Duration // of each ping; 0: 2 s
	Timeout     time.Duration // of a statement, its wait for a connection included; 0: 5 s
}

// Validate sets what is not set, and refuses what cannot be. An error names the flags.
func (o *PoolOptions) Validate() error {
	if o.Client == nil {
		o.Client = PgxPool
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = defaultMaxOpen
	}
	switch {
	case o.MaxOpen < 1 || o.MaxOpen > math.MaxInt32:
		return fmt.Errorf("--db-max-open %d: give 1 or more, such as %d", o.MaxOpen, defaultMaxOpen)
	case o.MaxIdle < 0:
		return fmt.Errorf("--db-max-idle %d: give 1 or more, or leave it out: then all may be idle", o.MaxIdle)
	case o.MaxIdle > 0 && !o.Client.boundsIdle:
		return fmt.Errorf("--db-max-idle %d: %s has no bound on idle connections: leave it out, or give a --db-client on database/sql", o.MaxIdle, o.Client)
	case o.MaxIdle > o.MaxOpen:
		return fmt.Errorf("--db-max-idle %d is above --db-max-open %d: no more can be idle than are open: give at most %d", o.MaxIdle, o.MaxOpen, o.MaxOpen)
	case o.MinIdle < 0 || o.MinIdle > o.MaxOpen:
		return fmt.Errorf("--db-min-idle %d of --db-max-open %d: no more can be idle than are open: give 0 to %d", o.MinIdle, o.MaxOpen, o.MaxOpen)
	case o.MinIdle > 0 && !o.Client.keepsIdle:
		return fmt.Errorf("--db-min-idle %d: %s opens no connection before somebody asks: leave it out, or give --db-client %s", o.MinIdle, o.Client, PgxPool)
	case o.MaxLifetime < 0 || o.MaxIdleTime < 0:
		return errors.New("--db-max-lifetime and --db-max-idle-time: give a time such as 30m, or 0 for no bound")
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = o.MaxOpen
	}
	if o.PingEvery == 0 {
		o.PingEvery = 30 * time.Second
	}
	if o.PingTimeout == 0 {
		o.PingTimeout = 2 * time.Second
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	can := o.Client.healths
	if o.Health == "" {
		o.Health = can[0]
	}
	switch {
	case liveness.Valid(o.Health) != nil:
		return liveness.Valid(o.Health)
	case !slices.Contains(can, o.Health):
		return fmt.Errorf("--health %s: %s cannot, for database/sql pings no connection that it does not lend: give %s, or --db-client %s", o.Health, o.Client, strings.Join(can, " or "), PgxPool)
	case o.PingEvery < 0 || o.PingTimeout < 0 || o.Timeout < 0:
		return errors.New("--ping-every, --ping-timeout and --db-timeout: give a time such as 30s, 2s and 5s")
	}
	return nil
}

// A BoundError is a pool that is larger than what its server takes.
type BoundError struct{ Open, Most, Reserved int }

func (e *BoundError) Error() string {
	return fmt.Sprintf("--db-max-open %d: the server takes %d connections and keeps %d of them for superusers: give at most %d",
		e.Open, e.Most, e.Reserved, e.Most-e.Reserved)
}

// Fit returns a [BoundError] if the server takes fewer than open connections.
func Fit(ctx context.Context, c *pgx.Conn, open int) error {
	most, reserved, err := Bounds(ctx, c)
	if err != nil {
		return err
	}
	if open > most-reserved {
		return &BoundError{open, most, reserved}
	}
	return nil
}

// Bounds asks a server how many connections it takes, and how many of them it keeps for
// superusers.
func Bounds(ctx context.Context, c *pgx.Conn) (most, reserved int, err error) {
	err = c.QueryRow(ctx, SelectConnections).Scan(&most, &reserved)
	return most, reserved, err
}

// Open opens a pool of connections. It returns before it has connected to anybody: see [Warm]. The options
// must be valid.
func Open(ctx context.Context, dsn string, o PoolOptions) (Store, error) {
	return o.Client.open(ctx, dsn, o)
}

// Warm returns when n connections are open: MinIdle of the pool's options opens them in the background. It
// asks again and again until ctx ends.
func Warm(ctx context.Context, s Store, n int) error {
	for {
		p := s.PoolStats()
		open := p.Idle + p.InUse
		if open >= int64(n) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d connections are open: %w", open, n, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

// PoolStats are what a pool of connections has, and what it has done since it was opened.
type PoolStats struct {
	InUse, Idle, Making int64

	Acquired int64         // loans that were granted
	Waited   int64         // loans that had to wait, for a connection of another or for a new one
	WaitTime time.Duration // of these
	TimedOut int64         // loans that were given up
	HeldTime time.Duration // how long the connections were lent, all together

	Made           int64 // connections
	ClosedIdle     int64 // because enough were idle
	ClosedAge      int64 // because they were old
	ClosedIdleTime int64 // because nobody had used them for long
}

// Reuse is the share of the loans that made no new connection.
func (s PoolStats) Reuse() float64 {
	if s.Acquired == 0 {
		return 0
	}
	return 1 - float64(min(s.Made, s.Acquired))/float64(s.Acquired)
}

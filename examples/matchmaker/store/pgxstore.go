package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// PgxPool is pgx on a pool of its own.
var PgxPool = &Client{
	name:    "pgxpool",
	healths: []string{liveness.Both, liveness.FastFail, liveness.Ping, liveness.Off},
	open:    openPgx, keepsIdle: true,
}

// A pgxStore is a [Store] on pgxpool.
type pgxStore struct {
	Pool    *pgxpool.Pool
	held    atomic.Int64
	stop    func()        // of the pings in the background
	timeout time.Duration // of a statement, its wait for a connection included
}

// openPgx opens pgx's own pool.
func openPgx(ctx context.Context, dsn string, o PoolOptions) (Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(o.MaxOpen), 0, int32(o.MinIdle)
	config.MaxConnLifetime, config.MaxConnIdleTime = orNever(o.MaxLifetime), orNever(o.MaxIdleTime)
	config.MaxConnLifetimeJitter = 0
	// A connection is made for whoever comes, and not in the time of one request: without a bound of
	// its own, one that gets no answer would take a place in the pool for two minutes.
	config.ConnConfig.ConnectTimeout = o.Timeout
	// It looks for idle connections to close once in a period, of a minute by itself: bounds below
	// that would not be kept.
	config.HealthCheckPeriod = max(time.Second, min(config.HealthCheckPeriod, config.MaxConnLifetime, config.MaxConnIdleTime))
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // PrepareConn does it, for less
	if liveness.Fails(o.Health) {
		config.PrepareConn = func(ctx context.Context, c *pgx.Conn) (bool, error) { return alive(ctx, c, o.PingTimeout), nil }
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &pgxStore{Pool: pool, timeout: o.Timeout}
	if liveness.Pings(o.Health) {
		s.ping(o.PingEvery, o.PingTimeout)
	}
	return s, nil
}

// orNever is for pgxpool, to which no time at all is not the same as no bound.
func orNever(d time.Duration) time.Duration {
	if d == 0 {
		return 100 * 365 * 24 * time.Hour
	}
	return d
}

// PoolStats implements [Store].
func (s *pgxStore) PoolStats() PoolStats {
	p := s.Pool.Stat()
	return PoolStats{
		InUse: int64(p.AcquiredConns()), Idle: int64(p.IdleConns()), Making: int64(p.ConstructingConns()),
		Acquired: p.AcquireCount(), Waited: p.EmptyAcquireCount(), WaitTime: p.EmptyAcquireWaitTime(), TimedOut: p.CanceledAcquireCount(), HeldTime: time.Duration(s.held.Load()),
		Made: p.NewConnsCount(), ClosedAge: p.MaxLifetimeDestroyCount(), ClosedIdleTime: p.MaxIdleDestroyCount(),
	}
}

// with lends f a connection, and notes how long each took.
func (s *pgxStore) with(ctx context.Context, f func(ctx context.Context, c *pgxpool.Conn) error) error {
	t := timesOf(ctx)
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	begun := time.Now()
	c, err := s.Pool.Acquire(ctx)
	got := time.Now()
	t.Wait += got.Sub(begun)
	if err != nil {
		return notSentError{err}
	}
	defer func() {
		giveBack(c)
		d := time.Since(got)
		t.Query += d
		s.held.Add(int64(d))
	}()
	return f(ctx, c)
}

// giveBack gives a connection back. One that is broken has no place in the pool any more: pgx asks
// its server for up to 15 s to cancel what is under way, and the pool would count it until then.
func giveBack(c *pgxpool.Conn) {
	if c.Conn().IsClosed() {
		c.Hijack()
		return
	}
	c.Release()
}

// row asks for one row.
func (s *pgxStore) row(ctx context.Context, sql string, args []any, to ...any) error {
	err := s.with(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return c.QueryRow(ctx, sql, args...).Scan(to...) })
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func (u *User) columns() []any {
	return []any{&u.UID, &u.Name, &u.Age, &u.Region, &u.Interests, &u.MinAge, &u.MaxAge, &u.Popularity, &u.Version}
}

// User implements [Store].
func (s *pgxStore) User(ctx context.Context, uid int64) (u User, err error) {
	err = s.row(ctx, SelectUser, []any{uid}, u.columns()...)
	return u, err
}

// PutUser implements [Store].
func (s *pgxStore) PutUser(ctx context.Context, u User) (User, error) {
	err := s.row(ctx, UpdateUser, []any{u.UID, u.Name, u.Age, u.Interests, u.MinAge, u.MaxAge}, u.columns()...)
	return u, err
}

// Candidates implements [Store].
func (s *pgxStore) Candidates(ctx context.Context, q Query, each func(uid int64, name string, age int32, interests int64)) error {
	return s.with(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, SelectCandidates, q.Region, q.MinAge, q.MaxAge, q.After, q.Most)
		if err != nil {
			return err
		}
		var (
			uid, interests int64
			name           string
			age            int32
		)
		_, err = pgx.ForEachRow(rows, []any{&uid, &name, &age, &interests}, func() error {
			each(uid, name, age, interests)
			return nil
		})
		return err
	})
}

// Popular implements [Store].
func (s *pgxStore) Popular(ctx context.Context, region string, most int32) (uids []int64, err error) {
	err = s.with(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, SelectPopular, region, most)
		if err != nil {
			return err
		}
		uids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return uids, err
}

// PutMessage implements [Store].
func (s *pgxStore) PutMessage(ctx context.Context, m Message) (id int64, err error) {
	err = s.row(ctx, InsertMessage, []any{m.From, m.To, m.Seq, m.Nonce, m.Text}, &id)
	if code(err) == foreignKeyViolation {
		err = ErrNoRecipient
	}
	return id, err
}

// Messages implements [Store].
func (s *pgxStore) Messages(ctx context.Context, uid, with int64, most int32) (messages []Message, err error) {
	err = s.with(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, SelectMessages, uid, with, most)
		if err != nil {
			return err
		}
		messages, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
		return err
	})
	return messages, err
}

// PutPhoto implements [Store].
func (s *pgxStore) PutPhoto(ctx context.Context, uid int64, jpeg []byte) error {
	err := s.with(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := c.Exec(ctx, UpsertPhoto, uid, jpeg)
		return err
	})
	if code(err) == foreignKeyViolation {
		err = ErrNotFound
	}
	return err
}

// Photo implements [Store].
func (s *pgxStore) Photo(ctx context.Context, uid int64) (jpeg []byte, err error) {
	err = s.row(ctx, SelectPhoto, []any{uid}, &jpeg)
	return jpeg, err
}

// Ping implements [Store].
func (s *pgxStore) Ping(ctx context.Context) error { return s.Pool.Ping(ctx) }

// Close implements [Store]. It waits for the connections that are out.
func (s *pgxStore) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.Pool.Close()
}

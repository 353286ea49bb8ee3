package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

var (
	// PgxSQL is pgx on database/sql's pool.
	PgxSQL = &Client{name: "pgx-sql", healths: []string{liveness.FastFail, liveness.Off}, boundsIdle: true, open: openSQL(connectPgx)}
	// PQ is lib/pq on database/sql's pool.
	PQ = &Client{name: "pq", healths: []string{liveness.Off}, boundsIdle: true, open: openSQL(connectPQ)}
)

// A sqlStore is a [Store] on database/sql.
type sqlStore struct {
	DB                             *sql.DB
	timeout                        time.Duration // of a statement, its wait for a connection included
	made, acquired, timedOut, held atomic.Int64
}

// openSQL opens database/sql's pool with one of its drivers.
func openSQL(connector func(dsn string, o PoolOptions) (driver.Connector, error)) func(context.Context, string, PoolOptions) (Store, error) {
	return func(_ context.Context, dsn string, o PoolOptions) (Store, error) {
		c, err := connector(dsn, o)
		if err != nil {
			return nil, err
		}
		s := &sqlStore{timeout: o.Timeout}
		s.DB = sql.OpenDB(&counted{c, &s.made})
		s.DB.SetMaxOpenConns(o.MaxOpen)
		s.DB.SetMaxIdleConns(o.MaxIdle)
		s.DB.SetConnMaxLifetime(o.MaxLifetime)
		s.DB.SetConnMaxIdleTime(o.MaxIdleTime)
		return s, nil
	}
}

func connectPQ(dsn string, _ PoolOptions) (driver.Connector, error) { return pq.NewConnector(dsn) }

func connectPgx(dsn string, o PoolOptions) (driver.Connector, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.ConnectTimeout = o.Timeout
	never := stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false })
	reset := stdlib.OptionResetSession(func(context.Context, *pgx.Conn) error { return nil })
	if liveness.Fails(o.Health) {
		reset = stdlib.OptionResetSession(func(ctx context.Context, c *pgx.Conn) error {
			if !alive(ctx, c, o.PingTimeout) {
				return driver.ErrBadConn
			}
			return nil
		})
	}
	return stdlib.GetConnector(*config, never, reset), nil
}

// A counted connector counts the connections that it makes, which database/sql does not.
type counted struct {
	driver.Connector
	made *atomic.Int64
}

func (c *counted) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err == nil {
		c.made.Add(1)
	}
	return made, err
}

// with lends f a connection, and notes how long each took. f returns [driver.ErrBadConn] where
// nothing was sent: then there is another connection, as database/sql has for who takes none by hand.
func (s *sqlStore) with(ctx context.Context, f func(ctx context.Context, c *sql.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for range 3 {
		if err = s.once(ctx, f); !errors.Is(err, driver.ErrBadConn) {
			return err
		}
		if ctx.Err() != nil {
			return notSentError{ctx.Err()} // the driver says so of what came too late, too
		}
	}
	return notSentError{errLost}
}

// errLost is what is said where connections are found dead again and again.
var errLost = errors.New("the connections to the database are lost")

func (s *sqlStore) once(ctx context.Context, f func(ctx context.Context, c *sql.Conn) error) error {
	t := timesOf(ctx)
	begun := time.Now()
	c, err := s.DB.Conn(ctx)
	got := time.Now()
	t.Wait += got.Sub(begun)
	if err == nil && ctx.Err() != nil { // it came with the end of the time for it
		c.Close()
		err = ctx.Err()
	}
	if err != nil {
		if pgconn.Timeout(err) && !errors.Is(err, context.DeadlineExceeded) { // a connection that was made has as long
			err = errors.Join(context.DeadlineExceeded, err)
		}
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			s.timedOut.Add(1)
		}
		return notSentError{err}
	}
	s.acquired.Add(1)
	defer func() {
		c.Close()
		d := time.Since(got)
		t.Query += d
		s.held.Add(int64(d))
	}()
	return f(ctx, c)
}

// row asks for one row.
func (s *sqlStore) row(ctx context.Context, query string, args []any, to ...any) error {
	err := s.with(ctx, func(ctx context.Context, c *sql.Conn) error {
		return c.QueryRowContext(ctx, query, args...).Scan(to...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// rows asks for rows, and calls each for every one.
func (s *sqlStore) rows(ctx context.Context, query string, args []any, each func(r *sql.Rows) error) error {
	return s.with(ctx, func(ctx context.Context, c *sql.Conn) error {
		r, err := c.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Next() {
			if err := each(r); err != nil {
				return err
			}
		}
		if err := r.Err(); !errors.Is(err, driver.ErrBadConn) {
			return err
		}
		return errLost // each has had rows
	})
}

// User implements [Store].
func (s *sqlStore) User(ctx context.Context, uid int64) (u User, err error) {
	err = s.row(ctx, SelectUser, []any{uid}, u.columns()...)
	return u, err
}

// PutUser implements [Store].
func (s *sqlStore) PutUser(ctx context.Context, u User) (User, error) {
	err := s.row(ctx, UpdateUser, []any{u.UID, u.Name, u.Age, u.Interests, u.MinAge, u.MaxAge}, u.columns()...)
	return u, err
}

// Candidates implements [Store].
func (s *sqlStore) Candidates(ctx context.Context, q Query, each func(uid int64, name string, age int32, interests int64)) error {
	var (
		uid, interests int64
		name           string
		age            int32
	)
	return s.rows(ctx, SelectCandidates, []any{q.Region, q.MinAge, q.MaxAge, q.After, q.Most}, func(r *sql.Rows) error {
		err := r.Scan(&uid, &name, &age, &interests)
		if err == nil {
			each(uid, name, age, interests)
		}
		return err
	})
}

// Popular implements [Store].
func (s *sqlStore) Popular(ctx context.Context, region string, most int32) (uids []int64, err error) {
	err = s.rows(ctx, SelectPopular, []any{region, most}, func(r *sql.Rows) error {
		var uid int64
		err := r.Scan(&uid)
		uids = append(uids, uid)
		return err
	})
	return uids, err
}

// PutMessage implements [Store].
func (s *sqlStore) PutMessage(ctx context.Context, m Message) (id int64, err error) {
	err = s.row(ctx, InsertMessage, []any{m.From, m.To, m.Seq, m.Nonce, m.Text}, &id)
	if code(err) == foreignKeyViolation {
		err = ErrNoRecipient
	}
	return id, err
}

// Messages implements [Store].
func (s *sqlStore) Messages(ctx context.Context, uid, with int64, most int32) (messages []Message, err error) {
	err = s.rows(ctx, SelectMessages, []any{uid, with, most}, func(r *sql.Rows) error {
		var m Message
		err := r.Scan(&m.ID, &m.From, &m.To, &m.Seq, &m.Nonce, &m.Text)
		messages = append(messages, m)
		return err
	})
	return messages, err
}

// PutPhoto implements [Store].
func (s *sqlStore) PutPhoto(ctx context.Context, uid int64, jpeg []byte) error {
	err := s.with(ctx, func(ctx context.Context, c *sql.Conn) error {
		_, err := c.ExecContext(ctx, UpsertPhoto, uid, jpeg)
		return err
	})
	if code(err) == foreignKeyViolation {
		err = ErrNotFound
	}
	return err
}

// Photo implements [Store].
func (s *sqlStore) Photo(ctx context.Context, uid int64) (jpeg []byte, err error) {
	err = s.row(ctx, SelectPhoto, []any{uid}, &jpeg)
	return jpeg, err
}

// Ping implements [Store].
func (s *sqlStore) Ping(ctx context.Context) error { return s.DB.PingContext(ctx) }

// PoolStats implements [Store].
func (s *sqlStore) PoolStats() PoolStats {
	p := s.DB.Stats()
	return PoolStats{
		InUse: int64(p.InUse), Idle: int64(p.Idle),
		Acquired: s.acquired.Load(), Waited: p.WaitCount, WaitTime: p.WaitDuration, TimedOut: s.timedOut.Load(), HeldTime: time.Duration(s.held.Load()),
		Made: s.made.Load(), ClosedIdle: p.MaxIdleClosed, ClosedAge: p.MaxLifetimeClosed, ClosedIdleTime: p.MaxIdleTimeClosed,
	}
}

// Close implements [Store].
func (s *sqlStore) Close() { s.DB.Close() }

package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A dead driver has connections that are found dead when they are used, but for the last ones.
type dead struct {
	left  int           // connections that are dead
	until chan struct{} // not nil: a query takes until the end of this
	used  int
}

func (d *dead) Connect(context.Context) (driver.Conn, error) { return &deadConn{d: d}, nil }
func (d *dead) Driver() driver.Driver                        { return nil }

type deadConn struct {
	driver.Conn
	d *dead
}

func (*deadConn) Close() error { return nil }

func (c *deadConn) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	c.d.used++
	if c.d.until != nil {
		<-ctx.Done()
		return nil, driver.ErrBadConn // as pgx has it for what it has not sent
	}
	if c.d.left--; c.d.left >= 0 {
		return nil, driver.ErrBadConn
	}
	return new(oneRow), nil
}

type oneRow struct{ read bool }

func (*oneRow) Columns() []string { return []string{"jpeg"} }
func (*oneRow) Close() error      { return nil }
func (r *oneRow) Next(to []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	to[0] = []byte{1}
	return nil
}

// Connections that are found dead are replaced, and nobody sees the driver's own error for them.
func TestDeadConnections(t *testing.T) {
	for left := range 5 {
		d := &dead{left: left}
		s := &sqlStore{DB: sql.OpenDB(d), timeout: time.Hour}
		b, err := s.Photo(t.Context(), 7)
		if left < 3 && (err != nil || len(b) != 1 || d.used != left+1) {
			t.Errorf("%d dead connections: %v, after %d", left, err, d.used)
		}
		if left >= 3 && (err == nil || errors.Is(err, driver.ErrBadConn) || WrittenBy(err) != No) {
			t.Errorf("%d dead connections: %v", left, err)
		}
		s.Close()
	}
}

// What comes too late is out of time, whatever the driver calls it.
func TestOutOfTimeIsNoDeadConnection(t *testing.T) {
	s := &sqlStore{DB: sql.OpenDB(&dead{until: make(chan struct{})}), timeout: time.Millisecond}
	defer s.Close()
	if _, err := s.Photo(t.Context(), 7); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) {
		t.Errorf("%v", err)
	}
}

func TestWrittenBy(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Written
	}{
		{io.ErrUnexpectedEOF, Unknown},
		{context.DeadlineExceeded, Unknown},
		{notSentError{context.DeadlineExceeded}, No},
		{driver.ErrBadConn, No},
		{&pgconn.PgError{Severity: "ERROR", Code: "23514"}, No},
		{&pgconn.PgError{Severity: "FATAL", Code: "57P01"}, Unknown},
	} {
		if got := WrittenBy(tt.err); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.want)
		}
	}
}

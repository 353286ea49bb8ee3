package store

import (
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

// Written says whether a statement that failed has written.
type Written string

// What can be known of it.
const (
	No      Written = "no"
	Yes     Written = "yes"
	Unknown Written = "unknown" // the server may have written, and its answer is lost
)

// A notSentError is of a statement that no connection was found for.
type notSentError struct{ error }

func (e notSentError) Unwrap() error { return e.error }

// WrittenBy says what the error of a statement leaves open: No, or Unknown.
func WrittenBy(err error) Written {
	var (
		pgx *pgconn.PgError
		lib *pq.Error
	)
	switch {
	case errors.As(err, new(notSentError)), pgconn.SafeToRetry(err), errors.Is(err, driver.ErrBadConn):
		return No
	case errors.As(err, &pgx) && pgx.Severity == "ERROR", errors.As(err, &lib) && lib.Severity == "ERROR": // what is FATAL may come after
		return No
	}
	return Unknown
}

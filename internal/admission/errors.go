package admission

import "errors"

// The errors of package dewpond that are this package's to return. Package dewpond says
// what they mean to its callers.
var (
	ErrExhausted = errors.New("dewpond: the pool is exhausted: nothing is idle, and it may not make more now")
	ErrClosed    = errors.New("dewpond: the pool is closed")
)

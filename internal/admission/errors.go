package admission

import "errors"

// The errors of package dewpond that this package returns. Package dewpond documents them for
// its callers.
var (
	ErrExhausted = errors.New("dewpond: the pool is exhausted: nothing is idle, and it may not allocate more now")
	ErrClosed    = errors.New("dewpond: the pool is closed")
)

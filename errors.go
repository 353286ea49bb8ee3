package dewpond

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/admission"
)

var (
	// ErrExhausted is returned by [BytePool.TryGet] if no block is idle and the pool's
	// AllocLimit or [Budget] does not allow it to allocate one now, by
	// [BytePool.GetContext] and [BytePool.GetBatch] for more than the Budget or AllocLimit
	// can ever allow, and by [Pool.TryGet] if Limit objects are out. The error of a call
	// whose context is done while it waits wraps it too.
	ErrExhausted = admission.ErrExhausted

	// ErrClosed is returned by TryGet, GetContext, GetBatch and Prewarm after Close.
	ErrClosed = admission.ErrClosed
)

// A waitError is the error of a call whose context was done before it was served.
type waitError struct {
	pool  string
	cause error // of the context
}

// waitErrorOf returns the error of a wait for a pool: a waitError unless err is one of ours.
func waitErrorOf(pool string, err error) error {
	if err == nil || err == ErrClosed || err == ErrExhausted {
		return err
	}
	return &waitError{pool, err}
}

// Error implements error.
func (e *waitError) Error() string {
	return fmt.Sprintf("dewpond: pool %q is exhausted: %v", e.pool, e.cause)
}

// Unwrap returns what the error is.
func (e *waitError) Unwrap() []error { return []error{ErrExhausted, e.cause} }

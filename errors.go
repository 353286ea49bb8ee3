package dewpond

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/admission"
)

var (
	// ErrExhausted is returned by [BytePool.TryGet] if no block is idle and the pool's
	// AllocRate or [Budget] does not allow it to allocate one now, by
	// [BytePool.GetContext] and [BytePool.GetBatch] for more than the Budget or AllocRate
	// can ever allow, and by [Pool.TryGet] if MaxOut objects are in use. The error of a call
	// whose context is done while it waits wraps it too. The errors name the pool: compare
	// with [errors.Is].
	ErrExhausted = admission.ErrExhausted

	// ErrClosed is returned by TryGet, GetContext, GetBatch and Prewarm after Close.
	ErrClosed = admission.ErrClosed
)

// An exhaustedError is an ErrExhausted that names the pool and says why.
type exhaustedError struct {
	text  string
	cause error // of a context that was done; nil if there was no wait
}

// exhausted returns ErrExhausted with a text that names the pool.
func exhausted(format string, args ...any) error {
	return &exhaustedError{text: "dewpond: " + fmt.Sprintf(format, args...)}
}

// A lengthError is the error of a call for more than any memory holds. It names the pool and the length.
type lengthError string

func tooLong(format string, args ...any) error {
	return lengthError("dewpond: " + fmt.Sprintf(format, args...))
}

// Error implements error.
func (e lengthError) Error() string { return string(e) }

// waitErrorOf returns the error of a wait for a pool: an exhaustedError unless err is one of ours.
func waitErrorOf(pool string, err error) error {
	if err == nil || err == ErrClosed || err == ErrExhausted {
		return err
	}
	return &exhaustedError{fmt.Sprintf("dewpond: pool %q is exhausted: %v", pool, err), err}
}

// Error implements error.
func (e *exhaustedError) Error() string { return e.text }

// Is makes the error an ErrExhausted. A method Unwrap that returns both would allocate for each call of errors.Is.
func (e *exhaustedError) Is(target error) bool { return target == ErrExhausted }

// Unwrap returns the error of the context.
func (e *exhaustedError) Unwrap() error { return e.cause }

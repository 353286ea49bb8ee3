package dewpond

import "errors"

var (
	// ErrExhausted is what TryGet returns when it found no idle block and the
	// pool's AllocLimit does not allow to allocate one now.
	ErrExhausted = errors.New("dewpond: no idle block, and the pool may not allocate one now")

	// ErrClosed is what TryGet, GetContext and Prewarm return after Close.
	ErrClosed = errors.New("dewpond: the pool is closed")
)

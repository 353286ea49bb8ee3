package dewpond

import "errors"

var (
	// ErrExhausted is what TryGet returns where nothing idle may be handed out and
	// no more may be made now: a BytePool has no idle block and its AllocLimit
	// allows no miss, or the Limit of a Pool is out.
	ErrExhausted = errors.New("dewpond: the pool is exhausted: nothing is idle, and it may not make more now")

	// ErrReleased is what Release returns to an owner who has released before.
	ErrReleased = errors.New("dewpond: the lease was released")

	// ErrClosed is what TryGet, GetContext and Prewarm return after Close.
	ErrClosed = errors.New("dewpond: the pool is closed")
)

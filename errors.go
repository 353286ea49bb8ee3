package dewpond

import (
	"errors"

	"github.com/dewpond/dewpond/internal/admission"
)

var (
	// ErrExhausted is what TryGet returns where nothing idle may be handed out and
	// no more may be made now: a BytePool has no idle block and its AllocLimit
	// allows no miss, or the Limit of a Pool is out.
	ErrExhausted = admission.ErrExhausted

	// ErrReleased is what Release returns to an owner who has released before.
	ErrReleased = errors.New("dewpond: the lease was released")

	// ErrClosed is what TryGet, GetContext and Prewarm return after Close.
	ErrClosed = admission.ErrClosed
)

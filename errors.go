package dewpond

import (
	"github.com/dewpond/dewpond/internal/admission"
)

var (
	// ErrExhausted is returned by [BytePool.TryGet] if no block is idle and the pool's
	// AllocLimit or [Budget] does not allow it to allocate one now, by
	// [BytePool.GetContext] and [BytePool.GetBatch] for more than the Budget or AllocLimit
	// can ever allow, and by [Pool.TryGet] if Limit objects are out.
	ErrExhausted = admission.ErrExhausted

	// ErrClosed is returned by TryGet, GetContext, GetBatch and Prewarm after Close.
	ErrClosed = admission.ErrClosed
)

package dewpond

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/admission"
)

// A Budget bounds the bytes that any number of pools of type [BytePool] have together,
// idle and in use: see [BytePoolOptions.Budget]. All methods may be called by any number
// of goroutines at once.
//
// A block is charged with the size of its class, from its allocation until the pool lets
// it go: idle blocks stay charged. A slice above the largest class is charged with its
// size until it is put back. A block that its owner loses stays charged until the
// garbage collector finds it or, if it is off the heap, until its pool is collected.
//
// TryGet and GetContext never allocate what would take [Budget.Used] above the limit.
// Get is never refused: what it allocates past the limit counts in Used and in
// [Stats.OverBudget]. While Used is above the limit, a Put to any of the pools lets its
// block go.
//
// On the heap, a pool with a Budget takes back only the blocks that it has handed out,
// which it knows by address. What [Stats.HeapFallback] counts is not charged.
type Budget struct{ of admission.Budget }

// NewBudget makes a Budget of limit bytes. It panics unless limit is positive.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		panic(fmt.Sprintf("dewpond: NewBudget(%d): give a number of bytes above 0", limit))
	}
	b := new(Budget)
	b.of.Init(limit)
	return b
}

// Limit returns the limit that [NewBudget] was given.
func (b *Budget) Limit() int64 { return b.of.Limit() }

// Used returns the number of bytes that are charged now.
func (b *Budget) Used() int64 { return b.of.Used() }

// admission returns what the pools of the Budget share, or nil if b is nil.
func (b *Budget) admission() *admission.Budget {
	if b == nil {
		return nil
	}
	return &b.of
}

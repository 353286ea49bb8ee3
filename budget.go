package dewpond

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/admission"
)

// A Budget bounds the bytes that any number of BytePools have together, idle and in
// use: see BytePoolOptions.Budget. All methods may be called by any number of
// goroutines at once.
//
// A block is charged, with the size of its class, from when a pool allocates it until
// the pool lets it go: idle blocks stay charged. A slice above the largest class is
// charged, with its size, until it is put back. What its owner loses is charged until
// the collector finds it; of a block off the heap, until its pool is collected. What
// TryGet and GetContext allocate never takes Used above the limit. Get is never refused:
// what it takes past the limit counts in Used too, and in Stats.OverBudget, and while
// Used is above the limit a Put to any of the pools lets its block go.
//
// On the heap a pool with a Budget takes back only what it has handed out, which it
// knows by address. What Stats.HeapFallback counts is not charged.
type Budget struct{ of admission.Budget }

// NewBudget makes a budget of so many bytes. It panics unless limit is positive.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		panic(fmt.Sprintf("dewpond: NewBudget(%d): give a number of bytes above 0", limit))
	}
	b := new(Budget)
	b.of.Init(limit)
	return b
}

// Limit returns the bytes that NewBudget was given.
func (b *Budget) Limit() int64 { return b.of.Limit() }

// Used returns the bytes that are charged now.
func (b *Budget) Used() int64 { return b.of.Used() }

// admission returns what the pools of the budget share, or nil where there is none.
func (b *Budget) admission() *admission.Budget {
	if b == nil {
		return nil
	}
	return &b.of
}

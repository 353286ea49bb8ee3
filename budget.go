package dewpond

import (
	"fmt"
	"runtime"
	"weak"

	"github.com/dewpond/dewpond/internal/admission"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/registry"
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
// TryGet, GetContext and GetBatch never allocate what would take [Budget.Used] above the
// limit. A caller that waits for blocks must hold none of any pool of the Budget meanwhile,
// or it may wait for another that does the same: see [BytePool.GetBatch].
// Get, and what takes blocks as Get does (Append, Grow, Buffer, Lease, Scope), is never
// refused: what it allocates past the limit counts in Used and in [Stats.OverBudget].
// While Used is above the limit, by [BudgetStats.Excess], a Put to any of the pools
// lets its block go.
//
// On the heap, a pool with a Budget takes back only the blocks that it has handed out,
// which it knows by address. What [OffHeapStats.Fallback] counts is not charged.
type Budget struct {
	of    admission.Budget
	home  uint64                // the bubble in which the Budget was made, or 0
	parts bubble.Parts[*Budget] // of other bubbles, in the binary of a test
}

// budgetNames has the names of all Budgets that were not collected.
var budgetNames registry.Registry[*Budget]

// NewBudget makes a Budget of limit bytes. The name is for exporters: by
// [BudgetStats.Name], which is the same in all pools of the Budget, they report it once. A
// second Budget with the same name, of which the first still has pools or never had one, gets
// the name with a number; without a name it is "budget". NewBudget returns an error unless
// limit is positive.
func NewBudget(name string, limit int64) (*Budget, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("dewpond: NewBudget(%q, %d): give a number of bytes above 0", name, limit)
	}
	if name == "" {
		name = "budget"
	}
	b := new(Budget)
	w := weak.Make(b)
	entry := budgetNames.Reserve(name, func() (*Budget, bool) {
		b := w.Value()
		return b, b != nil && !b.of.Forsaken()
	})
	runtime.AddCleanup(b, budgetNames.Remove, entry)
	b.of.Init(entry.Name(), limit)
	if keepApart() {
		b.home = bubble.Here()
		b.parts.Make = func(uint64) *Budget {
			part := new(Budget)
			part.of.Init(b.of.Name(), limit)
			return part
		}
		b.parts.Forget = func(*Budget) {}
	}
	return b, nil
}

// in returns the Budget that a bubble has in place of b. Outside of bubbles that is b.
func (b *Budget) in(bubble uint64) *Budget {
	if b == nil || b.parts.Make == nil || bubble == 0 || bubble == b.home {
		return b
	}
	return b.parts.Of(bubble)
}

// here returns the Budget that the caller's bubble has in place of b.
func (b *Budget) here() *Budget {
	if b.parts.Make == nil {
		return b
	}
	return b.in(bubble.Here())
}

// MustBudget is like [NewBudget], but panics unless limit is positive. It simplifies the
// initialization of global variables.
func MustBudget(name string, limit int64) *Budget {
	b, err := NewBudget(name, limit)
	if err != nil {
		panic(err)
	}
	return b
}

// String returns the name, Used and Limit, such as
// `Budget "frames": 4096 of 65536 bytes used`.
func (b *Budget) String() string {
	if b == nil {
		return "no Budget"
	}
	return fmt.Sprintf("Budget %q: %d of %d bytes used", b.of.Name(), b.Used(), b.Limit())
}

// Limit returns the limit that [NewBudget] was given.
func (b *Budget) Limit() int64 { return b.of.Limit() }

// Used returns the number of bytes that are charged now.
func (b *Budget) Used() int64 { return b.here().of.Used() }

// admission returns what the pools of the Budget share, or nil if b is nil.
func (b *Budget) admission() *admission.Budget {
	if b == nil {
		return nil
	}
	return &b.of
}

package photo

import (
	"context"

	"github.com/dewpond/dewpond"
)

// A toll has a Budget for what dewpond does not allocate, such as the memory of a decoder, or its
// time. A Budget counts the bytes of blocks; here a byte stands for a unit, so a block that nobody
// writes to is what is charged, and who waits for it waits in turn.
type toll struct {
	pool       *dewpond.BytePool
	unit, most int64
}

func newToll(name string, unit, most int64) *toll {
	t := &toll{unit: unit, most: most}
	limit := t.units(most)
	const page = 8 << 10
	var classes []int
	for n := int64(64); n+page <= limit; n += max(min(n, page), n/8/page*page) {
		classes = append(classes, int(n))
	}
	t.pool = dewpond.MustBytePool(dewpond.BytePoolOptions{
		Name: name, Budget: dewpond.MustBudget(name, limit), Classes: append(classes, int(limit)), Zero: dewpond.ZeroNever,
	})
	return t
}

func (t *toll) units(n int64) int64 { return (n + t.unit - 1) / t.unit }

// pay charges n until paid is called, and waits until there is room for it.
func (t *toll) pay(ctx context.Context, n int64) (paid func(), err error) {
	b, err := t.pool.GetContext(ctx, int(t.units(n)))
	return func() { t.pool.Put(b) }, err
}

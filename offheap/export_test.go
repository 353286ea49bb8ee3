package offheap

import (
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/memory"
)

// A Coupler is separate from the process's own, and works on a limit of the test.
type Coupler struct{ coupler }

func NewCoupler(set func(int64) int64) *Coupler {
	return &Coupler{coupler{limit: memory.NewLimit(set)}}
}

func (c *Coupler) NewBytePool(o dewpond.BytePoolOptions, m Options) (*dewpond.BytePool, error) {
	return newCoupledPool(o, m, &c.coupler)
}

// NewArena makes a coupled arena, which is mapped even under the race detector.
func (c *Coupler) NewArena(reserve int64) (*arena.Arena, error) {
	config := arena.Config{Reserve: reserve}
	c.couple(&config)
	return arena.New(config)
}

// Total is the package's Total with this coupling.
func (c *Coupler) Total() Totals { return totalsWith(&c.coupler) }

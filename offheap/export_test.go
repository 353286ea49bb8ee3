package offheap

import (
	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/memory"
)

// A Coupler is one apart from the process's, on a limit of a test's.
type Coupler struct{ coupler }

func NewCoupler(set func(int64) int64) *Coupler {
	return &Coupler{coupler{limit: memory.NewLimit(set)}}
}

func (c *Coupler) NewBytePool(o dewpond.BytePoolOptions, m Options) (*dewpond.BytePool, error) {
	return newBytePool(o, m, &c.coupler)
}

// NewArena makes a coupled arena, mapped also under the race detector.
func (c *Coupler) NewArena(reserve int64) (*arena.Arena, error) {
	config := arena.Config{Reserve: reserve}
	c.couple(&config)
	return arena.New(config)
}

// Total is Total with this coupling.
func (c *Coupler) Total() Totals { return total(&c.coupler) }

package offheap

import (
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/memory"
)

// coupling is the coupler of all coupled pools of the process.
var coupling = coupler{limit: memory.GoLimit}

// couplingStep is by how many bytes the limit may be off. Committing that much takes
// 256 page faults, compared with which a change of the limit costs nothing
// (BenchmarkGrow).
const couplingStep = 1 << 20

// A coupler lowers a memory limit by the bytes that coupled pools have committed. It
// knows no pools: their arenas, even those of dropped pools, add to its gauge and call
// look.
//
// A pool that grows counts its pages before they are used; one that shrinks, after the
// system has them. So in between the limit is lower than it need be, not higher.
type coupler struct {
	limit *memory.Limit
	gauge memory.Gauge

	mu sync.Mutex   // held while the limit is changed
	at atomic.Int64 // committed bytes when the limit was last changed; stored with mu held
}

// couple makes an arena one of those that the limit is lowered for.
func (c *coupler) couple(a *arena.Config) {
	a.Gauge, a.Changed = &c.gauge, c.look
}

// look changes the limit if the committed bytes are a step away from where it was last
// changed, and restores it once nothing is mapped. It is called whenever an arena
// allocates or frees a block, which no fast path does.
//
// No change of the gauge is missed. A goroutine that changes the gauge loads at
// afterwards; one that changes the limit stores at and loads the gauge afterwards. So
// of two that do this at once, at least one sees what the other did.
func (c *coupler) look() {
	if c.gauge.Ranges() > 0 && !c.away() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for again := true; again; again = c.gauge.Ranges() > 0 && c.away() {
		if c.gauge.Ranges() == 0 {
			c.limit.Restore()
			c.at.Store(0)
		} else if committed := c.gauge.Committed(); c.away() {
			c.limit.Lower(committed)
			c.at.Store(committed)
		}
	}
}

func (c *coupler) away() bool {
	by := c.gauge.Committed() - c.at.Load()
	return by >= couplingStep || by <= -couplingStep
}

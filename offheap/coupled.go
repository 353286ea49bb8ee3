package offheap

import (
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/memory"
)

// coupling is that of all coupled pools of the process.
var coupling = coupler{limit: memory.GoLimit}

// couplingStep is by how many bytes the limit may be off. To commit as much takes
// 256 page faults, beside which a move of the limit is nothing (BenchmarkGrow).
const couplingStep = 1 << 20

// A coupler lowers a memory limit by what coupled pools have committed. It knows no
// pools: their arenas add to its gauge, those of dropped pools too, and call look.
//
// A pool that grows counts its pages before they are used, one that shrinks after
// the system has them. So the limit is lower than it need be meanwhile, not higher.
type coupler struct {
	limit *memory.Limit
	gauge memory.Gauge

	mu sync.Mutex   // held while the limit is moved
	at atomic.Int64 // committed bytes at which it was moved last; stored with mu held
}

// couple makes an arena one of those that the limit is lowered for.
func (c *coupler) couple(a *arena.Config) {
	a.Gauge, a.Changed = &c.gauge, c.look
}

// look moves the limit if committed bytes have come a step away from where it was
// moved last, and puts it back where it was found once nothing is mapped. It is
// called whenever an arena gets or gives a block, which is no fast path.
//
// Nobody's bytes are overlooked. Who changes the gauge loads at afterwards; who
// moves the limit stores at and loads the gauge afterwards. So at least one of two
// that do this at once sees what the other did.
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

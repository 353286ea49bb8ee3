package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

const (
	// standingPonds pools live as long as the round, and so many more are replaced by
	// new ones all the time.
	standingPonds = 4
	passingPonds  = 4
	// soakBudget is what the budgeted pools may have together: less than they would like
	// now and then.
	soakBudget = 8 << 20
)

// A pond is one pool of soak.
type pond struct {
	pool     contender.Pool
	keeper   contender.Keeper // nil where it cannot account for itself
	budgeted bool
	closed   bool // guarded by ponds.mu

	// out is how many blocks are with the soakers, or may be about to be: whoever
	// wants one counts himself first and looks whether it is still in its place
	// second, so a pond that is in no place and has none out gets none any more.
	out atomic.Int64
}

// ponds are the pools of a round. All methods but acquire and idle are its one owner's.
type ponds struct {
	*job
	places [standingPonds + passingPonds]atomic.Pointer[pond]
	budget *dewpond.Budget // of every other one
	random *rand.Rand

	made, closedInUse int

	mu      sync.Mutex         // guards retired: the sampler looks at it
	retired []*pond            // that still have blocks out
	closed  []contender.Keeper // that have none, and still hold something
}

func newPonds(j *job) *ponds {
	p := &ponds{job: j, budget: dewpond.NewBudget(soakBudget), random: rand.New(rand.NewPCG(3, uint64(j.Round)))}
	for i := range p.places {
		p.places[i].Store(p.make(i))
	}
	return p
}

// make makes the pool for a place. The first of all has been made already.
func (p *ponds) make(place int) *pond {
	n := &pond{}
	switch p.made++; {
	case p.made == 1:
		n.pool = p.job.pool
	case place/2%2 == 1:
		n.pool, n.budgeted = p.fresh(p.budget), true
	default:
		n.pool = p.fresh(nil)
	}
	n.keeper, _ = n.pool.(contender.Keeper)
	return n
}

// acquire returns the pond in a place, one more block of which counts as out.
func (p *ponds) acquire(place int) *pond {
	for {
		n := p.places[place].Load()
		n.out.Add(1)
		if p.places[place].Load() == n {
			return n
		}
		n.out.Add(-1)
	}
}

// renew puts a new pool into a place. The old one is closed at once, its blocks still
// out, or when the last of them is back: as chance has it.
func (p *ponds) renew() {
	place := standingPonds + p.random.IntN(passingPonds)
	old := p.places[place].Swap(p.make(place))
	if p.random.IntN(2) == 0 && old.keeper != nil {
		if old.out.Load() > 0 {
			p.closedInUse++
		}
		// Off the heap it complains of the blocks that are out, and is right.
		_ = old.keeper.Close()
		old.closed = true
	}
	p.mu.Lock()
	p.retired = append(p.retired, old)
	p.mu.Unlock()
	p.sweep()
}

// sweep lets go of the retired pools that have no block out and hold nothing. One that
// has just been closed may: while a timer lets a block of it go, or memory.
func (p *ponds) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var still []*pond
	for _, n := range p.retired {
		switch {
		case n.out.Load() > 0:
			still = append(still, n)
		case n.keeper != nil:
			if !n.closed {
				// What it would complain of is in what it holds.
				_ = n.keeper.Close()
				n.closed = true
			}
			p.closed = append(p.closed, n.keeper)
		}
	}
	p.retired = still
	p.closed = slices.DeleteFunc(p.closed, func(k contender.Keeper) bool {
		idle, inUse, reserved := k.Held()
		return idle == 0 && inUse == 0 && reserved == 0
	})
}

// left is what closed pools still hold.
func (p *ponds) left() (idle, inUse, reserved int64) {
	for _, k := range p.closed {
		i, u, r := k.Held()
		idle, inUse, reserved = idle+i, inUse+u, reserved+r
	}
	return idle, inUse, reserved
}

// standing are the pools in all places; ok is false where they cannot account for
// themselves.
func (p *ponds) standing() (all []contender.Keeper, ok bool) {
	for i := range p.places {
		if k := p.places[i].Load().keeper; k != nil {
			all = append(all, k)
		}
	}
	return all, len(all) > 0
}

// closeAll retires and closes every pool, once all blocks are back.
func (p *ponds) closeAll() error {
	for i := range p.places {
		p.retired = append(p.retired, p.places[i].Load())
	}
	p.sweep()
	if n := len(p.retired); n > 0 {
		return fmt.Errorf("%d pools have blocks out when all is put back: the driver's fault", n)
	}
	return nil
}

// idle is what all pools keep idle, in bytes.
func (p *ponds) idle() (sum int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.retired
	for i := range p.places {
		all = append(all[:len(all):len(all)], p.places[i].Load())
	}
	for _, n := range all {
		if idler, ok := n.pool.(contender.Idler); ok {
			sum += idler.IdleBytes()
		}
	}
	return sum
}

// idleOf is what some pools keep idle, in bytes.
func idleOf(all []contender.Keeper) (sum int64) {
	for _, k := range all {
		idle, _, _ := k.Held()
		sum += idle
	}
	return sum
}

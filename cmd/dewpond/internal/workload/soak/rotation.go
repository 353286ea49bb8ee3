package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

const (
	// standingPools pools live as long as the round. The passingPools are replaced by new
	// ones all the time.
	standingPools = 4
	passingPools  = 4
	// budgetBytes is the limit of the Budget: sometimes less than its pools need.
	budgetBytes = 8 << 20
)

// An entry is one pool of the rotation.
type entry struct {
	pool     contender.Pool
	keeper   contender.Keeper // nil if the pool cannot account for its memory
	budgeted bool
	closed   bool // guarded by rotation.mu

	// out is how many blocks the soakers have, or may be about to get. A soaker counts its
	// block first and checks second that the entry is still in its place. So once an entry is
	// in no place and out is 0, it stays 0.
	out atomic.Int64
}

// A rotation is the pools of a round. Only its owner may call its methods, except acquire and
// idle.
type rotation struct {
	*workload.Job
	places [standingPools + passingPools]atomic.Pointer[entry]
	budget *dewpond.Budget // of every second pool
	random *rand.Rand

	made, closedInUse int

	mu      sync.Mutex         // guards retired, which the sampler reads
	retired []*entry           // entries that still have blocks out
	closed  []contender.Keeper // pools without blocks out that still hold memory
}

func newRotation(j *workload.Job) *rotation {
	r := &rotation{Job: j, budget: dewpond.MustBudget("soak", budgetBytes), random: rand.New(rand.NewPCG(3, uint64(j.Round)))}
	for i := range r.places {
		r.places[i].Store(r.make(i))
	}
	return r
}

// make makes the pool for a place. The very first pool exists already.
func (r *rotation) make(place int) *entry {
	n := &entry{}
	switch r.made++; {
	case r.made == 1:
		n.pool = r.Job.Pool
	case place/2%2 == 1:
		n.pool, n.budgeted = r.Fresh(contender.Options{Budget: r.budget}), true
	default:
		n.pool = r.Fresh(contender.Options{})
	}
	n.keeper, _ = n.pool.(contender.Keeper)
	return n
}

// acquire returns the entry in a place, and counts one more of its blocks as out.
func (r *rotation) acquire(place int) *entry {
	for {
		n := r.places[place].Load()
		n.out.Add(1)
		if r.places[place].Load() == n {
			return n
		}
		n.out.Add(-1)
	}
}

// renew puts a new pool into a place. At random, it closes the old pool at once, with its
// blocks still out, or leaves it to be closed when the last of them is back.
func (r *rotation) renew() {
	place := standingPools + r.random.IntN(passingPools)
	old := r.places[place].Swap(r.make(place))
	if r.random.IntN(2) == 0 && old.keeper != nil {
		if old.out.Load() > 0 {
			r.closedInUse++
		}
		// Off the heap Close reports the blocks that are out, which is right.
		_ = old.keeper.Close()
		old.closed = true
	}
	r.mu.Lock()
	r.retired = append(r.retired, old)
	r.mu.Unlock()
	r.sweep()
}

// sweep forgets the retired pools that have no blocks out and hold nothing. A pool that has
// just been closed may still hold something while a timer frees a block of it, or memory.
func (r *rotation) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var still []*entry
	for _, n := range r.retired {
		switch {
		case n.out.Load() > 0:
			still = append(still, n)
		case n.keeper != nil:
			if !n.closed {
				// What Close would report is in what the pool holds.
				_ = n.keeper.Close()
				n.closed = true
			}
			r.closed = append(r.closed, n.keeper)
		}
	}
	r.retired = still
	r.closed = slices.DeleteFunc(r.closed, func(k contender.Keeper) bool {
		idle, inUse, reserved := k.Held()
		return idle == 0 && inUse == 0 && reserved == 0
	})
}

// left returns what closed pools still hold.
func (r *rotation) left() (idle, inUse, reserved int64) {
	for _, k := range r.closed {
		i, u, r := k.Held()
		idle, inUse, reserved = idle+i, inUse+u, reserved+r
	}
	return idle, inUse, reserved
}

// standing returns the pools in all places; ok is false if they cannot account for their
// memory.
func (r *rotation) standing() (all []contender.Keeper, ok bool) {
	for i := range r.places {
		if k := r.places[i].Load().keeper; k != nil {
			all = append(all, k)
		}
	}
	return all, len(all) > 0
}

// closeAll retires and closes every pool, after all blocks are back.
func (r *rotation) closeAll() error {
	for i := range r.places {
		r.retired = append(r.retired, r.places[i].Load())
	}
	r.sweep()
	if n := len(r.retired); n > 0 {
		return fmt.Errorf("%d pools have blocks out after everything was put back: a fault of the driver", n)
	}
	return nil
}

// idle returns the bytes that all pools keep idle.
func (r *rotation) idle() (sum int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.retired
	for i := range r.places {
		all = append(all[:len(all):len(all)], r.places[i].Load())
	}
	for _, n := range all {
		if idler, ok := n.pool.(contender.Idler); ok {
			sum += idler.IdleBytes()
		}
	}
	return sum
}

// idleOf returns the bytes that some pools keep idle.
func idleOf(all []contender.Keeper) (sum int64) {
	for _, k := range all {
		idle, _, _ := k.Held()
		sum += idle
	}
	return sum
}

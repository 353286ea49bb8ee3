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
	// standingPools live as long as the round. As many others pass: new ones replace
	// them all the time.
	standingPools = 4
	passingPools  = 4
	// budgetBytes is what the budgeted pools may have together: less than they would like
	// now and then.
	budgetBytes = 8 << 20
)

// An entry is one pool of the rotation.
type entry struct {
	pool     contender.Pool
	keeper   contender.Keeper // nil where it cannot account for itself
	budgeted bool
	closed   bool // guarded by rotation.mu

	// out is how many blocks are with the soakers, or may be about to be: whoever
	// wants one counts itself first and looks whether it is still in its place
	// second, so an entry that is in no place and has none out gets none any more.
	out atomic.Int64
}

// A rotation is the pools of a round. All methods but acquire and idle are its one owner's.
type rotation struct {
	*workload.Job
	places [standingPools + passingPools]atomic.Pointer[entry]
	budget *dewpond.Budget // of every other one
	random *rand.Rand

	made, closedInUse int

	mu      sync.Mutex         // guards retired: the sampler looks at it
	retired []*entry           // that still have blocks out
	closed  []contender.Keeper // that have none, and still hold something
}

func newRotation(j *workload.Job) *rotation {
	r := &rotation{Job: j, budget: dewpond.NewBudget(budgetBytes), random: rand.New(rand.NewPCG(3, uint64(j.Round)))}
	for i := range r.places {
		r.places[i].Store(r.make(i))
	}
	return r
}

// make makes the pool for a place. The first of all has been made already.
func (r *rotation) make(place int) *entry {
	n := &entry{}
	switch r.made++; {
	case r.made == 1:
		n.pool = r.Job.Pool
	case place/2%2 == 1:
		n.pool, n.budgeted = r.Fresh(r.budget), true
	default:
		n.pool = r.Fresh(nil)
	}
	n.keeper, _ = n.pool.(contender.Keeper)
	return n
}

// acquire returns the entry in a place, one more block of which counts as out.
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

// renew puts a new pool into a place. The old one is closed at once, its blocks still
// out, or when the last of them is back: as chance has it.
func (r *rotation) renew() {
	place := standingPools + r.random.IntN(passingPools)
	old := r.places[place].Swap(r.make(place))
	if r.random.IntN(2) == 0 && old.keeper != nil {
		if old.out.Load() > 0 {
			r.closedInUse++
		}
		// Off the heap it complains of the blocks that are out, and is right.
		_ = old.keeper.Close()
		old.closed = true
	}
	r.mu.Lock()
	r.retired = append(r.retired, old)
	r.mu.Unlock()
	r.sweep()
}

// sweep lets go of the retired pools that have no block out and hold nothing. One that
// has just been closed may: while a timer lets a block of it go, or memory.
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
				// What it would complain of is in what it holds.
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

// left is what closed pools still hold.
func (r *rotation) left() (idle, inUse, reserved int64) {
	for _, k := range r.closed {
		i, u, r := k.Held()
		idle, inUse, reserved = idle+i, inUse+u, reserved+r
	}
	return idle, inUse, reserved
}

// standing are the pools in all places; ok is false where they cannot account for
// themselves.
func (r *rotation) standing() (all []contender.Keeper, ok bool) {
	for i := range r.places {
		if k := r.places[i].Load().keeper; k != nil {
			all = append(all, k)
		}
	}
	return all, len(all) > 0
}

// closeAll retires and closes every pool, once all blocks are back.
func (r *rotation) closeAll() error {
	for i := range r.places {
		r.retired = append(r.retired, r.places[i].Load())
	}
	r.sweep()
	if n := len(r.retired); n > 0 {
		return fmt.Errorf("%d pools have blocks out when all is put back: the driver's fault", n)
	}
	return nil
}

// idle is what all pools keep idle, in bytes.
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

// idleOf is what some pools keep idle, in bytes.
func idleOf(all []contender.Keeper) (sum int64) {
	for _, k := range all {
		idle, _, _ := k.Held()
		sum += idle
	}
	return sum
}

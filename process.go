package dewpond

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/decay"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/pressure"
	"github.com/dewpond/dewpond/internal/registry"
)

// This file has what all pools of the process share: the list of them, the ticker of decay, what follows a GC
// cycle, and pressure.

// A livePool is a pool of any type, as this package needs it.
type livePool interface {
	StatsSource
	appendEngines([]*magazine.Engine) []*magazine.Engine
	arm()                 // see armAll
	ownChecks() []*checks // each may be nil
	reportLeaks() int
}

// livePools has all pools that are neither closed nor collected.
var livePools registry.Registry[livePool]

// reserve finds a name for a pool that is being made. publish then adds the pool to Pools.
func reserve[P any, S interface {
	*P
	livePool
}](p S, name string) *registry.Entry {
	w := weak.Make((*P)(p))
	entry := livePools.Reserve(name, func() (livePool, bool) {
		p := w.Value()
		return S(p), p != nil
	})
	runtime.AddCleanup((*P)(p), livePools.Remove, entry)
	return entry
}

func publish(entry *registry.Entry) {
	livePools.Publish(entry)
	awaitCollection()
}

// While there are pools or guarded blocks, afterCollection is called after each garbage collection: see
// magazine.ClearStale. It needs neither a permanent goroutine nor a timer, so it also
// works for pools that do not decay.

// awaited reports whether the next collection will call afterCollection.
var awaited atomic.Bool

// awaitCollection has afterCollection called once, after the next collection.
func awaitCollection() {
	if awaited.CompareAndSwap(false, true) {
		atomics.AfterCollection(afterCollection)
	}
}

// collections counts the calls of afterCollection, for tests.
var collections atomic.Int64

// afterCollection clears what the slots of idle pools still point to, and forgets the guarded blocks that
// the collection has found lost.
func afterCollection() {
	awaited.Store(false) // before it looks: a pool made later awaits the next collection itself
	walk(func(engines []*magazine.Engine) {
		guard := processGuard.Load()
		if guarded := guard != nil && guard.ForgetLost(); guarded || len(engines) > 0 {
			awaitCollection()
		}
		magazine.ClearStale(engines, &walked.stale)
	})
	collections.Add(1)
}

// walked has the slices of walk, which allocates nothing: at the memory limit what is allocated after a GC cycle
// begins another, and two of them empty the second tier.
var walked struct {
	mu      sync.Mutex
	pools   []livePool
	engines []*magazine.Engine
	stale   magazine.Stale // for afterCollection
}

// walk calls f with the engines of all pools, which f must not keep.
func walk(f func([]*magazine.Engine)) {
	w := &walked
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pools = livePools.AppendLive(w.pools)
	for _, p := range w.pools {
		w.engines = p.appendEngines(w.engines)
	}
	f(w.engines)
	w.pools, w.engines = emptied(w.pools), emptied(w.engines)
}

// emptied returns a slice without elements, to be filled again, unless it is long.
func emptied[T any](s []T) []T {
	if clear(s); cap(s) > 1024 {
		return nil
	}
	return s[:0]
}

// ticker ticks what decays in all pools of the process.
var ticker = decay.NewTicker(haste, gather)

// processTicker returns ticker. In the explorer each pool has one of its own, which its run alone has used.
func processTicker() *decay.Ticker {
	if atomics.Explored {
		return decay.NewTicker(haste, gather)
	}
	return ticker
}

// gather moves what processors have for themselves to the depots, in one grace period.
func gather(all []decay.Idle) {
	engines := make([]*magazine.Engine, len(all))
	for i := range all {
		engines[i] = all[i].(*magazine.Engine)
	}
	magazine.Gather(engines)
}

// haste returns how fast decay must be at the current level of pressure.
func haste() decay.Haste {
	switch pressure.Current() {
	case pressure.High:
		return decay.AllAtOnce
	case pressure.Medium:
		return decay.Hurry
	}
	return decay.NoHaste
}

// tierEnvironment is the variable that has all pools of the process free the blocks that their
// bounds have no room for.
const tierEnvironment = "DEWPOND_TIER"

// tierUnless returns whether blocks may go to and come from second tiers now, for a pool that may have
// one, and nil if off or the environment forbids it.
func tierUnless(off bool) func() bool {
	if off || os.Getenv(tierEnvironment) == "off" {
		return nil
	}
	if keepApart() { // what belongs to a bubble must not leave it
		return func() bool { return !bubble.Inside() }
	}
	return always
}

// spilled returns at most how many bytes the second tiers of all pools have.
func spilled() (bytes int64) {
	walk(func(engines []*magazine.Engine) {
		for _, e := range engines {
			bytes += e.Spilled()
		}
	})
	return bytes
}

// always is so under pressure too: what is in a second tier is freed by the GC cycles that pressure brings, and
// what a program allocates again instead, near its memory limit, brings more of them.
func always() bool { return true }

// beyond is what all pools may keep idle together beyond their bounds, where these follow what was
// out: a quarter of the memory limit, and nothing under pressure.
var beyond = magazine.NewAllowance(func() int64 {
	if pressure.Current() != pressure.Low {
		return 0
	}
	return pressure.Limit() / 4
})

// beyondIf returns beyond for a pool whose bound follows what was out, and nil for others.
func beyondIf(follows bool) *magazine.Allowance {
	if follows {
		return beyond
	}
	return nil
}

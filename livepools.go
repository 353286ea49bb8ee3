package dewpond

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/registry"
)

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

// A StatsSource is a [BytePool], or a [Pool] or [SlicePool] of any type. It is what an exporter of
// statistics needs: see [Pools].
type StatsSource interface {
	Name() string
	Stats() Stats
}

// Pools yields every pool that is neither closed nor collected, in the order of their
// names.
func Pools() iter.Seq[StatsSource] {
	return func(yield func(StatsSource) bool) {
		all := livePools.Live()
		slices.SortFunc(all, func(a, b livePool) int { return strings.Compare(a.Name(), b.Name()) })
		for _, p := range all {
			if !yield(p) {
				return
			}
		}
	}
}

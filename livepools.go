package dewpond

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"weak"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/registry"
)

// A livePool is a pool of any type, as this package needs it.
type livePool interface {
	StatsSource
	engines() []*magazine.Engine
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

// While there are pools, afterCollection is called after each garbage collection: see
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

// afterCollection clears what the slots of idle pools still point to.
func afterCollection() {
	awaited.Store(false) // before Live: a pool made later awaits the next collection itself
	var engines []*magazine.Engine
	for _, p := range livePools.Live() {
		engines = append(engines, p.engines()...)
	}
	if engines != nil {
		awaitCollection()
	}
	magazine.ClearStale(engines)
	collections.Add(1)
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

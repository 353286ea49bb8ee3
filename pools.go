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

// A StatsSource is a pool of any type, for exporters.
type StatsSource interface {
	Name() string
	Stats() Stats
}

// A livePool is what this package asks of a pool of any type besides.
type livePool interface {
	StatsSource
	engines() []*magazine.Engine
}

// livePools are all pools that are neither closed nor collected.
var livePools registry.Registry[livePool]

// Pools yields every pool that is neither closed nor collected, by name.
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

// Name returns what the pool is called in statistics: the name of its options,
// or that and a number where an older live pool has it.
func (p *BytePool) Name() string { return p.actual().name }

// Name returns what the pool is called in statistics: the name of its options,
// or that and a number where an older live pool has it.
func (p *Pool[T]) Name() string { return p.actual().name }

// reserve finds a name for a pool that is being made. publish makes that one of Pools.
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

// While there are pools, afterCollection is called after each garbage collection:
// magazine.ClearStale says what for. It needs neither a goroutine that lives nor a timer,
// so it works for pools that do not decay too.

func (p *BytePool) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine, &p.handles} }

func (p *Pool[T]) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine} }

// awaited is whether the next collection will call afterCollection.
var awaited atomic.Bool

// awaitCollection has afterCollection called once after the next collection.
func awaitCollection() {
	if awaited.CompareAndSwap(false, true) {
		atomics.AfterCollection(func() { go afterCollection() }) // for cleanups wait in line
	}
}

// collections is how often afterCollection was called, for tests.
var collections atomic.Int64

// afterCollection lets go of what the slots of idle pools still point to.
func afterCollection() {
	awaited.Store(false) // before the look: a pool that it does not see awaits the next one itself
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

package dewpond

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"
)

// A StatsSource is a pool of any type, for exporters.
type StatsSource interface {
	Name() string
	Stats() Stats
}

// registry holds every live pool by name, weakly: it keeps none alive.
var registry struct {
	mu    sync.Mutex
	pools map[string]entry
}

// An entry is one registered pool. live returns nil once the pool is collected.
type entry struct {
	live func() StatsSource
	id   *byte // tells this registration from a later one of the same name
}

// Pools yields every pool that is neither closed nor collected, by name.
func Pools() iter.Seq[StatsSource] {
	return func(yield func(StatsSource) bool) {
		registry.mu.Lock()
		var live []StatsSource
		for _, e := range registry.pools {
			if p := e.live(); p != nil {
				live = append(live, p)
			}
		}
		registry.mu.Unlock()
		slices.SortFunc(live, func(a, b StatsSource) int { return strings.Compare(a.Name(), b.Name()) })
		for _, p := range live {
			if !yield(p) {
				return
			}
		}
	}
}

// Name returns what the pool is called in statistics: the name of its options,
// or that and a number where an older live pool has it.
func (p *BytePool) Name() string { return p.name }

// Name returns what the pool is called in statistics: the name of its options,
// or that and a number where an older live pool has it.
func (p *Pool[T]) Name() string { return p.name }

// register gives the pool p a name that no live pool has, in its registration r.
func register[P any, S interface {
	*P
	StatsSource
}](p S, r *registration, name string) {
	w := weak.Make((*P)(p))
	e := entry{id: new(byte), live: func() StatsSource {
		if p := w.Value(); p != nil {
			return S(p)
		}
		return nil
	}}

	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.pools == nil {
		registry.pools = make(map[string]entry)
	}
	*r = registration{name, e.id}
	for i := 2; taken(r.name); i++ {
		r.name = fmt.Sprintf("%s-%d", name, i)
	}
	registry.pools[r.name] = e
	runtime.AddCleanup((*P)(p), registration.remove, *r)
}

func taken(name string) bool {
	e, ok := registry.pools[name]
	return ok && e.live() != nil
}

// A registration is what a pool is called, and what it needs to leave the
// registry, also after it has been collected.
type registration struct {
	name string
	id   *byte
}

func (r registration) remove() {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.pools[r.name].id == r.id {
		delete(registry.pools, r.name)
	}
}

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

// register gives the pool a name that no live pool has.
func register(p *BytePool, name string) {
	w := weak.Make(p)
	e := entry{id: new(byte), live: func() StatsSource {
		if p := w.Value(); p != nil {
			return p
		}
		return nil
	}}

	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.pools == nil {
		registry.pools = make(map[string]entry)
	}
	p.name = name
	for i := 2; taken(p.name); i++ {
		p.name = fmt.Sprintf("%s-%d", name, i)
	}
	p.registration = registration{p.name, e.id}
	registry.pools[p.name] = e
	runtime.AddCleanup(p, registration.remove, p.registration)
}

func taken(name string) bool {
	e, ok := registry.pools[name]
	return ok && e.live() != nil
}

// A registration is what a pool needs to leave the registry, also after it has
// been collected.
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

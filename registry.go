package dewpond

import (
	"fmt"
	"iter"
	"math/rand/v2"
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
	mu       sync.Mutex
	pools    map[string]entry
	families map[string]*family // by the name of the options, where pools have a number
	looks    int                // at whether a name is taken; for tests
	awaited  bool               // the next collection will call afterCollection
}

// An entry is one registered pool. live returns nil once the pool is collected.
type entry struct {
	live  func() StatsSource
	place *place
}

// A family is the pools whose options have one name, but for the one that has it alone.
type family struct {
	next int // a number that is likely to be free
	live int // how many have a number
}

// A place is what a pool holds in the registry: a name, and where that has a number also
// a part in a family. It tells one registration of a name from a later one.
type place struct {
	name   string
	base   string // the family's name; number 0: none
	number int
	gone   bool // has been removed
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
func (p *BytePool) Name() string { return p.actual().name }

// Name returns what the pool is called in statistics: the name of its options,
// or that and a number where an older live pool has it.
func (p *Pool[T]) Name() string { return p.actual().name }

// register gives the pool p a name that no live pool has, in its registration r.
func register[P any, S interface {
	*P
	StatsSource
}](p S, r *registration, name string) {
	w := weak.Make((*P)(p))
	live := func() StatsSource {
		if p := w.Value(); p != nil {
			return S(p)
		}
		return nil
	}

	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.pools == nil {
		registry.pools = make(map[string]entry)
		registry.families = make(map[string]*family)
	}
	at := newPlaceLocked(name)
	*r = registration{at.name, at}
	registry.pools[at.name] = entry{live, at}
	awaitCollectionLocked()
	runtime.AddCleanup((*P)(p), registration.remove, *r)
}

// newPlaceLocked finds a name that no live pool has: the one that is wanted, or that with a
// number from 2 on. Numbers that pools have given up are used again, but not necessarily
// the lowest is.
//
// Each number that is found taken, by one of the family or by a pool whose options say just
// that, makes the next step twice as large. So the looks are few where the numbers in use
// lie close together, and at most some thirty where they were chosen to be in the way.
func newPlaceLocked(name string) *place {
	if !takenLocked(name) {
		return &place{name: name}
	}
	f := registry.families[name]
	if f == nil {
		f = &family{next: 2}
		registry.families[name] = f
	}
	number := f.next
	numbered := numberedName(name, number)
	for step := 1; takenLocked(numbered); step *= 2 {
		if number += step; number > maxNumber {
			number, step = 2+rand.IntN(maxNumber), 1
		}
		numbered = numberedName(name, number)
	}
	f.next = number + 1
	f.live++
	return &place{name: numbered, base: name, number: number}
}

// maxNumber is about the largest number of a name; twice that is an int everywhere.
const maxNumber = 1 << 29

func numberedName(name string, number int) string { return fmt.Sprintf("%s-%d", name, number) }

func takenLocked(name string) bool {
	registry.looks++
	e, ok := registry.pools[name]
	return ok && e.live() != nil
}

// A registration is what a pool is called, and what it needs to leave the
// registry, also after it has been collected.
type registration struct {
	name  string
	place *place
}

// remove may be called any number of times.
func (r registration) remove() {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	p := r.place
	if p.gone {
		return
	}
	p.gone = true
	if registry.pools[p.name].place == p {
		delete(registry.pools, p.name)
	}
	if p.number == 0 {
		return
	}
	f := registry.families[p.base]
	f.next = min(f.next, p.number)
	if f.live--; f.live == 0 {
		delete(registry.families, p.base)
	}
}

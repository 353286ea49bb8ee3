package dewpond

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/magazine"
)

// While there are pools, something hangs on the next garbage collection and is called
// after it: magazine.ClearStale says what for. It needs neither a goroutine that lives
// nor a timer, so it works for pools that do not decay too.

// An enginesSource is a pool of any type.
type enginesSource interface{ engines() []*magazine.Engine }

func (p *BytePool) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine, &p.handles} }

func (p *Pool[T]) engines() []*magazine.Engine { return []*magazine.Engine{&p.engine} }

// awaitCollectionLocked has afterCollection called once after the next collection. The
// registry's lock is held.
func awaitCollectionLocked() {
	if registry.awaited {
		return
	}
	registry.awaited = true
	atomics.AfterCollection(func() { go afterCollection() }) // for cleanups wait in line
}

// collections is how often afterCollection was called, for tests.
var collections atomic.Int64

// afterCollection lets go of what the slots of idle pools still point to.
func afterCollection() {
	var engines []*magazine.Engine
	registry.mu.Lock()
	for _, e := range registry.pools {
		if p, ok := e.live().(enginesSource); ok {
			engines = append(engines, p.engines()...)
		}
	}
	registry.awaited = false
	if engines != nil {
		awaitCollectionLocked()
	}
	registry.mu.Unlock()
	magazine.ClearStale(engines)
	collections.Add(1)
}

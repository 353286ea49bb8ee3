// Package garbage is the rest of a service: a heap that it keeps alive, and garbage that it makes
// at a steady rate, so that the collector runs.
package garbage

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

const (
	piece = 1 << 10 // the exact size of a Go allocation, so that the allocated bytes are known

	// A piece is two objects: itself and its slice header.
	bytesOfPiece   = piece + 24
	objectsOfPiece = 2

	tick = 5 * time.Millisecond

	// bite is the most pieces that one tick makes. The rest stays owed: on a machine that
	// cannot make so much garbage, each tick would otherwise have more to catch up than the
	// one before, without an end.
	bite = 32 << 20 / bytesOfPiece
)

// live is the heap that the rest of a service would keep alive: it sets the collector's goal.
// It holds no pointers and is never written to, so marking it takes no time and it is not
// resident.
var live []byte

// Keep keeps that many bytes of the heap alive from now on, and no others.
func Keep(bytes int64) { live = make([]byte, bytes) }

// A Maker makes garbage until it is stopped.
type Maker struct {
	mu     sync.Mutex // no garbage is made while it is held
	pieces atomic.Uint64
	done   chan struct{}
	ended  chan struct{}
}

// last keeps the newest piece reachable, so that no piece is made on the stack.
var last atomic.Pointer[[]byte]

// Start makes so many bytes of garbage a second.
func Start(bytesPerSecond int64) *Maker {
	g := &Maker{done: make(chan struct{}), ended: make(chan struct{})}
	go g.run(float64(bytesPerSecond))
	return g
}

func (g *Maker) run(rate float64) {
	defer close(g.ended)
	if rate == 0 {
		return
	}
	tick := time.NewTicker(tick)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-g.done:
			return
		case <-tick.C:
		}
		select {
		case <-g.done: // before garbage that is due as well
			return
		default:
		}
		due := min(uint64(rate*time.Since(began).Seconds()/bytesOfPiece), g.pieces.Load()+bite)
		g.mu.Lock()
		for g.pieces.Load() < due {
			b := make([]byte, piece)
			last.Store(&b)
			g.pieces.Add(1)
		}
		g.mu.Unlock()
	}
}

// Made returns how much was made so far.
func (g *Maker) Made() (bytes, objects uint64) {
	n := g.pieces.Load()
	return n * bytesOfPiece, n * objectsOfPiece
}

// Pause calls f while no garbage is made.
func (g *Maker) Pause(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// Stop ends the making of garbage.
func (g *Maker) Stop() {
	close(g.done)
	<-g.ended
}

// FillHeap makes garbage until the heap has grown to the collector's goal and every page of it
// is resident; otherwise resident memory would show that growth for seconds. A page is touched
// when it is used a second time.
func FillHeap() {
	const cycles = 3
	until := kit.Collections() + cycles
	most := cycles * (2*int64(len(live)) + 64<<20) / piece // bounded, in case nothing is collected
	for i := range most {
		if i%1024 == 0 && kit.Collections() >= until {
			return
		}
		b := make([]byte, piece)
		last.Store(&b)
	}
}

package decay

import (
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
)

// Environment is the variable that keeps decay from asking for collections, for the whole process.
const Environment = "DEWPOND_COLLECT"

const (
	// collectAfter is how long decay waits for a collection that comes by itself.
	collectAfter = 8 * time.Second
	// Of the heap decay must have let go a quarter, and so many bytes, to ask for a collection.
	collectShare = 4
	collectBytes = 16 << 20
)

// A garbage is what decay has let go since the last collection, in all pools of the process. The
// memory of idle blocks goes back to the system only after a collection, and a process that does
// nothing after a burst has none for two minutes.
type garbage struct {
	mu     atomics.Mutex
	bytes  int64
	cycles uint64    // collections that there had been
	asked  time.Time // when a collection was last asked for
	due    time.Time // when the timer fires that may ask; it may have died with a bubble
}

// ofProcess is that of all pools outside of testing/synctest bubbles. A bubble has a clock of its own, and
// may end at any time with its timers: there each Decayer has a garbage of its own.
var ofProcess garbage

// forbidden reports whether the environment forbids to ask for collections.
func forbidden() bool { return os.Getenv(Environment) == "off" }

// letGo records bytes of the heap that decay with a timeout has released, and a share of a pool whose blocks may keep
// any part of the heap alive: they count as that share of the heap. If the bytes are much of it, and no
// GC cycle runs soon, it requests one, and counts that, but at most once in a timeout. Where the second
// tiers hold much of the heap, it requests two: the first leaves what is in a sync.Pool alive.
func (g *garbage) letGo(bytes int64, share float64, timeout time.Duration, spilled func() int64, count func()) {
	now := time.Now()
	heap, cycles := heapAndCycles()
	g.mu.Lock()
	defer g.mu.Unlock()
	if cycles != g.cycles {
		g.bytes, g.cycles = 0, cycles
	}
	g.bytes += bytes + int64(share*float64(heap))
	if g.bytes < max(heap/collectShare, collectBytes) {
		return
	}
	if due := g.due.Sub(now); due > 0 && due <= max(collectAfter, timeout) {
		return // a timer is armed
	}
	wait := collectAfter
	if since := now.Sub(g.asked); since >= 0 && since < timeout {
		wait = max(wait, timeout-since)
	}
	g.due = now.Add(wait)
	atomics.AfterFunc(wait, func() {
		heap, now := heapAndCycles()
		if now != cycles {
			return // there was one meanwhile
		}
		g.mu.Lock()
		g.asked = time.Now()
		g.mu.Unlock()
		count()
		runtime.GC()
		if spilled() >= max(heap/collectShare, collectBytes) {
			count()
			runtime.GC()
		}
	})
}

// heapAndCycles returns the bytes of all objects of the heap, dead ones too, and the number of collections
// that have ended.
func heapAndCycles() (bytes int64, cycles uint64) {
	samples := [2]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples[:])
	for i := range samples {
		if samples[i].Value.Kind() != metrics.KindUint64 { // another runtime
			return 1 << 62, 0
		}
	}
	return int64(samples[0].Value.Uint64()), samples[1].Value.Uint64()
}

package known

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
)

// What the target that makes garbage is.
const (
	LiveHeap     = 30 << 20  // bytes of nodes that point to each other
	GarbageEach  = 256 << 10 // bytes that a request makes: some four collections a second, so that far more than one request in a hundred meets one
	GarbageTime  = time.Millisecond
	SleeperShare = 0.01 // of the requests sleep for SleeperTime
	SleeperTime  = 20 * time.Millisecond
)

// A node is what the collector must follow: 32 bytes, two of its words pointers.
type node struct {
	next, other *node
	value       [2]uint64
}

const nodeSize = 32

// A maker is a service that keeps a live heap and makes garbage. A request does the same work each
// time, and not work for the same time: so it takes longer while the collector takes processors.
type maker struct {
	once sync.Once
	live []*node
	work int // rounds over a request's own garbage, so that it takes GarbageTime
}

// ready answers when the live heap is there.
func (m *maker) ready(w http.ResponseWriter, _ *http.Request) {
	m.once.Do(m.prepare)
	fmt.Fprint(w, m.took().Nanoseconds())
}

// prepare makes the live heap, and finds how much work takes GarbageTime.
func (m *maker) prepare() {
	m.live = make([]*node, LiveHeap/(nodeSize+8))
	for i := range m.live {
		m.live[i] = &node{}
	}
	for _, n := range m.live { // in no order, so that the collector has to look for each
		n.next, n.other = m.live[rand.IntN(len(m.live))], m.live[rand.IntN(len(m.live))]
	}
	runtime.GC()
	m.work = 1
	for m.took() < GarbageTime && m.work < 1<<20 {
		m.work += (m.work + 3) / 4
	}
}

// tries is how often the work is timed; the fastest counts, for the others were disturbed.
const tries = 20

func (m *maker) took() time.Duration {
	best := time.Duration(1<<63 - 1)
	for range tries {
		began := time.Now()
		m.request()
		best = min(best, time.Since(began))
	}
	return best
}

func (m *maker) serve(w http.ResponseWriter, _ *http.Request) {
	m.once.Do(m.prepare)
	fmt.Fprint(w, m.request())
}

// request makes garbage that points to the live heap, and works on it.
func (m *maker) request() (sum uint64) {
	var first *node
	for i := range GarbageEach / nodeSize {
		first = &node{next: first, other: m.live[(i*7919)%len(m.live)]}
	}
	for range m.work {
		for n := first; n != nil; n = n.next {
			n.value[0] += sum
			sum += n.value[0] ^ n.other.value[1]
		}
	}
	return sum
}

// sleeper sleeps in some of its requests, and hardly makes garbage.
func sleeper(http.ResponseWriter, *http.Request) {
	if rand.Float64() < SleeperShare {
		time.Sleep(SleeperTime)
	}
}

// cost answers with the processor time of this process.
func cost(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, kit.CPUTime().Nanoseconds())
}

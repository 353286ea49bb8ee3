package workload

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/measure"
)

// ParseBytes reads a number of bytes such as "0", "100MB" or "64KiB".
func ParseBytes(text string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(text, u.suffix); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !(v >= 0) || v*u.bytes > 1e12 {
				break
			}
			return int64(v * u.bytes), nil
		}
	}
	return 0, fmt.Errorf("%q is not an amount of bytes: give a number with kB, MB, GB, KiB, MiB or GiB, such as 100MB, up to 1000GB", text)
}

const (
	piece = 1 << 10 // the exact size of a Go allocation, so that the allocated bytes are known

	// A piece is two objects: itself and its slice header.
	bytesOfPiece   = piece + 24
	objectsOfPiece = 2

	garbageTick = 5 * time.Millisecond

	// bite is the most pieces that one tick makes. The rest stays owed: on a machine that
	// cannot make so much garbage, each tick would otherwise have more to catch up than the
	// one before, without an end.
	bite = 32 << 20 / bytesOfPiece
)

// live is the heap that the rest of a service would keep alive: it sets the collector's goal.
// It holds no pointers and is never written to, so marking it takes no time and it is not
// resident.
var live []byte

// garbage is made at a steady rate until stopped, as in the rest of a service, so that the
// collector runs.
type garbage struct {
	mu     sync.Mutex // no garbage is made while it is held
	pieces atomic.Uint64
	done   chan struct{}
	ended  chan struct{}
}

// last keeps the newest piece reachable, so that no piece is made on the stack.
var last atomic.Pointer[[]byte]

func startGarbage(bytesPerSecond int64) *garbage {
	g := &garbage{done: make(chan struct{}), ended: make(chan struct{})}
	go g.run(float64(bytesPerSecond))
	return g
}

func (g *garbage) run(rate float64) {
	defer close(g.ended)
	if rate == 0 {
		return
	}
	tick := time.NewTicker(garbageTick)
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

// fillHeap makes garbage until the heap has grown to the collector's goal and every page of it
// is resident; otherwise resident memory would show that growth for seconds. A page is touched
// when it is used a second time.
func fillHeap() {
	const cycles = 3
	until := measure.Collections() + cycles
	most := cycles * (2*int64(len(live)) + 64<<20) / piece // bounded, in case nothing is collected
	for i := range most {
		if i%1024 == 0 && measure.Collections() >= until {
			return
		}
		b := make([]byte, piece)
		last.Store(&b)
	}
}

// bytes returns how many bytes were allocated so far.
func (g *garbage) bytes() uint64 { return g.pieces.Load() * bytesOfPiece }

// stop ends the making of garbage.
func (g *garbage) stop() {
	close(g.done)
	<-g.ended
}

package attack

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

var (
	length = flag.Duration("dewpond.attack", 0, "how long to attack; 0: a few rounds")
	seed   = flag.Uint64("dewpond.seed", 0, "seed of the attack, as far as scheduling allows; 0: random")
)

// An ingredient is a part of the attack that can be left out.
type ingredient string

const (
	monotone           ingredient = "counts of Stats never go back, with checks too"
	panickingViolation ingredient = "an OnViolation that panics"
	panickingFree      ingredient = "an Allocator whose Free panics"
	budgetedStrangers  ingredient = "Puts of slices made elsewhere, and sizes above the largest class, in pools with a Budget"
)

// leftOut are the ingredients that find a known fault that is not yet fixed: none.
var leftOut = map[ingredient]bool{}

// TestAttack plays rounds. Each round makes pools of all kinds, with random options,
// and goroutines use them in every way, while pools are closed, dropped and replaced,
// GOMAXPROCS and the memory limit change, and callbacks panic. Then everything is put
// back, and the laws of conservation must hold:
//
//   - no goroutine is stuck: each ends;
//   - no block and no object ever had two owners, and a block comes as its policy says;
//   - of each pool Puts are Gets and the foreign and adopted slices, and nothing is in use;
//   - after Trim nothing is idle, and after Close nothing is reserved;
//   - of each limited pool all places are free, and each object was dropped once;
//   - of each Budget the idle bytes are used, and nothing when its pools are gone; and it
//     held if all callers obeyed it;
//   - when the pools are gone, no goroutine, no pool, no address space and no more of the
//     heap is left than before.
//
// Waits have no time limit of their own: until says what it waits for.
func TestAttack(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()>>1 | 1
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	fmt.Printf("attack: -dewpond.seed=%d\n", *seed)
	rounds := 3
	if testing.Short() {
		rounds = 2
	}
	began, told := time.Now(), time.Now()
	var all tally
	var before footprint
	for n := 0; n < rounds || time.Since(began) < *length; n++ {
		play(t, *seed, uint64(n), &all)
		if t.Failed() {
			t.Fatalf("round %d of seed %d", n, *seed)
		}
		if n == 0 {
			before = look() // now everything exists that is made once
			continue
		}
		before.mustBeBack()
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Printf("attack: %v, round %d: %v\n", time.Since(began).Round(time.Second), n, &all)
		}
	}
	fmt.Printf("attack: %v\n", &all)
}

// A footprint is how much the process has of the things that pools are made of.
type footprint struct {
	goroutines, pools int
	heap              int64
	offHeap           offheap.Totals
}

func look() footprint {
	for range 3 {
		runtime.GC()
	}
	f := footprint{goroutines: runtime.NumGoroutine(), offHeap: offheap.Total()}
	for range dewpond.Pools() {
		f.pools++
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap = int64(m.HeapAlloc)
	return f
}

// slack is how much larger than before the heap may be: a few times the difference
// between two measurements.
const slack = 4 << 20

// mustBeBack waits until no more is there than in the footprint.
func (f footprint) mustBeBack() {
	until(func() string {
		now := look()
		if now.goroutines > f.goroutines || now.pools > f.pools || now.heap > f.heap+slack ||
			now.offHeap.Reserved > f.offHeap.Reserved || now.offHeap.Committed > f.offHeap.Committed {
			return fmt.Sprintf("there is %+v, and was %+v", now, f)
		}
		return ""
	})
}

// until waits for a law to hold, for as long as the test's timeout allows: a timer that
// is about to end may break it meanwhile. It says what it waits for, less and less
// often.
func until(broken func() string) {
	began, say := time.Now(), 5*time.Second
	for {
		what := broken()
		if what == "" {
			return
		}
		if waited := time.Since(began); waited > say {
			say *= 2
			fmt.Fprintf(os.Stderr, "attack: for %v: %s\n", waited.Round(time.Second), what)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

package magazine

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/dewpond/dewpond/internal/percpu"
)

// BenchmarkSlowPaths times each path that a Get or a Put can take beside the hot block,
// one operation at a time, by the clock, less the time to read the clock. hot-ns is the
// time when the same path was taken just before. cold-ns is the time when 4 MiB of
// other memory are read in between, so that code and data are not in the nearest
// caches: that is what a tail consists of. hit is the control: what any operation
// takes, including the clock's own cache misses.
//
//	go test -run '^$' -bench SlowPaths ./internal/magazine
func BenchmarkSlowPaths(b *testing.B) {
	if !percpu.Pinned {
		b.Skip("the portable engine also takes locks")
	}
	other := make([]uint64, 4<<20/8)
	for _, path := range slowPaths {
		b.Run(path.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // here: Run sets it
			d := newDriver(path.size)
			var hot, cold []float64
			clock := clockTakes()
			for b.Loop() {
				for range 2 {
					path.prepare(d)
					d.time(path.pushes)
				}
				path.prepare(d)
				hot = append(hot, max(0, d.time(path.pushes)-clock))
				path.prepare(d)
				for i := 0; i < len(other); i += 8 {
					other[i]++
				}
				cold = append(cold, max(0, d.time(path.pushes)-clock))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(hot), "hot-ns")
			b.ReportMetric(median(cold), "cold-ns")
		})
	}
}

// A slowPath is one path, and how to set it up. lines is how many lines of data it
// touches on a 64-bit machine besides the pool's own and the slot, which every
// operation touches. It was counted by reading the code.
type slowPath struct {
	name    string
	size    int
	pushes  bool // the operation is a Push; otherwise a Pop
	prepare func(d *driver)
	lines   int // below, a top item is the topmost item of a magazine
}

var slowPaths = []slowPath{
	{"hit", 1024, false, (*driver).filled, 0},                     // the control: no path is faster
	{"swap", 1024, false, (*driver).beforeSwap, 1},                // a top item
	{"refill", 1024, false, (*driver).beforeRefill, 2},            // the transfer cache, a top item
	{"unload", 1024, true, (*driver).beforeUnload, 2},             // the same
	{"refill-depot", 1024, false, (*driver).beforeRefillDepot, 9}, // array, rounds, shard, depot, bounds, table twice, head and top item
	{"unload-depot", 1024, true, (*driver).beforeUnloadDepot, 10}, // and the head of the other magazine
	{"direct-pop", 2 * MaxShardedSize, false, (*driver).filled, 6},
	{"direct-push", 2 * MaxShardedSize, true, (*driver).filled, 7},
	{"miss", 1024, false, (*driver).emptied, 4}, // array, rounds, transfer cache, depot
}

// TestSlowPaths checks that each path is the one that its name says.
func TestSlowPaths(t *testing.T) {
	if !percpu.Pinned {
		t.Skip("a goroutine of the portable engine has no shard of its own")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, path := range slowPaths {
		d := newDriver(path.size)
		for range 3 {
			path.prepare(d)
			before := d.look()
			d.time(path.pushes)
			after := d.look()
			want := look{}
			switch path.name {
			case "swap":
				want.swapped = true
			case "refill", "unload":
				want.swapped, want.transfer = true, true
			case "refill-depot", "unload-depot":
				want.swapped, want.depot = true, true
			case "direct-pop", "direct-push":
				want.depot = true
			}
			got := look{
				swapped:  before.loaded != after.loaded,
				transfer: before.marks != after.marks,
				depot:    before.head != after.head,
			}
			if got != want {
				t.Errorf("%s: %+v, want %+v", path.name, got, want)
			}
		}
	}
}

// A look is the state that an operation changes, or could change.
type look struct {
	swapped, transfer, depot bool

	loaded *magazine
	marks  [transferCells]*byte
	head   uint64
}

// A driver brings an engine of one P and one class to the state in which an operation
// takes a path.
type driver struct {
	e   Engine
	out []unsafe.Pointer
}

func newDriver(size int) *driver {
	d := new(driver)
	d.e.Init(Config{Sizes: []int{size}, MaxIdleBytes: 8 << 30})
	d.e.grow()
	return d
}

func (d *driver) slot() *slot { return d.e.slotOf(d.e.array(), 0, 0) }

func (d *driver) look() (l look) {
	if d.e.sharded > 0 {
		l.loaded = d.slot().loaded
		for i := range l.marks {
			l.marks[i] = d.e.array().transfers[0].cells[i].mark.Load()
		}
	}
	l.head = d.e.depots.At(0).full.head.Load()
	return l
}

func (d *driver) push() {
	b := block()
	if last := len(d.out) - 1; last >= 0 {
		b, d.out = d.out[last], d.out[:last]
	}
	d.e.Push(0, b)
}

func (d *driver) pop() bool {
	b := d.e.Pop(0)
	if b != nil {
		d.out = append(d.out, b)
	}
	return b != nil
}

// time times one operation.
func (d *driver) time(pushes bool) float64 {
	if pushes {
		b := block()
		start := time.Now()
		d.e.Push(0, b)
		return float64(time.Since(start))
	}
	start := time.Now()
	b := d.e.Pop(0)
	took := time.Since(start)
	if b != nil {
		d.out = append(d.out, b)
	}
	return float64(took)
}

func (d *driver) emptied() {
	for d.pop() {
	}
}

func (d *driver) filled() {
	for range 10 {
		d.push()
	}
}

// fullShard fills both magazines of the shard: the next Push unloads.
func (d *driver) fullShard() {
	for s := d.slot(); s.previousRoom == 0 || s.previousN < s.previousRoom || s.n+1 < s.room || s.state != full; {
		d.push()
	}
}

// emptyShard takes all blocks that the shard has: the next Pop refills.
func (d *driver) emptyShard() {
	for s := d.slot(); s.previousN > 0 || s.n > 0 || s.state == full; {
		d.pop()
	}
}

func (d *driver) beforeSwap() {
	d.fullShard()
	for s := d.slot(); s.n > 0 || s.state == full; {
		d.pop()
	}
}

// withFull leaves a full magazine in the transfer cache.
func (d *driver) withFull() {
	for d.fullShard(); !d.e.array().transfers[0].hasFull(); d.fullShard() {
		d.push()
	}
}

func (d *driver) beforeRefill() {
	d.withFull()
	d.emptyShard()
}

func (d *driver) beforeUnload() {
	d.beforeRefill()
	d.pop() // leaves an empty magazine there
	d.fullShard()
}

// leaveTransfer moves the transfer cache's magazines to the depot.
func (d *driver) leaveTransfer() {
	d.e.leaveTransfers(d.e.array())
}

func (d *driver) beforeRefillDepot() {
	d.withFull()
	d.leaveTransfer()
	d.emptyShard()
}

func (d *driver) beforeUnloadDepot() {
	full := func() bool {
		for i := range d.e.array().transfers[0].cells {
			if mark := d.e.array().transfers[0].cells[i].mark.Load(); mark == nil || !isFull(mark) {
				return false
			}
		}
		return true
	}
	for d.fullShard(); !full(); d.fullShard() {
		d.push()
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// clockTakes returns how long it takes to read the clock twice.
func clockTakes() float64 {
	var took []float64
	for range 1000 {
		start := time.Now()
		took = append(took, float64(time.Since(start)))
	}
	return median(took)
}

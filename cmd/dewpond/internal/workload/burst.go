package workload

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// Burst holds many blocks, lets collections pass, and holds as many again.
var Burst = Scenario{
	Name: "burst",
	About: "holds many blocks at once, returns all, lets collections pass beside unrelated garbage, and holds as many again: " +
		"how many blocks of the second burst had to be allocated, and how long it took. Before that it records one burst: what is idle, in use and resident over time, " +
		"and what is resident once the pool is idle. " +
		"Contenders clear only what they must.",
	Defaults: Spec{
		Goroutines:  1,
		Mix:         Mix{{64 << 10, 100}},
		Garbage:     400e6,
		Duration:    1200 * time.Millisecond,
		Blocks:      256,
		Collections: 3,
	},
	QuickRounds: 2,
	Bursts:      true,
	Variants:    []string{"dewpond-offheap"},
	Drive:       runBurst,
}

const (
	page = 4 << 10
	// patience is how long a gap waits for the garbage to cause its collections. Then it
	// collects by force.
	patience = time.Second
)

// runBurst watches a first burst of a new pool for half of the round. For the other half, which
// is the measured window, it repeats bursts, at least two.
func runBurst(j *Job) error {
	b := &burster{Job: j, view: j.Pool.View(), size: j.Mix.largest(), written: j.Mix.largest(), held: make([]contender.Block, j.Blocks)}
	if err := b.watched(); err != nil {
		return err
	}
	b.rest()
	b.hold() // once more: a short IdleTimeout may have freed the first burst
	if err := b.giveBack(); err != nil {
		return err
	}
	b.timePairs()
	b.Result.Ops, b.Result.Verified = 0, 0
	var took, misses []float64
	err := j.Measured(func() error {
		for began := kit.Now(); len(took) == 0 || kit.Now()-began < j.Duration/2; {
			if !b.gap() {
				break
			}
			ns, missed := b.secondBurst()
			took, misses = append(took, ns), append(misses, missed)
			if err := b.giveBack(); err != nil {
				return err
			}
		}
		return nil
	})
	if len(took) > 0 {
		j.Result.Figures["second_burst_ns"] = quantile.Median(took)
		j.Result.Figures["second_burst_misses"] = quantile.Median(misses)
	}
	return err
}

type burster struct {
	*Job
	view    contender.View
	size    int
	written int // bytes of each block
	held    []contender.Block
	got     int          // bytes of a block as it was got, with its spare capacity
	out     atomic.Int64 // bytes that are held
	pair    *kit.Recorder
	took    []time.Duration // by each held block, so far; nil: blocks are not timed one by one
}

// timePairs times each block from now on, if the spec asks for it: its Get with the write that makes
// it resident, and its Put.
func (b *burster) timePairs() {
	if b.Pairs {
		b.pair, b.took = b.recorder("pair"), make([]time.Duration, len(b.held))
	}
}

// watched is one burst on a timetable, which is the same for every contender so that their
// curves can be compared: a moment of nothing, a moment of all blocks out, and then what
// becomes of them.
func (b *burster) watched() error {
	defer garbage.Start(b.Garbage).Stop()
	stretch := b.Duration / 2
	moment := stretch / 8
	s := b.watchPool(stretch, b.out.Load)
	defer s.Stop()
	if b.Pause(moment) {
		return nil
	}
	s.look()
	b.hold()
	s.look()
	cut := b.Pause(moment)
	s.look()
	if err := b.giveBack(); err != nil || cut {
		return err
	}
	s.look()
	b.Pause(stretch - 2*moment)
	return nil
}

// rest measures the resident memory of the idle pool: after the collections that the pool's blocks may
// survive, and after the runtime has given back what it can.
func (b *burster) rest() {
	for range b.Collections {
		runtime.GC()
	}
	debug.FreeOSMemory()
	if rss := kit.RSS(); rss > 0 && !b.Cut() {
		b.Result.Figures["rss_when_idle_bytes"] = float64(rss)
	}
}

// hold gets every block and writes to each page of what is written, so that the time to make memory
// resident is included. It returns how long that took.
func (b *burster) hold() time.Duration {
	began := kit.Now()
	last := began
	for i := range b.held {
		b.held[i] = b.view.Get(b.size)
		for at := 0; at < b.written; at += page {
			b.held[i].Bytes[at] = byte(i)
		}
		if b.took != nil {
			now := kit.Now()
			b.took[i], last = now-last, now
		}
	}
	took := kit.Now() - began
	b.got = cap(b.held[0].Bytes)
	out := 0
	for _, h := range b.held {
		out += cap(h.Bytes)
	}
	b.out.Store(int64(out))
	return took
}

func (b *burster) giveBack() error {
	for i := range b.held {
		if got := b.held[i].Bytes[0]; got != byte(i) {
			return fmt.Errorf("block %d of the burst had two owners: it holds %d", i, got)
		}
		var began time.Duration
		if b.took != nil {
			began = kit.Now()
		}
		b.view.Put(b.held[i])
		if b.took != nil {
			b.pair.Record(0, b.took[i]+kit.Now()-began)
		}
		b.held[i] = contender.Block{}
	}
	b.out.Store(0)
	b.Result.Ops += uint64(len(b.held))
	b.Result.Verified += uint64(len(b.held))
	return nil
}

// secondBurst holds again, and counts how many blocks had to be allocated. Most contenders do
// not count their misses, so it uses what the process allocates; the garbage is paused
// meanwhile.
func (b *burster) secondBurst() (ns, misses float64) {
	b.garbage.Pause(func() { ns, misses = b.counted() })
	return ns, misses
}

// counted is secondBurst while no garbage is made.
func (b *burster) counted() (ns, misses float64) {
	var took time.Duration
	misses = b.counting(func() { took = b.hold() })
	return float64(took), misses
}

// counting returns how many blocks have to be allocated while do holds some.
func (b *burster) counting(do func()) float64 {
	if misser, ok := b.Pool.(contender.Misser); ok {
		before := misser.Misses()
		do()
		return float64(misser.Misses() - before)
	}
	before := kit.Allocated()
	do()
	allocated := kit.Allocated() - before
	return math.Round(float64(allocated) / float64(b.got))
}

// gap waits for the collections, with garbage, and reports whether they happened.
func (b *burster) gap() bool {
	until := kit.Collections() + uint64(b.Collections)
	forced := kit.Now() + patience
	for kit.Collections() < until {
		if b.Pause(2 * time.Millisecond) {
			return false
		}
		if b.Garbage == 0 || kit.Now() > forced {
			runtime.GC()
		}
	}
	return true
}

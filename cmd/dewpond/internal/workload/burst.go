package workload

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/measure"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/result"
)

var burst = Scenario{
	Name: "burst",
	About: "holds many blocks at once, returns all, lets collections pass beside unrelated garbage, and holds as many again: " +
		"how many of the second burst had to be allocated, how long it took, and what stays idle and resident afterwards. Nothing clears that need not.",
	Defaults: Spec{
		Goroutines:  1,
		Mix:         Mix{{64 << 10, 100}},
		Garbage:     400e6,
		Duration:    1200 * time.Millisecond,
		Blocks:      256,
		Collections: 3,
	},
	QuickRounds: 2,
	Uses:        []string{"mix", "garbage", "blocks", "collections"},
	run:         runBurst,
}

const (
	page = 4 << 10
	// patience is how long a gap waits for the garbage to bring its collections
	// about before it collects by force.
	patience = time.Second
	// observe is the time between two points of idle_bytes and rss_bytes.
	observe = 50 * time.Millisecond
)

// runBurst bursts again and again for half of the round, at least twice, and
// watches what stays for the other half.
func runBurst(j *job) error {
	b := &burster{job: j, view: j.pool.View(), size: j.Mix.largest(), held: make([]contender.Block, j.Blocks)}
	b.hold()
	b.giveBack()
	var took, misses []float64
	err := j.measured(func() error {
		for began := measure.Now(); len(took) == 0 || measure.Now()-began < j.Duration/2; {
			if !b.gap() {
				break
			}
			ns, missed := b.secondBurst()
			took, misses = append(took, ns), append(misses, missed)
			if err := b.giveBack(); err != nil {
				return err
			}
		}
		b.watch()
		return nil
	})
	if len(took) > 0 {
		j.round.Figures["second_burst_ns"] = median(took)
		j.round.Figures["second_burst_misses"] = median(misses)
	}
	return err
}

type burster struct {
	*job
	view contender.View
	size int
	held []contender.Block
}

// hold gets every block and writes to each of its pages, so that memory which is
// not really there is paid for here. It returns how long that took.
func (b *burster) hold() time.Duration {
	began := measure.Now()
	for i := range b.held {
		b.held[i] = b.view.Get(b.size)
		for at := 0; at < b.size; at += page {
			b.held[i].Bytes[at] = byte(i)
		}
	}
	return measure.Now() - began
}

func (b *burster) giveBack() error {
	for i := range b.held {
		if got := b.held[i].Bytes[0]; got != byte(i) {
			return fmt.Errorf("block %d of the burst had two owners: it holds %d", i, got)
		}
		b.view.Put(b.held[i])
		b.held[i] = contender.Block{}
	}
	b.round.Ops += uint64(len(b.held))
	b.round.Verified += uint64(len(b.held))
	return nil
}

// secondBurst holds again, and counts how many blocks had to be allocated. Most
// contenders cannot tell their misses, so they are counted by what the process
// allocates; the garbage waits meanwhile.
func (b *burster) secondBurst() (ns, misses float64) {
	b.garbage.mu.Lock()
	defer b.garbage.mu.Unlock()
	before := measure.Allocated()
	took := b.hold()
	allocated := measure.Allocated() - before
	return float64(took), math.Round(float64(allocated) / float64(cap(b.held[0].Bytes)))
}

// gap lets the collections pass, with garbage; it reports whether they did.
func (b *burster) gap() bool {
	until := measure.Collections() + uint64(b.Collections)
	forced := measure.Now() + patience
	for measure.Collections() < until {
		if b.pause(2 * time.Millisecond) {
			return false
		}
		if b.Garbage == 0 || measure.Now() > forced {
			runtime.GC()
		}
	}
	return true
}

// watch records what the pool keeps, where it can tell, and what the process has
// resident, while garbage and collections go on.
func (b *burster) watch() {
	idler, tells := b.pool.(contender.Idler)
	b.round.Series = map[string][]result.Point{}
	began := measure.Now()
	for {
		at := measure.Now() - began
		add := func(key string, value float64) {
			b.round.Series[key] = append(b.round.Series[key], result.Point{Seconds: at.Seconds(), Value: value})
		}
		if tells {
			add("idle_bytes", float64(idler.IdleBytes()))
		}
		add("rss_bytes", float64(measure.RSS()))
		if at >= b.Duration/2 || b.pause(observe) {
			return
		}
	}
}

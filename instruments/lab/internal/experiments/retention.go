package experiments

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/offheap"
)

// retention holds many large blocks, lets collections pass, and holds them again.
var retention = experiment.Experiment{
	ID:       "retention",
	Question: "What is left of a pool after some collections, and what does that cost the next burst?",
	Claims: []experiment.Claim{{
		ID: "retention/vanish", Text: "what is in a sync.Pool may go without notice: the name sync.Cache would suit it better", Publication: giveUp, Judge: judgeRetentionVanish, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("sync.Pool", "burst_misses"): experiment.At("channel", "burst_misses")}},
	}, {
		ID: "retention/burst", Text: "a pool that keeps its blocks over collections makes the next burst fifty times as fast", Publication: ours, Judge: judgeRetentionBurst, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("dewpond", "burst_ns"): experiment.At("make", "burst_ns")}},
	}, {
		ID: "retention/ballast", Text: "off the heap the same blocks leave the collector more to do: 1.7 times the collections, for they are no ballast", Publication: ours, Judge: judgeRetentionBallast, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("dewpond off the heap", "collections_per_sec"): experiment.At("dewpond", "collections_per_sec")}},
	}},
	Cases: []string{"make", "sync.Pool", "channel", "dewpond", "dewpond off the heap"},
	Each:  900 * time.Millisecond,
	Run:   runRetention,
	Plots: []experiment.Plot{
		{Figure: "burst_ns", Title: "The second burst", Note: "256 blocks of 64 KiB, three collections after the first"},
		{Figure: "burst_misses", Title: "Blocks that had to be allocated, of 256"},
		{Figure: "collections_per_sec", Title: "Collections a second", Note: "beside 300 MB of garbage a second"},
		{Figure: "rss_peak_bytes", Title: "Peak of resident memory"},
	},
}

const (
	retainedBlocks = 256
	retainedSize   = 64 << 10
)

func retainer(name string) (get func() []byte, put func([]byte), end func()) {
	end = func() {}
	switch name {
	case "make":
		return func() []byte { return make([]byte, retainedSize) }, func([]byte) {}, end
	case "sync.Pool":
		pool := &sync.Pool{New: func() any { return new([retainedSize]byte) }}
		return func() []byte { return pool.Get().(*[retainedSize]byte)[:] }, func(b []byte) { pool.Put((*[retainedSize]byte)(b)) }, end
	case "channel":
		free := make(chan []byte, retainedBlocks)
		return func() []byte {
				select {
				case b := <-free:
					return b
				default:
					return make([]byte, retainedSize)
				}
			}, func(b []byte) {
				select {
				case free <- b:
				default:
				}
			}, end
	}
	options := dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}
	var pool *dewpond.BytePool
	if name == "dewpond" {
		pool = dewpond.MustBytePool(options)
	} else {
		var err error
		if pool, err = offheap.NewBytePool(options); err != nil {
			panic(err)
		}
	}
	return func() []byte { return pool.Get(retainedSize) }, pool.Put, func() { pool.Close() }
}

func runRetention(r *experiment.Run) error {
	get, put, end := retainer(r.Case)
	defer end()
	keepRecords(r.Count(10_000_000))
	blocks := max(r.Count(retainedBlocks*experiment.QuickDivisor), 8)
	blocks = min(blocks, retainedBlocks)
	held := make([][]byte, blocks)
	hold := func() time.Duration {
		began := kit.Now()
		for i := range held {
			held[i] = get()
			for at := 0; at < retainedSize; at += 4096 { // so that the memory is resident
				held[i][at] = byte(i)
			}
		}
		return kit.Now() - began
	}
	release := func() {
		for i := range held {
			put(held[i])
			held[i] = nil
		}
	}
	hold()
	release()
	g := garbage.Start(300e6)
	var ns, misses []float64
	began, cycles := kit.Now(), kit.Collections()
	for len(ns) == 0 || kit.Now()-began < r.Span(900*time.Millisecond) {
		// Three collections by the garbage; where the machine has no time for it, by force.
		until, forced := kit.Collections()+3, kit.Now()+300*time.Millisecond
		for kit.Collections() < until {
			time.Sleep(time.Millisecond)
			if kit.Now() > forced {
				runtime.GC()
			}
		}
		g.Pause(func() {
			before := kit.Allocated()
			ns = append(ns, float64(hold()))
			misses = append(misses, math.Round(float64(kit.Allocated()-before)/retainedSize))
		})
		release()
	}
	g.Stop()
	r.Set("collections_per_sec", float64(kit.Collections()-cycles)/(kit.Now()-began).Seconds())
	r.Set("burst_ns", quantile.Median(ns))
	r.Set("burst_misses", quantile.Median(misses))
	r.Set("blocks", float64(blocks))
	r.Set("rss_peak_bytes", float64(kit.PeakRSS()))
	return nil
}

func judgeRetentionVanish(m experiment.Measured) experiment.Finding {
	lost, kept, of := experiment.At("sync.Pool", "burst_misses"), experiment.At("channel", "burst_misses"), experiment.At("sync.Pool", "blocks")
	if f, lacking := m.Lacking(lost, kept, of); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s of %s blocks were gone after three collections", m.Text(lost), m.Text(of)),
		Control:  fmt.Sprintf("a channel lost %s, dewpond %s", m.Text(kept), m.Text(experiment.At("dewpond", "burst_misses"))),
		Do:       "For bursts that are further apart than two collections take a pool that keeps its blocks.",
	}
	switch share := m.Median(lost.Case, lost.Figure) / max(m.Median(of.Case, of.Figure), 1); {
	case share > 0.9:
		f.Verdict, f.Why = experiment.Reproduced, "two collections empty a sync.Pool"
	case share > 0.1:
		f.Verdict, f.Why = experiment.DirectionOnly, "some are gone"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "they are still there"
	}
	return f
}

func judgeRetentionBurst(m experiment.Measured) experiment.Finding {
	theirs, ours := experiment.At("sync.Pool", "burst_ns"), experiment.At("dewpond", "burst_ns")
	if f, lacking := m.Lacking(theirs, ours); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("the second burst takes %s with dewpond, %s with sync.Pool", m.Text(ours), m.Text(theirs)),
		Control:  fmt.Sprintf("make %s, a channel %s", m.Text(experiment.At("make", "burst_ns")), m.Text(experiment.At("channel", "burst_ns"))),
		Do:       "Keep large blocks over collections if bursts are rare, and pay with memory that stays resident.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(theirs, ours), 50)
	return f
}

func judgeRetentionBallast(m experiment.Measured) experiment.Finding {
	heap, off := experiment.At("dewpond", "collections_per_sec"), experiment.At("dewpond off the heap", "collections_per_sec")
	if f, lacking := m.Lacking(heap, off); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s collections a second off the heap, %s on it", m.Text(off), m.Text(heap)),
		Control:  fmt.Sprintf("sync.Pool %s; resident at most: off the heap %s, on it %s", m.Text(experiment.At("sync.Pool", "collections_per_sec")), m.Text(experiment.At(off.Case, "rss_peak_bytes")), m.Text(experiment.At(heap.Case, "rss_peak_bytes"))),
		Do:       "Go off the heap to bound resident memory, and raise GOGC for the collections that it brings.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(off, heap), 1.7)
	return f
}

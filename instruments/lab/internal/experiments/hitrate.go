package experiments

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// hitRate counts the calls of New: nothing else knows how often a sync.Pool hits.
var hitRate = experiment.Experiment{
	ID:       "hit-rate",
	Question: "Does the hit rate of sync.Pool depend on the object's size?",
	Claims: []experiment.Claim{{
		ID:          "hit-rate/size",
		Text:        "small objects hit more: 92.7 % at 8 B, 63.1 % at 32 B, because the private slot never puts up to 16 B on the heap",
		Publication: sizing,
		Judge:       judgeHitSize,
		Reach:       experiment.Reach{Holds: experiment.Standing{experiment.At("collections", "hit_32_share"): experiment.At("collections", "hit_forgetful_share")}, Fails: experiment.Itself()},
	}, {
		ID:          "hit-rate/pressure",
		Text:        "objects of 32 B put 40 % more pressure on the collector than those of 8 B",
		Publication: sizing,
		Judge:       judgeHitPressure,
		Reach:       experiment.Reach{Holds: experiment.Standing{experiment.At("collections", "misses_32"): experiment.At("collections", "misses_forgetful")}, Fails: experiment.Itself()},
	}, {
		ID:          "hit-rate/large",
		Text:        "an object of more than 8 KB from New bypasses the pool",
		Publication: sizing,
		Judge:       judgeHitLarge,
		Reach:       experiment.Reach{Holds: experiment.Standing{experiment.At("no collections", "hit_65536_share"): experiment.At("no collections", "hit_guarded_share")}, Fails: experiment.Itself()},
	}, {
		ID:          "hit-rate/by-value",
		Text:        "values of up to 16 B are stored without an allocation",
		Publication: sizing,
		Judge:       judgeHitByValue,
		Reach:       experiment.Reach{Holds: experiment.Standing{experiment.At("no collections", "by_value_16_allocs_per_op"): experiment.At("no collections", "by_pointer_16_allocs_per_op")}, Fails: experiment.Itself()},
	}, {
		ID:          "hit-rate/memstats",
		Text:        "the hit rate is (NumGC - PauseTotalNs) / NumGC of runtime.MemStats",
		Publication: sizing,
		Judge:       judgeHitMemStats,
		Reach:       experiment.Reach{Computed: true},
	}},
	Cases:  []string{"no collections", "collections"},
	Rounds: 3,
	Each:   400e6,
	Run:    runHitRate,
	Plots: []experiment.Plot{
		{Series: "miss rate by depth", Title: "Misses by how many objects are out at once", Note: "of all Gets, by the depth of a burst", Y: "share", LogX: true},
		{Series: "miss rate by size", Title: "Misses by size of the object", Note: "of all Gets, by bytes", X: "bytes", Y: "share", LogX: true},
	},
}

var hitSizes = []int{8, 16, 32, 128, 8192, 65536}

const collectEvery = 2000 // operations

func runHitRate(r *experiment.Run) error {
	collect := r.Case == "collections"
	for _, size := range hitSizes {
		misses, gets := hits(r.Count(200_000), 1, collect, always, func() any { return unescaped(size) })
		r.Set("misses_"+strconv.Itoa(size), float64(misses))
		r.Set("hit_"+strconv.Itoa(size)+"_share", 1-float64(misses)/float64(gets))
		r.Point("miss rate by size", float64(size), float64(misses)/float64(gets))
	}
	for _, depth := range []int{1, 16, 128, 1024, 8192} {
		misses, gets := hits(max(r.Count(200_000), 4*depth), depth, collect, always, func() any { return unescaped(64) })
		r.Set("hit_depth_"+strconv.Itoa(depth)+"_share", 1-float64(misses)/float64(gets))
		r.Point("miss rate by depth", float64(depth), float64(misses)/float64(gets))
	}
	// Pools that have what is claimed: one that forgets, and one that takes nothing large.
	misses, gets := hits(r.Count(200_000), 1, collect, func(n int) bool { return n%5 < 3 }, func() any { return unescaped(32) })
	r.Set("hit_forgetful_share", 1-float64(misses)/float64(gets))
	r.Set("misses_forgetful", float64(misses))
	misses, gets = hits(r.Count(20_000), 1, collect, func(int) bool { return false }, func() any { return unescaped(65536) })
	r.Set("hit_guarded_share", 1-float64(misses)/float64(gets))
	r.Set("by_value_8_allocs_per_op", allocsPerPut([8]byte{1}))
	r.Set("by_value_16_allocs_per_op", allocsPerPut([16]byte{1}))
	r.Set("by_pointer_16_allocs_per_op", allocsPerPut(&[16]byte{1}))
	var stats runtime.MemStats
	runtime.GC() // a process without a collection would divide by zero
	runtime.ReadMemStats(&stats)
	r.Set("memstats_share", (float64(stats.NumGC)-float64(stats.PauseTotalNs))/float64(stats.NumGC))
	return nil
}

// hits gets and puts objects, as many at once as depth says, and counts the calls of New.
func hits(n, depth int, collect bool, keep func(n int) bool, make func() any) (misses, gets int) {
	var news atomic.Int64
	pool := sync.Pool{New: func() any { news.Add(1); return make() }}
	var held []any
	for gets < n {
		for range depth {
			held = append(held, pool.Get())
		}
		for i, x := range held {
			if keep(gets + i) {
				pool.Put(x)
			}
		}
		held = held[:0]
		if collect && gets/collectEvery != (gets+depth)/collectEvery {
			runtime.GC()
		}
		gets += depth
	}
	return int(news.Load()), gets
}

// always keeps what is put back.
func always(int) bool { return true }

// unescaped returns a pointer to that many bytes.
func unescaped(size int) any {
	b := make([]byte, size)
	return &b[0]
}

// allocsPerPut returns how many objects a Get and a Put of x allocate.
func allocsPerPut[T any](x T) float64 {
	const n = 10_000
	var pool sync.Pool
	var heap kit.Heap
	pool.Put(x)
	_, before := heap.Read()
	for range n {
		y, ok := pool.Get().(T)
		if !ok {
			y = x
		}
		pool.Put(y) //poolvet:ignore doubleput what a Get that misses would allocate is not counted, so x goes back again
	}
	_, after := heap.Read()
	return float64(after-before) / n
}

func judgeHitSize(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("collections", "hit_8_share"), experiment.At("collections", "hit_32_share")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("with a collection every %d operations %s at 8 B, %s at 32 B", collectEvery, percent(m, small), percent(m, large)),
		Control: fmt.Sprintf("without collections %s and %s; with 8192 objects out at once %s", percent(m, experiment.At("no collections", "hit_8_share")),
			percent(m, experiment.At("no collections", "hit_32_share")), percent(m, experiment.At("collections", "hit_depth_8192_share"))),
		Do: "Size a pool by what is out at once and by the collections between two uses, not by the object's bytes.",
	}
	switch gap := m.Median(small.Case, small.Figure) - m.Median(large.Case, large.Figure); {
	case gap > 0.15:
		f.Verdict, f.Why = experiment.Reproduced, "the smaller object hits much more"
	case gap > 0.02:
		f.Verdict, f.Why = experiment.DirectionOnly, "the smaller object hits a little more"
	case gap < -0.02:
		f.Verdict, f.Why = experiment.NotReproduced, "the smaller object hits less"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "a pool holds interfaces, whose size is that of two words whatever they point to; misses come of depth and collections"
	}
	return f
}

// judgeHitPressure judges by what is made anew, which is all that the collector gets of a pool.
func judgeHitPressure(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("collections", "misses_8"), experiment.At("collections", "misses_32")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s objects of 8 B are made, and %s of 32 B", m.Text(small), m.Text(large)),
		Control:  fmt.Sprintf("without collections %s and %s; a pool that forgets two of five makes %s", m.Text(experiment.At("no collections", small.Figure)), m.Text(experiment.At("no collections", large.Figure)), m.Text(experiment.At("collections", "misses_forgetful"))),
		Do:       "Look at how often New is called: what is not made anew is no garbage, whatever its size.",
	}
	// A goroutine that moves to another processor misses once: two counts differ by chance.
	a, b := m.Median(small.Case, small.Figure), m.Median(large.Case, large.Figure)
	if chance := 2 * math.Sqrt(a+b); math.Abs(b-a) <= chance {
		f.Verdict, f.Why = experiment.NotReproduced, fmt.Sprintf("they differ by no more than two standard deviations of chance, %.0f", chance)
		return f
	}
	f.Verdict, f.Why = experiment.Counts(b, a, 1.4)
	return f
}

func judgeHitLarge(m experiment.Measured) experiment.Finding {
	small, large := experiment.At("no collections", "hit_128_share"), experiment.At("no collections", "hit_65536_share")
	if f, lacking := m.Lacking(small, large); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: percent(m, large) + " at 64 KiB",
		Control:  percent(m, small) + " at 128 B",
		Do:       "Pool large objects first: they save most.",
	}
	if m.Median(large.Case, large.Figure) < 0.5 {
		f.Verdict, f.Why = experiment.Reproduced, "large objects miss"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "Get and Put never look at a size, and large objects hit"
	return f
}

func judgeHitByValue(m experiment.Measured) experiment.Finding {
	value, pointer := experiment.At("no collections", "by_value_16_allocs_per_op"), experiment.At("no collections", "by_pointer_16_allocs_per_op")
	if f, lacking := m.Lacking(value, pointer); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s allocations for each Put of 16 B by value", m.Text(value)),
		Control:  fmt.Sprintf("%s for a pointer", m.Text(pointer)),
		Do:       "Put pointers, never values or slices: boxing them allocates on each Put.",
	}
	if m.Median(value.Case, value.Figure) < 0.1 {
		f.Verdict, f.Why = experiment.Reproduced, "a value is stored without an allocation"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "Put takes an interface, so a value of any size is copied to the heap"
	return f
}

func judgeHitMemStats(m experiment.Measured) experiment.Finding {
	formula, truth := experiment.At("collections", "memstats_share"), experiment.At("collections", "hit_128_share")
	if f, lacking := m.Lacking(formula, truth); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("the formula gives %.0f %%", 100*m.Median(formula.Case, formula.Figure)),
		Control:  "New was counted: " + percent(m, truth),
		Do:       "Count Gets and calls of New yourself; the runtime counts neither.",
	}
	if got, want := m.Median(formula.Case, formula.Figure), m.Median(truth.Case, truth.Figure); got > want-0.05 && got < want+0.05 {
		f.Verdict, f.Why = experiment.Reproduced, "the formula agrees with the count"
		return f
	}
	f.Verdict, f.Why = experiment.Impossible, "it subtracts nanoseconds from a number of collections, and knows no pool"
	f.Arithmetic = "each collection stops the world for a nanosecond at least, so PauseTotalNs >= NumGC, and (NumGC - PauseTotalNs) / NumGC <= 0: no hit rate is negative"
	return f
}

// percent formats a share near 1 so that its misses show.
func percent(m experiment.Measured, v experiment.Value) string {
	return fmt.Sprintf("%.4g %%", 100*m.Median(v.Case, v.Figure))
}

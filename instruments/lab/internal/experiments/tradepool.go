package experiments

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/tradepool"
	"github.com/dewpond/dewpond/offheap"
)

// tradePool fills the table of a pool of CAS stacks, with the columns that it lacks. Its faults
// are in tradefaults.go.
var tradePool = experiment.Experiment{
	ID:       "tradepool",
	Question: "Is a pool of lock-free stacks, built by oneself, better than sync.Pool?",
	Claims: []experiment.Claim{
		{ID: "tradepool/p99", Text: "with 512 goroutines the P99 falls from 128 to 41 µs", Publication: trading, Judge: judgeTradeP99, Reach: tradeReach},
		{ID: "tradepool/tail", Text: "the P999 falls from 492 to 137 µs, the P9999 from 2150 to 386 µs", Publication: trading, Judge: judgeTradeTail, Reach: tradeReach},
		{ID: "tradepool/gc", Text: "collections fall from 12 to 0 in 5 s, on the path that mmap has allocated before", Publication: trading, Judge: judgeTradeGC, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At(tradeOffHeap, ""): experiment.At("stacks", "")},
		}},
		{ID: "tradepool/gc-listing", Text: "collections fall from 12 to 0 in 5 s, with the stacks of the listing, in which there is no mmap", Publication: trading, Judge: judgeTradeListing, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At("stacks", ""): experiment.At("sync.Pool by class", "")}, Fails: experiment.Itself(),
		}},
		{ID: "tradepool/cause", Text: "sync.Pool.Get takes 12.8 ns, 41 % of it to pin, and so 800 thousand a second raise the P99 from 40 µs to 2 ms", Publication: trading, Judge: judgeTradeCause, Reach: experiment.Reach{
			Timed: true, Holds: experiment.Standing{experiment.At("sync.Pool", "pair_ns"): experiment.At("make 64 KiB", "pair_ns")}, Fails: experiment.Itself(),
		}},
		{ID: "tradepool/ring", Text: "a ring takes 3.4 ns where sync.Pool takes 12.8", Publication: trading, Judge: judgeTradeRing, Reach: experiment.Reach{
			Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At(tradePlainRing, "pair_ns"): experiment.At("ring with a lock", "pair_ns")},
		}},
		{ID: "tradepool/ring-pool", Text: "so a pool on a ring does 294 million a second where sync.Pool does 78", Publication: trading, Judge: judgeTradeRingPool, Reach: experiment.Reach{
			Timed: true, Holds: experiment.Standing{experiment.At("ring with a lock", "pair_ns"): experiment.At(tradePlainRing, "pair_ns")}, Fails: experiment.Itself(),
		}},
		{ID: "tradepool/classes", Text: "16 size classes, each for what fits into it", Publication: trading, Judge: judgeTradeClasses, Reach: experiment.Reach{
			Holds: faultStandIns("too_small_share", "too_small_share_up", "classes_in_use", "classes_in_use_up"), Fails: experiment.Itself(),
		}},
		{ID: "tradepool/cap", Text: "a class never holds more than 2048", Publication: trading, Judge: judgeTradeCap, Reach: experiment.Reach{
			Holds: faultStandIns("most_in_class", "most_reserved", "most_held_apart", "most_reserved"), Fails: experiment.Itself(),
		}},
		{ID: "tradepool/limiter", Text: "at most 50 thousand misses a second are allocated", Publication: trading, Judge: judgeTradeLimiter, Reach: experiment.Reach{
			Holds: faultStandIns("allocated", "allocated_refusing"), Fails: experiment.Itself(),
		}},
		{ID: "tradepool/clean", Text: "nobody can read what the earlier owner wrote", Publication: trading, Judge: judgeTradeClean, Reach: experiment.Reach{
			Holds: faultStandIns("leaked", "leaked_dewpond"), Fails: experiment.Itself(),
		}},
		{ID: "tradepool/recycle", Text: "nodes that were popped can be used again", Publication: trading, Judge: judgeTradeRecycle, Reach: experiment.Reach{
			Holds: faultStandIns("two_owners", "two_owners_fresh"), Fails: experiment.Itself(),
		}},
	},
	Cases: []string{"none", "make", "sync.Pool mixed", "sync.Pool by class", "stacks", "dewpond", tradeOffHeap, "costs", "faults"},
	Each:  1000 * time.Millisecond,
	Run:   runTradePool,
	Plots: []experiment.Plot{
		{Figure: "ops_per_sec", Title: "Get and Put, 512 goroutines", Note: "a second; 70 % 128 B, 30 % 8 KB; the owner yields between Get and Put"},
		{Figure: "pair_p99_ns", Title: "P99 of a Get and a Put"},
		{Figure: "pair_p999_ns", Title: "P999 of a Get and a Put"},
		{Figure: "collections_5s", Title: "Collections in 5 s"},
		{Figure: "pair_ns", Title: "A Get and a Put of one goroutine"},
	},
}

const (
	tradeOffHeap   = "dewpond off the heap"
	tradePlainRing = "ring without synchronization"
)

// tradeReach confirms a tail by what has one, make, beside what has none.
var tradeReach = experiment.Reach{
	Timed: true,
	Holds: experiment.Standing{experiment.At("sync.Pool mixed", ""): experiment.At("make", ""), experiment.At("stacks", ""): experiment.At("sync.Pool by class", "")},
	Fails: experiment.Itself(),
}

// faultStandIns has figures of the faults stand in for others, in pairs.
func faultStandIns(pairs ...string) experiment.Standing {
	s := experiment.Standing{}
	for i := 0; i < len(pairs); i += 2 {
		s[experiment.At("faults", pairs[i])] = experiment.At("faults", pairs[i+1])
	}
	return s
}

func runTradePool(r *experiment.Run) error {
	switch r.Case {
	case "costs":
		return tradeCosts(r)
	case "faults":
		return tradeFaults(r)
	}
	get, put, private := tradeContender(r.Case)
	return tradeTable(r, get, put, private)
}

// tradeContender returns a pool that clears what is put back. private is a pool for each
// goroutine: the control without a pool.
func tradeContender(name string) (get func(n int) []byte, put func([]byte), private bool) {
	switch name {
	case "make":
		return func(n int) []byte { return make([]byte, n) }, func(b []byte) { clear(b) }, false
	case "sync.Pool mixed":
		pool := &sync.Pool{New: func() any { return make([]byte, tradepool.Largest) }}
		return func(n int) []byte { return pool.Get().([]byte)[:n] }, func(b []byte) {
			clear(b)
			//lint:ignore SA6002 the published pool boxes the slice
			pool.Put(b)
		}, false
	case "sync.Pool by class":
		small := &sync.Pool{New: func() any { return new([128]byte) }}
		large := &sync.Pool{New: func() any { return new([8192]byte) }}
		return func(n int) []byte {
				if n <= 128 {
					return small.Get().(*[128]byte)[:n]
				}
				return large.Get().(*[8192]byte)[:n]
			}, func(b []byte) {
				clear(b)
				if cap(b) == 128 {
					small.Put((*[128]byte)(b[:128]))
					return
				}
				large.Put((*[8192]byte)(b[:8192]))
			}, false
	case "stacks":
		pool := new(tradepool.Pool)
		return pool.Get, pool.Put, false
	case "dewpond":
		pool := new(dewpond.BytePool)
		return pool.Get, pool.Put, false
	case tradeOffHeap:
		pool, err := offheap.NewBytePool(dewpond.BytePoolOptions{})
		if err != nil {
			panic(err)
		}
		return pool.Get, pool.Put, false
	}
	return nil, func(b []byte) { clear(b) }, true
}

func tradeTable(r *experiment.Run, get func(int) []byte, put func([]byte), private bool) error {
	const goroutines, sample = 512, 32
	times := kit.NewRecorder()
	var ops atomic.Int64
	most := int64(r.Count(2_000_000)) // a window has as many operations at least: a busy machine takes longer
	var stop atomic.Bool
	// What a case without a pool needs is there before the window opens: 4.3 MB in it would be a
	// collection of the harness's own in each case.
	var small, large [][]byte
	if private {
		for range goroutines {
			small, large = append(small, make([]byte, 128)), append(large, make([]byte, 8192))
		}
	}
	work := func(g int, record bool) {
		get := get
		if private {
			get = func(n int) []byte {
				if n <= 128 {
					return small[g]
				}
				return large[g]
			}
		}
		n := 0
		for ; !stop.Load(); n++ {
			if n%64 == 63 {
				ops.Add(64)
			}
			size := 128
			if (n+g)%10 >= 7 {
				size = 8192
			}
			if !record || n%sample != 0 {
				b := get(size)
				b[0] = 1
				runtime.Gosched()
				put(b)
				continue
			}
			began := kit.Now()
			b := get(size)
			took := kit.Now() - began
			b[0] = 1
			runtime.Gosched()
			began = kit.Now()
			put(b)
			times.Record(g, took+kit.Now()-began)
		}
		ops.Add(int64(n % 64))
	}
	phase := func(record bool, span time.Duration) {
		stop.Store(false)
		ops.Store(0)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() { work(g, record) })
		}
		time.Sleep(span)
		for record && ops.Load() < most {
			time.Sleep(time.Millisecond)
		}
		stop.Store(true)
		wg.Wait()
	}
	phase(false, r.Span(200*time.Millisecond)) // warm
	w := kit.Open()
	phase(true, r.Span(800*time.Millisecond))
	a := w.Close()
	n := float64(max(ops.Load(), 1))
	r.Set("ops_per_sec", n/a.Seconds)
	r.Set("collections", float64(a.GCCycles))
	r.Set("collections_5s", 5*float64(a.GCCycles)/a.Seconds)
	r.Set("alloc_bytes_per_op", float64(a.AllocBytes)/n)
	r.Set("allocs_per_op", float64(a.Allocs)/n)
	r.Set("rss_peak_bytes", float64(kit.PeakRSS()))
	setPercentiles(r, "pair", times.Take())
	return nil
}

// setPercentiles sets those percentiles of a time that have enough samples.
func setPercentiles(r *experiment.Run, name string, h *hdrhistogram.Histogram) {
	for _, p := range figure.Percentiles {
		if h.TotalCount() >= p.Needs || r.Scale == experiment.Tiny {
			r.Set(name+"_"+p.Key+"_ns", float64(h.ValueAtPercentile(p.P)))
		}
	}
	r.Set(name+"_max_ns", float64(h.Max()))
}

// tradeCosts times a pair in one goroutine.
func tradeCosts(r *experiment.Run) error {
	pool := &sync.Pool{New: func() any { return new([128]byte) }}
	ring := &plainRing{slots: make([]*[128]byte, 64)}
	ring.put(new([128]byte))
	locked := &lockedRing{plainRing: plainRing{slots: make([]*[128]byte, 64)}}
	locked.put(new([128]byte))
	var stack tradepool.Stack
	b := make([]byte, 128)
	stack.Push(&b)
	times(r, "pair_ns", 100*time.Millisecond,
		way{"sync.Pool", func(n int) {
			for range n {
				pool.Put(pool.Get())
			}
		}},
		way{"ring without synchronization", func(n int) {
			for range n {
				ring.put(ring.get())
			}
		}},
		way{"ring with a lock", func(n int) {
			for range n {
				locked.put(locked.get())
			}
		}},
		way{"stack", func(n int) {
			for range n {
				stack.Push(stack.Pop())
			}
		}},
		way{"make 64 KiB", func(n int) {
			for range n {
				sinkLarge = make([]byte, 64<<10)
			}
		}})
	return nil
}

//lint:ignore U1000 what is assigned to it lies on the heap
var sinkLarge []byte

// A plainRing is a queue for one goroutine alone.
type plainRing struct {
	slots      []*[128]byte
	head, tail int
}

//go:noinline
func (q *plainRing) get() *[128]byte {
	b := q.slots[q.head%len(q.slots)]
	q.head++
	return b
}

//go:noinline
func (q *plainRing) put(b *[128]byte) {
	q.slots[q.tail%len(q.slots)] = b
	q.tail++
}

// A lockedRing is for any number of goroutines, as sync.Pool is.
type lockedRing struct {
	mu sync.Mutex
	plainRing
}

func (q *lockedRing) get() *[128]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.plainRing.get()
}

func (q *lockedRing) put(b *[128]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.plainRing.put(b)
}

// tradeColumns formats a figure of the whole table.
func tradeColumns(m experiment.Measured, name string) string {
	s := ""
	for _, c := range []string{"none", "make", "sync.Pool by class", "dewpond", tradeOffHeap} {
		if v := experiment.At(c, name); m.Has(v) {
			if s != "" {
				s += ", "
			}
			s += c + " " + figure.Format(name, m.Median(c, name))
		}
	}
	return cmp.Or(s, "the other columns were not measured")
}

func judgeTradeTimes(m experiment.Measured, name string, claimed float64) experiment.Finding {
	mixed, stacks := experiment.At("sync.Pool mixed", name), experiment.At("stacks", name)
	if f, lacking := m.Lacking(mixed, stacks); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("one sync.Pool for all sizes %s, the stacks %s", m.Text(mixed), m.Text(stacks)),
		Control:  tradeColumns(m, name),
		Do:       "Take one pool for each size class that stores pointers: sync.Pool by class, or dewpond. What is measured in µs is the wait for a processor, and no pool's.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(stacks, mixed), claimed)
	return f
}

func judgeTradeP99(m experiment.Measured) experiment.Finding {
	return judgeTradeTimes(m, "pair_p99_ns", 41.0/128)
}

func judgeTradeTail(m experiment.Measured) experiment.Finding {
	return judgeTradeTimes(m, "pair_p999_ns", 137.0/492)
}

// judgeTradeCollections says whether a case collects nothing where one pool for all sizes does.
func judgeTradeCollections(m experiment.Measured, name string) experiment.Finding {
	cycles, allocs, mixed := experiment.At(name, "collections"), experiment.At(name, "allocs_per_op"), experiment.At("sync.Pool mixed", "collections")
	if f, lacking := m.Lacking(cycles, allocs, mixed); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s: %s collections in the window, %s in 5 s, and %s allocations for each Get and Put", name, m.Text(cycles), m.Text(experiment.At(name, "collections_5s")), m.Text(allocs)),
		Control:  fmt.Sprintf("in 5 s: one sync.Pool for all sizes %s, the stacks %s; %s", m.Text(experiment.At("sync.Pool mixed", "collections_5s")), m.Text(experiment.At("stacks", "collections_5s")), tradeColumns(m, "collections_5s")),
	}
	switch of := m.Figure(cycles); {
	case m.Figure(mixed).Max == 0:
		f.Verdict, f.Why = experiment.CannotTell, "the window is too short: one sync.Pool for all sizes collects nothing either"
	case of.Max == 0:
		f.Verdict, f.Why = experiment.Reproduced, "there are no collections"
	case of.Median < m.Median(mixed.Case, mixed.Figure)/2:
		f.Verdict, f.Why = experiment.DirectionOnly, "there are fewer collections, and not none"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "there are as many collections or more"
	}
	return f
}

func judgeTradeGC(m experiment.Measured) experiment.Finding {
	f := judgeTradeCollections(m, tradeOffHeap)
	f.Do = "A pool that allocates nothing collects nothing: off the heap, on it, and with sync.Pool by class alike."
	return f
}

func judgeTradeListing(m experiment.Measured) experiment.Finding {
	f := judgeTradeCollections(m, "stacks")
	f.Do = "Look at allocations for each operation first: a pool that allocates on Put keeps the collector busy."
	if f.Verdict == experiment.NotReproduced && m.Median("stacks", "allocs_per_op") >= 1 {
		f.Why += ": each Put allocates a node and a slice header"
	}
	return f
}

func judgeTradeCause(m experiment.Measured) experiment.Finding {
	pair := experiment.At("sync.Pool", "pair_ns")
	if f, lacking := m.Lacking(pair); lacking {
		return f
	}
	const rate, claimed, pinning = 800e3, 12.8, 0.41
	share := m.Median(pair.Case, pair.Figure) * rate / 1e9 // of one processor
	f := experiment.Finding{
		Measured: fmt.Sprintf("a Get and a Put take %s; at 800 thousand a second that is %s of one processor", m.Text(pair), figure.Percent(share)),
		Control:  fmt.Sprintf("the claim's own 12.8 ns are %s of one processor, and what pins 41 %% of that", figure.Percent(claimed*rate/1e9)),
		Do:       "Multiply a cost by its rate before you blame it for a tail.",
	}
	switch {
	case share*pinning > 0.5:
		f.Verdict, f.Why = experiment.Reproduced, "to pin takes most of a processor, behind which a queue grows"
	case share > 0.1:
		f.Verdict, f.Why = experiment.DirectionOnly, "the pool takes a good part of a processor, but what pins leaves most of it"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, fmt.Sprintf("%s of one processor leaves nobody waiting: no queue grows behind it", figure.Percent(share))
	}
	return f
}

func judgeTradeRing(m experiment.Measured) experiment.Finding {
	return judgeTradeRings(m, tradePlainRing, "The published ring has no synchronization, and with it the figures are right. Do not use one: two goroutines in it get the same block.")
}

func judgeTradeRingPool(m experiment.Measured) experiment.Finding {
	return judgeTradeRings(m, "ring with a lock", "Compare only what is equally safe: a ring that any goroutine may use costs as much as sync.Pool or more, and does not grow with the processors.")
}

// judgeTradeRings compares a ring with sync.Pool.
func judgeTradeRings(m experiment.Measured, name, do string) experiment.Finding {
	pool, ring := experiment.At("sync.Pool", "pair_ns"), experiment.At(name, "pair_ns")
	if f, lacking := m.Lacking(pool, ring); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("sync.Pool %s, a %s %s", m.Text(pool), name, m.Text(ring)),
		Control:  fmt.Sprintf("a ring without synchronization %s, with a lock %s; a stack %s", m.Text(experiment.At(tradePlainRing, "pair_ns")), m.Text(experiment.At("ring with a lock", "pair_ns")), m.Text(experiment.At("stack", "pair_ns"))),
		Do:       do,
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(pool, ring), 12.8/3.4)
	return f
}

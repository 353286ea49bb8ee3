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
)

// tradePool fills the table of a pool of CAS stacks, with the columns that it lacks. Its faults
// are in tradefaults.go.
var tradePool = experiment.Experiment{
	ID:       "tradepool",
	Question: "Is a pool of lock-free stacks, built by oneself, better than sync.Pool?",
	Claims: []experiment.Claim{
		{ID: "tradepool/p99", Text: "with 512 goroutines the P99 falls from 128 to 41 µs", Publication: trading, Judge: judgeTradeP99},
		{ID: "tradepool/tail", Text: "the P999 falls from 492 to 137 µs, the P9999 from 2150 to 386 µs", Publication: trading, Judge: judgeTradeTail},
		{ID: "tradepool/gc", Text: "collections fall from 12 to 0 in 5 s", Publication: trading, Judge: judgeTradeGC},
		{ID: "tradepool/cause", Text: "sync.Pool.Get takes 12.8 ns, 41 % of it to pin, and so 800 thousand a second raise the P99 from 40 µs to 2 ms", Publication: trading, Judge: judgeTradeCause},
		{ID: "tradepool/ring", Text: "a ring takes 3.4 ns where sync.Pool takes 12.8: 294 against 78 million a second", Publication: trading, Judge: judgeTradeRing},
		{ID: "tradepool/classes", Text: "16 size classes, each for what fits into it", Publication: trading, Judge: judgeTradeClasses},
		{ID: "tradepool/cap", Text: "a class never holds more than 2048", Publication: trading, Judge: judgeTradeCap},
		{ID: "tradepool/limiter", Text: "at most 50 thousand misses a second are allocated", Publication: trading, Judge: judgeTradeLimiter},
		{ID: "tradepool/clean", Text: "nobody can read what the earlier owner wrote", Publication: trading, Judge: judgeTradeClean},
		{ID: "tradepool/recycle", Text: "nodes that were popped can be used again", Publication: trading, Judge: judgeTradeRecycle},
	},
	Cases: []string{"none", "make", "sync.Pool mixed", "sync.Pool by class", "stacks", "dewpond", "costs", "faults"},
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
	}
	return nil, func(b []byte) { clear(b) }, true
}

func tradeTable(r *experiment.Run, get func(int) []byte, put func([]byte), private bool) error {
	const goroutines, sample = 512, 32
	times := kit.NewRecorder()
	var ops atomic.Int64
	var stop atomic.Bool
	work := func(g int, record bool) {
		small, large := make([]byte, 128), make([]byte, 8192)
		get := get
		if private {
			get = func(n int) []byte {
				if n <= 128 {
					return small
				}
				return large
			}
		}
		n := 0
		for ; !stop.Load(); n++ {
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
		ops.Add(int64(n))
	}
	phase := func(record bool, span time.Duration) {
		stop.Store(false)
		ops.Store(0)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() { work(g, record) })
		}
		time.Sleep(span)
		stop.Store(true)
		wg.Wait()
	}
	phase(false, r.Span(200*time.Millisecond)) // warm
	w := kit.Open()
	phase(true, r.Span(800*time.Millisecond))
	a := w.Close()
	n := float64(max(ops.Load(), 1))
	r.Set("ops_per_sec", n/a.Seconds)
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
		}})
	return nil
}

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
	for _, c := range []string{"none", "make", "sync.Pool by class", "dewpond"} {
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

func judgeTradeGC(m experiment.Measured) experiment.Finding {
	cycles, allocs := experiment.At("stacks", "collections_5s"), experiment.At("stacks", "allocs_per_op")
	if f, lacking := m.Lacking(cycles, allocs); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("the stacks: %s collections in 5 s, %s allocations for each Get and Put", m.Text(cycles), m.Text(allocs)),
		Control:  fmt.Sprintf("one sync.Pool for all sizes %s; %s", m.Text(experiment.At("sync.Pool mixed", "collections_5s")), tradeColumns(m, "collections_5s")),
		Do:       "Look at allocations for each operation first: a pool that allocates on Put keeps the collector busy.",
	}
	switch a := m.Median("stacks", "allocs_per_op"); {
	case a < 0.01 && m.Figure(cycles).Max == 0:
		f.Verdict, f.Why = experiment.Reproduced, "there are no collections"
	case a >= 1:
		f.Verdict, f.Why = experiment.Impossible, "each Put allocates a node and a slice header, so there must be collections"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "there are collections"
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
		f.Verdict, f.Why = experiment.Impossible, fmt.Sprintf("%s of one processor cannot make a P99 of 40 µs 2 ms", figure.Percent(share))
	}
	return f
}

func judgeTradeRing(m experiment.Measured) experiment.Finding {
	pool, plain, locked := experiment.At("sync.Pool", "pair_ns"), experiment.At("ring without synchronization", "pair_ns"), experiment.At("ring with a lock", "pair_ns")
	if f, lacking := m.Lacking(pool, plain, locked); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("sync.Pool %s, a ring that is as safe %s", m.Text(pool), m.Text(locked)),
		Control:  fmt.Sprintf("a ring for one goroutine alone %s; a stack %s", m.Text(plain), m.Text(experiment.At("stack", "pair_ns"))),
		Do:       "Compare only what is equally safe: a ring that any goroutine may use costs more than sync.Pool.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(pool, locked), 12.8/3.4)
	return f
}

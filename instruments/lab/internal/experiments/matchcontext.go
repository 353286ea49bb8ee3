package experiments

import (
	"fmt"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// matchContexts makes the context of a request in each way: anew, on the stack, and from pools.
var matchContexts = experiment.Experiment{
	ID:       "match-context",
	Question: "What does a pool of request contexts save, and what has escape analysis to do with it?",
	Claims: []experiment.Claim{{
		ID: "match-context/allocs", Text: "a pool of contexts with a slice of cap 16 and a map of 4 makes requests without allocations", Publication: matching, Judge: judgeContextAllocs, Reach: experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("sync.Pool", "allocs_per_op"): experiment.At("new, escapes", "allocs_per_op")}},
	}, {
		ID: "match-context/stack", Text: "with the pool the context does not escape to the heap", Publication: folklore, Judge: judgeContextStack, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("sync.Pool", "made_bytes"): experiment.At("new, on the stack", "alloc_bytes_per_op")}, Fails: experiment.Itself()},
	}, {
		ID: "match-context/reset", Text: "a result from the pool is ready for use as it is", Publication: folklore, Judge: judgeContextReset, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("sync.Pool", "stale_values"): experiment.At("dewpond", "stale_values")}, Fails: experiment.Itself()},
	}},
	Cases: []string{"times"},
	Each:  500 * time.Millisecond,
	Run:   runMatchContext,
	Plots: []experiment.Plot{
		{Figure: "request_ns", Title: "A request's context: made, filled, used"},
		{Figure: "allocs_per_op", Title: "Allocations for each request"},
	},
}

// A matchContext is what a request works with. go build -gcflags=-m says of new(matchContext)
// “escapes to heap” where the pointer is stored in a pool or leaves the function, and “does not
// escape” where it stays.
type matchContext struct {
	uid        int
	candidates []int
	attributes map[string]int
}

func newMatchContext() *matchContext {
	return &matchContext{candidates: make([]int, 0, 16), attributes: make(map[string]int, 4)}
}

func (c *matchContext) reset() {
	c.uid = 0
	c.candidates = c.candidates[:0]
	clear(c.attributes)
}

// work fills the context. It is not inlined, so the context's address leaves the caller; it does
// not keep it, so the compiler may leave the context on the stack.
//
//go:noinline
func (c *matchContext) work(uid int) int {
	c.uid = uid
	c.candidates = c.candidates[:12]
	for i := range c.candidates {
		c.candidates[i] = uid + i
	}
	c.attributes["age"], c.attributes["city"] = uid, uid+1
	return len(c.candidates) + len(c.attributes)
}

// escaped makes a context leave its function, as one that is handed to another goroutine does.
var escaped *matchContext

func runMatchContext(r *experiment.Run) error {
	pool := &sync.Pool{New: func() any { return newMatchContext() }}
	ours := dewpond.MustPool(dewpond.PoolOptions[matchContext]{New: newMatchContext, Reset: (*matchContext).reset})
	defer ours.Close()
	ways := []way{{"new, escapes", func(n int) {
		for i := range n {
			escaped = newMatchContext()
			escaped.work(i)
		}
	}}, {"new, on the stack", func(n int) {
		for i := range n {
			var candidates [16]int
			c := matchContext{candidates: candidates[:0], attributes: make(map[string]int, 4)}
			c.work(i)
		}
	}}, {"sync.Pool", func(n int) {
		for i := range n {
			c := pool.Get().(*matchContext)
			c.work(i)
			c.reset()
			pool.Put(c)
		}
	}}, {"dewpond", func(n int) {
		for i := range n {
			c := ours.Get()
			c.work(i)
			ours.Put(c)
		}
	}}}
	for _, w := range ways {
		b, objects := allocations(1000, w.loop)
		r.SetOf(w.name, "allocs_per_op", objects)
		r.SetOf(w.name, "alloc_bytes_per_op", b)
	}
	// What a Get that misses allocates: nothing, if the pool's contexts were not on the heap.
	empty := &sync.Pool{New: func() any { return newMatchContext() }}
	made, _ := allocations(1000, func(n int) {
		for i := range n {
			empty.Get().(*matchContext).work(i)
		}
	})
	r.SetOf("sync.Pool", "made_bytes", made)
	times(r, "request_ns", 120*time.Millisecond, ways...)
	// What the next request sees of one that was put back without a reset.
	c := newMatchContext()
	c.work(7)
	var dirty sync.Pool
	dirty.Put(c)
	stale := 0.0
	for range 1000 { // the race detector has a pool drop some
		if got, _ := dirty.Get().(*matchContext); got != nil {
			stale = float64(len(got.candidates) + len(got.attributes))
			break
		}
		dirty.Put(c) //poolvet:ignore doubleput the pool has dropped it, or the Get would have returned it
	}
	r.SetOf("sync.Pool", "stale_values", stale)
	clean := ours.Get()
	r.SetOf("dewpond", "stale_values", float64(len(clean.candidates)+len(clean.attributes)))
	ours.Put(clean)
	return nil
}

func judgeContextAllocs(m experiment.Measured) experiment.Finding {
	plain, pooled := experiment.At("new, escapes", "allocs_per_op"), experiment.At("sync.Pool", "allocs_per_op")
	if f, lacking := m.Lacking(plain, pooled); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s allocations for each request with the pool, %s", m.Text(pooled), m.Text(experiment.At("sync.Pool", "request_ns"))),
		Control:  fmt.Sprintf("%s without, %s; dewpond %s", m.Text(plain), m.Text(experiment.At("new, escapes", "request_ns")), m.Text(experiment.At("dewpond", "request_ns"))),
		Do:       "Pool a context with its slices and maps in it, and clear the map instead of making one.",
	}
	switch p := m.Median(pooled.Case, pooled.Figure); {
	case p < 0.05 && m.Median(plain.Case, plain.Figure) >= 1:
		f.Verdict, f.Why = experiment.Reproduced, "once the pool is warm nothing is allocated"
	case p < m.Median(plain.Case, plain.Figure):
		f.Verdict, f.Why = experiment.DirectionOnly, "less is allocated, but not nothing"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "as much is allocated"
	}
	return f
}

func judgeContextStack(m experiment.Measured) experiment.Finding {
	heap, stack, pooled := experiment.At("new, escapes", "alloc_bytes_per_op"), experiment.At("new, on the stack", "alloc_bytes_per_op"), experiment.At("sync.Pool", "request_ns")
	made := experiment.At("sync.Pool", "made_bytes")
	if f, lacking := m.Lacking(heap, stack, pooled, made); lacking {
		return f
	}
	saved := m.Median(heap.Case, heap.Figure) - m.Median(stack.Case, stack.Figure)
	f := experiment.Finding{
		Measured: fmt.Sprintf("a Get that misses allocates %s; a context that stays in its function %s less than one that leaves it", m.Text(made), figure.ByteSize(saved)),
		Control:  fmt.Sprintf("times: on the stack %s, escaping %s, from a sync.Pool %s", m.Text(experiment.At(stack.Case, "request_ns")), m.Text(experiment.At(heap.Case, "request_ns")), m.Text(pooled)),
		Do:       "Ask go build -gcflags=-m first: what does not escape costs no allocation and needs no pool.",
	}
	if m.Median(made.Case, made.Figure) < 16 {
		f.Verdict, f.Why = experiment.Reproduced, "the pool makes contexts without an allocation"
		return f
	}
	f.Verdict = experiment.NotReproduced
	f.Why = "what is in a pool is reachable from a global, so it is on the heap always: “&matchContext{...} escapes to heap”; the pool saves making it again"
	return f
}

func judgeContextReset(m experiment.Measured) experiment.Finding {
	stale, ours := experiment.At("sync.Pool", "stale_values"), experiment.At("dewpond", "stale_values")
	if f, lacking := m.Lacking(stale, ours); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(stale) + " values of the request before are in a context that was put back without a reset",
		Control:  m.Text(ours) + " with dewpond, whose pool resets in Put",
		Do:       "Reset before Put, in one place: as the pool's Reset and not in each handler.",
	}
	if m.Median(stale.Case, stale.Figure) == 0 {
		f.Verdict, f.Why = experiment.Reproduced, "nothing is left"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "sync.Pool hands out what was put in"
	return f
}

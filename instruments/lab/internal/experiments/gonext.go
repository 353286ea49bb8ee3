package experiments

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// goNext runs what a new Go may move: small allocations, JSON and sync.Pool. Go 1.26 without its
// malloc for small sizes is Go 1.25 in this; a newer Go is taken where [nextGo] finds one.
var goNext = experiment.Experiment{
	ID:       "go-next",
	Question: "What does a pool still buy with the Go before, this one, and the next?",
	Claims: []experiment.Claim{{
		ID: "go-next/malloc", Text: "Go 1.26 allocates small objects up to 30 % faster", Publication: release126, Judge: judgeNextMalloc, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("this Go", "make_64_ns"): experiment.At("this Go", "pool_64_ns")}, Fails: experiment.Standing{experiment.At("this Go", "make_64_ns"): experiment.At("small malloc off", "make_64_ns")}},
	}, {
		ID: "go-next/small", Text: "for objects of 80 B and less a pool still pays", Publication: ours, Judge: judgeNextSmall, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("this Go", "dewpond_64_ns"): experiment.At("this Go", "make_64_ns")}},
	}, {
		ID: "go-next/greentea", Text: "the Green Tea collector takes 10 to 40 % less time", Publication: release126, Judge: judgeNextGreenTea, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("this Go", "collect_ns"): experiment.At("Green Tea off", "collect_ns")}},
	}},
	Cases: []string{"this Go", "small malloc off", "Green Tea off", "Go 1.27"},
	Each:  1000 * time.Millisecond,
	Builds: map[string]experiment.Build{
		"small malloc off": {Env: []string{"GOEXPERIMENT=nosizespecializedmalloc"}},
		"Green Tea off":    {Env: []string{"GOEXPERIMENT=nogreenteagc"}},
		"Go 1.27":          {Go: nextGo},
	},
	Run: runGoNext,
	Plots: []experiment.Plot{
		{Figure: "make_64_ns", Title: "new of 64 B"},
		{Figure: "make_80_ns", Title: "new of 80 B"},
		{Figure: "pool_64_ns", Title: "A Get and a Put of sync.Pool"},
		{Figure: "json_ns", Title: "Decode a user from JSON"},
		{Figure: "collect_ns", Title: "A collection of 10 MB of small objects"},
	},
}

var (
	//lint:ignore U1000 what is assigned to it lies on the heap
	sink16 *[16]byte
	//lint:ignore U1000 what is assigned to it lies on the heap
	sink64 *[64]byte
	//lint:ignore U1000 what is assigned to it lies on the heap
	sink80 *[80]byte
)

func runGoNext(r *experiment.Run) error {
	pool := &sync.Pool{New: func() any { return new([64]byte) }}
	ours := dewpond.MustPool(dewpond.PoolOptions[[64]byte]{})
	defer ours.Close()
	one := func(figure string, loop func(n int)) { times(r, figure, 120*time.Millisecond, way{r.Case, loop}) }
	one("make_16_ns", func(n int) {
		for range n {
			sink16 = new([16]byte)
		}
	})
	one("make_64_ns", func(n int) {
		for range n {
			sink64 = new([64]byte)
		}
	})
	one("make_80_ns", func(n int) {
		for range n {
			sink80 = new([80]byte)
		}
	})
	one("pool_64_ns", func(n int) {
		for range n {
			pool.Put(pool.Get())
		}
	})
	one("dewpond_64_ns", func(n int) {
		for range n {
			ours.Put(ours.Get())
		}
	})
	var u user
	one("json_ns", func(n int) {
		for range n {
			if err := json.Unmarshal(userJSON, &u); err != nil {
				panic(err)
			}
		}
	})
	live := 10_000_000
	if r.Scale == experiment.Tiny {
		live /= 10
	}
	keepRecords(live)
	one("collect_ns", func(n int) {
		for range n {
			runtime.GC()
		}
	})
	return nil
}

func judgeNextMalloc(m experiment.Measured) experiment.Finding {
	now, before := experiment.At("this Go", "make_64_ns"), experiment.At("small malloc off", "make_64_ns")
	if f, lacking := m.Lacking(now, before); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("new of 64 B takes %s, %s without it", m.Text(now), m.Text(before)),
		Control:  fmt.Sprintf("16 B %s and %s; sync.Pool, which allocates nothing, %s and %s", m.Text(experiment.At("this Go", "make_16_ns")), m.Text(experiment.At("small malloc off", "make_16_ns")), m.Text(experiment.At("this Go", "pool_64_ns")), m.Text(experiment.At("small malloc off", "pool_64_ns"))),
		Do:       "Measure make again with each Go before you keep a pool for small objects.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(now, before), 0.7)
	return f
}

func judgeNextSmall(m experiment.Measured) experiment.Finding {
	made, pooled := experiment.At("this Go", "make_64_ns"), experiment.At("this Go", "dewpond_64_ns")
	if f, lacking := m.Lacking(made, pooled); lacking {
		return f
	}
	next := "with Go 1.27 nothing was measured: " + m.Absent["Go 1.27"]
	if v, with := experiment.At("Go 1.27", "make_64_ns"), experiment.At("Go 1.27", "dewpond_64_ns"); m.Has(v, with) {
		next = fmt.Sprintf("with Go 1.27 %s and %s, a ratio of %s", m.Text(v), m.Text(with), figure.Bracketed(m.Ratio(v, with)))
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("new of 64 B takes %s, a Get and a Put of dewpond %s", m.Text(made), m.Text(pooled)),
		Control:  fmt.Sprintf("sync.Pool %s; %s", m.Text(experiment.At("this Go", "pool_64_ns")), next),
		Do:       "Pool small objects only where profiles show them; a collection is what they cost besides.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(made, pooled), 2)
	if r := m.Ratio(made, pooled); f.Verdict == experiment.DirectionOnly && r.Low > 2 {
		f.Verdict = experiment.Reproduced // the claim names no size
	}
	return f
}

func judgeNextGreenTea(m experiment.Measured) experiment.Finding {
	now, before := experiment.At("this Go", "collect_ns"), experiment.At("Green Tea off", "collect_ns")
	if f, lacking := m.Lacking(now, before); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("a collection of small objects takes %s, %s without Green Tea", m.Text(now), m.Text(before)),
		Control:  fmt.Sprintf("sync.Pool, which neither marks: %s and %s", m.Text(experiment.At("this Go", "pool_64_ns")), m.Text(experiment.At("Green Tea off", "pool_64_ns"))),
		Do:       "Discount what old texts say that a pool saves: collections are cheaper now.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(now, before), 0.75)
	return f
}

package experiments

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// privateShared gives each of many goroutines a pool of its own, or one to all.
var privateShared = experiment.Experiment{
	ID:       "private-shared",
	Question: "Is a pool for each goroutine faster than one for all?",
	Claims: []experiment.Claim{{
		ID: "private-shared/time", Text: "a private pool takes 24 ns, a shared one 89 ns, because of lock contention", Publication: sizing, Judge: judgePrivateTime, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("private", "pair_ns"): experiment.At("nop", "pair_ns")}, Fails: experiment.Standing{experiment.At("private", "pair_ns"): experiment.At("shared", "pair_ns")}},
	}, {
		ID: "private-shared/objects", Text: "private pools make 0 new objects, a shared one 1270", Publication: sizing, Judge: judgePrivateObjects, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("private", "new_objects"): experiment.At("shared", "new_objects"), experiment.At("shared", "new_objects"): experiment.At("private", "new_objects")}, Fails: experiment.Itself()},
	}},
	Cases: []string{"times"},
	Each:  600 * time.Millisecond,
	Run:   runPrivateShared,
	Plots: []experiment.Plot{
		{Figure: "pair_ns", Title: "A Get and a Put, 500 goroutines", Note: "wall time divided by the operations of all"},
		{Figure: "new_objects", Title: "Objects that New made"},
	},
}

func runPrivateShared(r *experiment.Run) error {
	const goroutines = 500
	each := max(r.Count(4000), 10)
	var news atomic.Int64
	fresh := func() any { news.Add(1); return new([64]byte) }
	ours, err := dewpond.NewPool(dewpond.PoolOptions[[64]byte]{})
	if err != nil {
		return err
	}
	defer ours.Close()
	shared := &sync.Pool{New: fresh}
	kinds := []struct {
		name string
		loop func()
	}{
		{"private", func() {
			own := &sync.Pool{New: fresh}
			for range each {
				own.Put(own.Get())
			}
		}},
		{"shared", func() {
			for range each {
				shared.Put(shared.Get())
			}
		}},
		{"dewpond", func() {
			for range each {
				ours.Put(ours.Get())
			}
		}},
		{"nop", func() {
			var own *[64]byte
			for range each {
				own = keep(own)
			}
		}},
	}
	ns, objects := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for began := kit.Now(); len(ns[0]) == 0 || kit.Now()-began < r.Span(600*time.Millisecond); {
		for i, k := range kinds {
			loops := make([]func(), goroutines)
			for j := range loops {
				loops[j] = k.loop
			}
			news.Store(0)
			ns[i] = append(ns[i], float64(kit.Clocked(loops...))/float64(goroutines*each))
			objects[i] = append(objects[i], float64(news.Load()))
		}
	}
	for i, k := range kinds {
		r.SetOf(k.name, "pair_ns", quantile.Median(ns[i]))
		if i < 2 {
			r.SetOf(k.name, "new_objects", quantile.Median(objects[i]))
		}
	}
	return nil
}

//go:noinline
func keep(b *[64]byte) *[64]byte { return b }

func judgePrivateTime(m experiment.Measured) experiment.Finding {
	private, shared := experiment.At("private", "pair_ns"), experiment.At("shared", "pair_ns")
	if f, lacking := m.Lacking(private, shared); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("one pool %s, a pool for each goroutine %s", m.Text(shared), m.Text(private)),
		Control:  fmt.Sprintf("no pool %s; one dewpond.Pool %s", m.Text(experiment.At("nop", "pair_ns")), m.Text(experiment.At("dewpond", "pair_ns"))),
		Do:       "Keep one pool of a kind in the whole program: it has a private slot for each processor already.",
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(shared, private), 89.0/24)
	return f
}

func judgePrivateObjects(m experiment.Measured) experiment.Finding {
	private, shared := experiment.At("private", "new_objects"), experiment.At("shared", "new_objects")
	if f, lacking := m.Lacking(private, shared); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("New made %s objects for private pools", m.Text(private)),
		Control:  fmt.Sprintf("%s for one pool", m.Text(shared)),
		Do:       "Count the calls of New: every pool that is new must make its first object.",
	}
	switch own, all := m.Median(private.Case, private.Figure), m.Median(shared.Case, shared.Figure); {
	case own < all/2 && all > 10:
		f.Verdict, f.Why = experiment.Reproduced, "private pools make fewer objects"
	case own < all:
		f.Verdict, f.Why = experiment.DirectionOnly, "private pools make a few objects less"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "it is the reverse: a new pool is empty"
	}
	return f
}

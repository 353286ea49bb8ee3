package experiments

import (
	"fmt"
	"sync"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// gcWindow pushes messages into a map that keeps the newest, in every variant of the claim, and
// once without pool or allocation: that shows what a maximum means.
var gcWindow = experiment.Experiment{
	ID:       "gc-window",
	Question: "What does a pool do to the tail of pushes into a large window of messages?",
	Claims: []experiment.Claim{{
		ID: "gc-window/collections", Text: "a sync.Pool cuts 454 collections to 22", Publication: latency, Judge: judgeWindowCollections, Reach: experiment.Reach{
			Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At(windowPublished, ""): experiment.At("make", "")}, Short: "the ratio grows with the pushes",
		},
	}, {
		ID: "gc-window/worst", Text: "the worst push falls from 50.4 to 36.1 ms", Publication: latency, Judge: judgeWindowWorst, Reach: experiment.Reach{
			Timed: true, Holds: experiment.Standing{experiment.At("make", "push_max_ns"): experiment.At("make", "push_max_ns"), experiment.At(windowPublished, "push_max_ns"): experiment.At("make", "push_p999_ns"), experiment.At("overwrite in place", "push_max_ns"): experiment.At("overwrite in place", "push_p99_ns")},
			Fails: experiment.Standing{experiment.At(windowPublished, "push_max_ns"): experiment.At("overwrite in place", "push_max_ns")},
		},
	}, {
		ID: "gc-window/tail", Text: "sync.Pool makes the latency of collections better", Publication: latency, Judge: judgeWindowTail, Reach: experiment.Reach{
			Timed: true, Holds: experiment.Standing{experiment.At(windowPublished, ""): experiment.At("overwrite in place", "")}, Fails: experiment.Standing{experiment.At(windowPublished, ""): experiment.At("make", "")},
		},
	}, {
		ID: "gc-window/once", Text: "each old message is put back exactly once", Publication: latency, Judge: judgeWindowOnce, Reach: experiment.Reach{
			Holds: experiment.Standing{experiment.At(windowPublished, "lost"): experiment.At("sync.Pool repaired", "lost")}, Fails: experiment.Itself(),
		},
	}},
	Cases: []string{"make", windowPublished, "sync.Pool repaired", "sync.Pool of pointers", "overwrite in place", "dewpond"},
	Each:  3700 * time.Millisecond, // the first round takes five times as long as the others
	Run:   runWindow,
	Plots: []experiment.Plot{
		{Figure: "push_p999_ns", Title: "P999 of a push", Note: "once the window is full"},
		{Figure: "push_p9999_ns", Title: "P9999 of a push"},
		{Figure: "push_max_ns", Title: "The worst push", Note: "one of all: overwriting in place has neither pool nor collection"},
		{Figure: "collections_full", Title: "Collections, once the window is full", Note: "in the first round, which is the longest"},
	},
}

const (
	windowMessage   = 1024
	windowPublished = "sync.Pool as published"
	// windowEnough is how many pushes show the ratio: with 10 million the published programs have 55
	// and 6 collections, with 20 million 105 and 7, with 100 million 454 and 22.
	windowEnough = 10_000_000
)

// A window keeps the newest messages: each takes the place of the one that is as many older as the
// window is large. get returns one of 1 KiB, put takes an old one back.
type window struct {
	get      func() []byte
	put      func([]byte)
	size     int
	keepZero bool // the published wrap test, which never puts the first message back
	messages map[int][]byte
	next     int
	lost     int
}

func (w *window) push() {
	b := w.get()
	for i := range b {
		b[i] = byte(w.next)
	}
	place := w.next % w.size
	switch old := w.messages[place]; {
	case old == nil:
	case w.keepZero && w.next == w.size: // the published test is next > size
		w.lost++
	default:
		w.put(old)
	}
	w.messages[place] = b
	w.next++
}

func windowVariant(name string) *window {
	w := &window{put: func([]byte) {}}
	fresh := func() any { return make([]byte, windowMessage) }
	switch name {
	case "make":
		w.get = func() []byte { return make([]byte, windowMessage) }
	case windowPublished, "sync.Pool repaired":
		pool := &sync.Pool{New: fresh}
		w.get = func() []byte { return pool.Get().([]byte) }
		w.put = func(b []byte) {
			//lint:ignore SA6002 the published pool boxes the slice
			pool.Put(b)
		}
		w.keepZero = name == windowPublished
	case "sync.Pool of pointers":
		pool := &sync.Pool{New: func() any { return new([windowMessage]byte) }}
		w.get = func() []byte { return pool.Get().(*[windowMessage]byte)[:] }
		w.put = func(b []byte) { pool.Put((*[windowMessage]byte)(b)) }
	case "overwrite in place":
		var last []byte
		w.get = func() []byte {
			if b := last; b != nil {
				last = nil
				return b
			}
			return make([]byte, windowMessage)
		}
		w.put = func(b []byte) { last = b }
	case "dewpond":
		pool, err := dewpond.NewBytePool(dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		if err != nil {
			panic(err)
		}
		w.get = func() []byte { return pool.Get(windowMessage) }
		w.put = pool.Put
	}
	return w
}

func runWindow(r *experiment.Run) error {
	w := windowVariant(r.Case)
	w.size = r.Count(200_000)
	w.messages = make(map[int][]byte, w.size+1)
	for range w.size {
		w.push()
	}
	times := kit.NewRecorder()
	// The collections come out the same each time, and only a long run shows their ratio: the first
	// round counts them.
	n := r.Count(2_000_000)
	if r.Round == 0 {
		n = r.Count(windowEnough)
	}
	filled := readPauses()
	began := kit.Now()
	for range n {
		start := kit.Now()
		w.push()
		times.Record(0, kit.Now()-start)
	}
	r.Set("push_ns", float64(kit.Now()-began)/float64(n))
	if r.Round == 0 {
		full, _ := readPauses().since(filled)
		r.Set("collections_full", full)
		r.Set("pushes", float64(n))
	}
	r.Set("lost", float64(w.lost))
	setPercentiles(r, "push", times.Take())
	return nil
}

func judgeWindowCollections(m experiment.Measured) experiment.Finding {
	without, with, pushes := experiment.At("make", "collections_full"), experiment.At(windowPublished, "collections_full"), experiment.At("make", "pushes")
	if f, lacking := m.Lacking(without, with, pushes); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s with make, %s with the pool, in %s pushes once the window is full", m.Text(without), m.Text(with), figure.Count(m.Median(pushes.Case, pushes.Figure))),
		Control:  fmt.Sprintf("a sync.Pool of pointers %s, overwriting in place %s, dewpond %s", m.Text(experiment.At("sync.Pool of pointers", with.Figure)), m.Text(experiment.At("overwrite in place", with.Figure)), m.Text(experiment.At("dewpond", with.Figure))),
		Do:       "Pool what lives long and leaves often; store pointers, or each Put of a slice allocates its header.",
	}
	f.Verdict, f.Why = experiment.Counts(m.Median(without.Case, without.Figure), m.Median(with.Case, with.Figure), 454.0/22)
	if m.Median(pushes.Case, pushes.Figure) >= windowEnough {
		return f
	}
	if a, b := m.Median(without.Case, without.Figure), m.Median(with.Case, with.Figure); a > b {
		f.Verdict, f.Why = experiment.DirectionOnly, "too short: "+f.Why+"; it grows with the pushes, and the full run has 10 million"
	} else if a < 5 {
		f.Verdict, f.Why = experiment.CannotTell, "too short: there are hardly any collections"
	}
	return f
}

func judgeWindowWorst(m experiment.Measured) experiment.Finding {
	without, with, control := experiment.At("make", "push_max_ns"), experiment.At(windowPublished, "push_max_ns"), experiment.At("overwrite in place", "push_max_ns")
	if f, lacking := m.Lacking(without, with, control); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s with make, %s with the pool", m.Text(without), m.Text(with)),
		Control:  fmt.Sprintf("%s overwriting in place, with %s collections once the window is full", m.Text(control), m.Text(experiment.At("overwrite in place", "collections_full"))),
		Do:       "Never compare maxima: take P999 and P9999, and a control that has neither pool nor collection.",
	}
	if floor := m.Ratio(control, with); floor.Median > 0.5 {
		f.Verdict, f.Why = experiment.NotReproduced, "the worst of millions is the machine's: it is of the same size without any pool or collection"
		return f
	}
	f.Verdict, f.Why = experiment.Compare(m.Ratio(with, without), 36.1/50.4)
	if f.Verdict == experiment.Reproduced || f.Verdict == experiment.DirectionOnly {
		f.Do = "Here the worst push falls too, in as many runs as there are rounds. One run shows a single sample: compare P999 and P9999, which have thousands."
	}
	return f
}

func judgeWindowTail(m experiment.Measured) experiment.Finding {
	without, with := experiment.At("make", "push_p999_ns"), experiment.At(windowPublished, "push_p999_ns")
	if f, lacking := m.Lacking(without, with); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("P999 %s with make, %s with the pool", m.Text(without), m.Text(with)),
		Control:  fmt.Sprintf("overwriting in place %s, a sync.Pool of pointers %s, dewpond %s", m.Text(experiment.At("overwrite in place", "push_p999_ns")), m.Text(experiment.At("sync.Pool of pointers", "push_p999_ns")), m.Text(experiment.At("dewpond", "push_p999_ns"))),
		Do:       "Pool the messages: what it saves is at P999, and not in the maximum.",
	}
	f.Verdict, f.Why = experiment.Direction(m.Ratio(with, without), false)
	return f
}

func judgeWindowOnce(m experiment.Measured) experiment.Finding {
	lost, repaired := experiment.At(windowPublished, "lost"), experiment.At("sync.Pool repaired", "lost")
	if f, lacking := m.Lacking(lost, repaired); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(lost) + " message is not put back",
		Control:  m.Text(repaired) + " once the test is >= and not >",
		Do:       "Count what you get and what you put back: they must be equal at the end.",
	}
	if m.Figure(lost).Max == 0 {
		f.Verdict, f.Why = experiment.Reproduced, "all are put back"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "the wrap test loses the very first message; that is harmless"
	return f
}

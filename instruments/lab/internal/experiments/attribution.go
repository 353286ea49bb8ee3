package experiments

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// attribution takes an allocation profile, an execution trace and, where the machine has it, the
// counters of perf of one run, and splits the time of a block.
var attribution = experiment.Experiment{
	ID:       "attribution",
	Question: "Where does the time of a pooled block go, and which tools say so?",
	Claims: []experiment.Claim{{
		ID: "attribution/levels", Text: "one command gives pprof, trace and perf, of 10 µs, 1 µs and 10 ns", Publication: sizing, Judge: judgeAttributionLevels, Reach: experiment.Reach{Ceiling: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("sync.Pool", "trace_bytes"): experiment.At("sync.Pool", "moved_objects")}},
	}, {
		ID: "attribution/compaction", Text: "the collector compacts the heap and moves objects", Publication: sizing, Judge: judgeAttributionCompaction, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("sync.Pool", "moved_objects"): experiment.At("sync.Pool", "moved_by_growth")}, Fails: experiment.Itself()},
	}, {
		ID: "attribution/split", Text: "Get and Put are the hot spot of a request that uses a pool", Publication: trading, Judge: judgeAttributionSplit, Reach: experiment.Reach{Timed: true, Holds: experiment.Standing{experiment.At("sync.Pool", "pool_share"): experiment.At("sync.Pool", "pool_unused_share")}, Fails: experiment.Itself()},
	}},
	Cases: []string{"sync.Pool", "make"},
	Each:  500 * time.Millisecond,
	Run:   runAttribution,
	Plots: []experiment.Plot{
		{Figure: "pair_ns", Title: "To get a block of 4 KiB and return it"},
		{Figure: "use_ns", Title: "To fill it and sum it up"},
	},
}

func runAttribution(r *experiment.Run) error {
	dir := os.Getenv("DEWPOND_LAB_PROFILES") // they stay there
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "dewpond-lab-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	var traced bytes.Buffer
	if err := trace.Start(&traced); err != nil { // go tool trace reads a trace, it does not make one
		return err
	}
	splitTime(r)
	trace.Stop()
	var allocs bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&allocs, 0); err != nil {
		return err
	}
	for name, b := range map[string]*bytes.Buffer{"allocs.pprof": &allocs, "trace.out": &traced} {
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	r.Set("profile_bytes", float64(allocs.Len()))
	r.Set("trace_bytes", float64(traced.Len()))
	r.Set("perf_counters", perfCounters())
	r.Set("moved_objects", movedObjects())
	r.Set("moved_by_growth", movedByGrowth())
	return nil
}

// splitTime times getting and returning a block apart from its use. Both are times of many in a row: one
// alone is shorter than what reading the clock takes.
func splitTime(r *experiment.Run) {
	pool := &sync.Pool{New: func() any { return new([4096]byte) }}
	sum := 0
	use := func(b *[4096]byte, n int) {
		for i := range b {
			b[i] = byte(i + n)
		}
		for _, c := range b {
			sum += int(c)
		}
	}
	var own [4096]byte
	pair := func(n int) {
		for range n {
			pool.Put(pool.Get())
		}
	}
	if r.Case == "make" {
		pair = func(n int) {
			for range n {
				sinkBlock = new([4096]byte)
			}
		}
	}
	times(r, "pair_ns", 100*time.Millisecond, way{r.Case, pair})
	times(r, "use_ns", 100*time.Millisecond, way{r.Case, func(n int) {
		for i := range n {
			use(&own, i)
		}
	}})
	times(r, "touch_ns", 50*time.Millisecond, way{r.Case, func(n int) { // a use of one byte
		for i := range n {
			own[i%len(own)]++
		}
	}})
	runtime.KeepAlive(sum)
	share := func(of string) float64 {
		pair := r.GetOf(r.Case, "pair_ns")
		return pair / max(pair+r.GetOf(r.Case, of), 1e-9)
	}
	r.Set("pool_share", share("use_ns"))
	r.Set("pool_unused_share", share("touch_ns"))
}

//lint:ignore U1000 what is assigned to it lies on the heap
var sinkBlock *[4096]byte

// perfCounters returns how many hardware counters perf can read here: 0 without perf, or in a
// virtual machine that hides them.
func perfCounters() float64 {
	out, err := exec.Command("perf", "stat", "-x,", "-e", "cycles,cache-misses", "true").CombinedOutput()
	if err != nil {
		return 0
	}
	n := 0
	for line := range bytes.Lines(out) {
		if v, _, ok := bytes.Cut(line, []byte(",")); ok {
			if _, err := strconv.Atoi(string(v)); err == nil {
				n++
			}
		}
	}
	return float64(n)
}

// movedObjects returns how many of many objects have another address after collections.
func movedObjects() float64 {
	var objects []*[64]byte
	var before []string
	for i := range 1000 {
		b := new([64]byte)
		if i%2 == 0 { // every other one becomes a hole
			objects = append(objects, b)
			before = append(before, fmt.Sprintf("%p", b))
		}
	}
	for range 3 {
		runtime.GC()
	}
	moved := 0
	for i, b := range objects {
		if fmt.Sprintf("%p", b) != before[i] {
			moved++
		}
	}
	return float64(moved)
}

// movedByGrowth returns how many of many slices have another address after append has made them grow: what
// moves an object in Go is a copy that the program makes.
func movedByGrowth() float64 {
	moved := 0
	for range 500 {
		b := make([]byte, 16)
		before := fmt.Sprintf("%p", &b[0])
		if b = append(b, make([]byte, 1000)...); fmt.Sprintf("%p", &b[0]) != before {
			moved++
		}
	}
	return float64(moved)
}

func judgeAttributionLevels(m experiment.Measured) experiment.Finding {
	profile, traced, perf := experiment.At("sync.Pool", "profile_bytes"), experiment.At("sync.Pool", "trace_bytes"), experiment.At("sync.Pool", "perf_counters")
	if f, lacking := m.Lacking(profile, traced, perf); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("an allocation profile of %s, a trace of %s, and %s counters of perf", m.Text(profile), m.Text(traced), m.Text(perf)),
		Control:  "the printed command line, go tool trace, only reads a trace: runtime/trace.Start must make it",
		Do:       "Set DEWPOND_LAB_PROFILES to a directory and run this experiment: it leaves allocs.pprof and trace.out there.",
	}
	switch got := m.Median(profile.Case, profile.Figure) > 0 && m.Median(traced.Case, traced.Figure) > 0; {
	case got && m.Median(perf.Case, perf.Figure) > 0:
		f.Verdict, f.Why = experiment.Reproduced, "this experiment is such a command"
	case got:
		f.Verdict, f.Why = experiment.CannotTell, "profile and trace are there; perf has no counters on this machine, which the control shows: it has none of an empty program either"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "a file is empty"
	}
	return f
}

func judgeAttributionCompaction(m experiment.Measured) experiment.Finding {
	moved := experiment.At("sync.Pool", "moved_objects")
	if f, lacking := m.Lacking(moved); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: m.Text(moved) + " of 500 objects have another address after three collections",
		Control:  "every other object beside them was freed, so there were holes to close",
		Do:       "Do not expect fragmentation to go away by itself; size classes bound it.",
	}
	if m.Figure(moved).Max > 0 {
		f.Verdict, f.Why = experiment.Reproduced, "objects move"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "Go's collector marks and sweeps; heap objects never move"
	return f
}

func judgeAttributionSplit(m experiment.Measured) experiment.Finding {
	share, plain := experiment.At("sync.Pool", "pool_share"), experiment.At("make", "pool_share")
	if f, lacking := m.Lacking(share, plain); lacking {
		return f
	}
	part := func(c string) string {
		return fmt.Sprintf("get and return %s, use %s", m.Text(experiment.At(c, "pair_ns")), m.Text(experiment.At(c, "use_ns")))
	}
	f := experiment.Finding{
		Measured: "sync.Pool: " + part("sync.Pool"),
		Control:  "make: " + part("make") + "; of a block of which one byte is used the pool takes " + figure.Percent(m.Median(share.Case, "pool_unused_share")),
		Do:       "Set the time of a Get and a Put beside that of the use before you replace a pool.",
	}
	switch v := m.Median(share.Case, share.Figure); {
	case v > 0.4:
		f.Verdict, f.Why = experiment.Reproduced, "the pool takes "+figure.Percent(v)
	case v > 0.1:
		f.Verdict, f.Why = experiment.DirectionOnly, "the pool takes "+figure.Percent(v)
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "the pool takes "+figure.Percent(v)+" of the time, the use the rest"
	}
	return f
}

package look

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/metricsample"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// Errors of what was seen.
var (
	ErrNoHeap  = errors.New("no profile of the heap: give one of /debug/pprof/allocs?seconds=30, or two of /debug/pprof/heap")
	ErrGCTrace = errors.New("a gctrace alone has no allocations: dewpond advise settings says what other settings make of it; for sites give profiles of the heap of the same time as well")
	ErrLimited = errors.New("the goals of the gctrace do not follow what lives, so a memory limit sets them: give it, as in --memory-limit 512MiB, and --gogc off where GOGC is off")
	ErrCPUOnly = errors.New("a CPU profile alone has no allocations: dewpond advise cpu says what memory costs by it; for sites give profiles of the heap of the same time as well, or the URL")
	ErrQuiet   = errors.New("the garbage collector has not run in the window, so there is nothing that a pool could save: watch for longer (--seconds), or at a time of more load")
	ErrOrder   = errors.New("the second text of heap?debug=1 is older than the first, or of another process: give them in the order in which they were saved")
	ErrOther   = errors.New("the texts of heap?debug=1 and the profiles do not go together, for they differ much in how much was allocated: give those of one process, and of the same time")
	ErrOne     = errors.New("one text of heap?debug=1 alone: give a second one, which was saved at the end of the window")
)

// Settings are those of the program's collector, as the user says. What is nil is as its metrics say, or as
// the goals of its gctrace follow what lives, or the default.
type Settings struct{ GOGC, Limit *float64 }

// endless is more than any number of bytes or percent: what the runtime says where there is no limit, or
// where GOGC is off.
const endless = 1 << 60

// set completes the settings by what the program says. It reports whether something says how they are: else they are
// taken to be the defaults.
func (s Settings) set(l *Look, served *pacer.Window, h *model.Heap) (known bool) {
	h.GOGC = DefaultGOGC
	if l.Trace != nil && !l.Trace.Limited {
		h.GOGC, known = float64(l.Trace.Setting.GOGC), true
	}
	if served != nil && served.Known {
		h.GOGC, h.Limit, known = float64(served.Setting.GOGC), float64(served.Setting.Limit), true
	}
	if len(l.Pages) > 0 {
		last := l.Pages[len(l.Pages)-1]
		if s.GOGC == nil {
			s.GOGC = last.GOGC
		}
		if s.Limit == nil {
			s.Limit = last.Limit
		}
	}
	if s.GOGC != nil {
		if h.GOGC = *s.GOGC; h.GOGC > endless || h.GOGC < 0 {
			h.GOGC = model.Off
		}
	}
	if s.Limit != nil && *s.Limit < endless {
		h.Limit = *s.Limit
	}
	return known || s.GOGC != nil || s.Limit != nil
}

// Facts returns what the look says of the program.
func (l *Look) Facts(settings Settings) (advice.Facts, error) {
	f := advice.Facts{Notes: l.Notes, CPU: advice.CPU{
		Collector:  estimate.CannotTell("give a CPU profile"),
		Allocation: estimate.CannotTell("give a CPU profile"),
		None:       estimate.CannotTell("give a CPU profile"),
	}}
	served := l.served()
	f.Set = settings.set(l, served, &f.Heap)
	if len(l.Pages) == 2 {
		f.Pools = pools.Between(l.Pages[0], l.Pages[1])
	}
	switch {
	case len(l.Readings) == 0 && l.CPU != nil:
		return f, ErrCPUOnly
	case len(l.Readings) == 0 && l.Trace != nil:
		return f, ErrGCTrace
	case len(l.Readings) == 0:
		return f, ErrNoHeap
	}
	allocated := 0.0
	switch {
	case len(l.Stats) == 1:
		return f, ErrOne
	case len(l.Stats) > 1:
		if err := l.heap(&f); err != nil {
			return f, err
		}
		allocated = f.Heap.Allocated
	case l.Trace != nil:
		if err := l.traced(&f); err != nil {
			return f, err
		}
	}
	l.cpu(&f, served)
	window, err := sites.Between(l.Readings, allocated)
	if err != nil {
		return f, err
	}
	f.Window = window
	if sampled := window.Sampled; len(l.Stats) > 1 && f.Heap.Collections >= goTogether && max(allocated, sampled) > otherProgram*min(allocated, sampled) {
		return f, ErrOther
	}
	if l.CPU != nil && f.Known && f.Heap.Goal < smallGoal {
		f.Notes = append(f.Notes, "To take a CPU profile a program allocates about 1 MB, which in a heap as small as this one has the collector run more often: --no-cpu-profile leaves it out.")
	}
	if f.Heap.Seconds == 0 { // a gctrace has a time of its own
		f.Heap.Seconds = window.Duration.Seconds()
	}
	if len(l.Stats) == 0 {
		l.compare(&f)
	}
	if window.Live.Known() {
		f.Heap.Steady, f.Heap.SteadyError = window.Live.Mid, (window.Live.High-window.Live.Low)/2
		for _, s := range window.Sites {
			if f.Brief(s) || s.Within("runtime/pprof.") { // garbage, or what the looks themselves have taken
				f.Heap.Steady -= s.Live.Mid
			}
		}
	}
	return f, nil
}

// heap adds what the runtime's statistics say.
func (l *Look) heap(f *advice.Facts) error {
	first, last := l.Stats[0], l.Stats[len(l.Stats)-1]
	all := make([]uint64, len(l.Stats))
	for i, s := range l.Stats {
		all[i] = s.TotalAlloc
		if i == 0 {
			continue
		}
		if last := l.Stats[i-1]; s.TotalAlloc < last.TotalAlloc || s.NumGC < last.NumGC || s.NumForcedGC < first.NumForcedGC ||
			s.NumGC < last.NumGC+remembered && s.OldestGC.After(last.LastGC) && last.NumGC > 0 { // its collections would be among these
			return ErrOrder
		}
	}
	f.Forced = last.NumForcedGC - first.NumForcedGC
	if err := collected(f, last.NumGC-first.NumGC); err != nil {
		return err
	}
	f.Heap.Allocated = float64(last.TotalAlloc - first.TotalAlloc)
	f.Heap.Goal = mean(within(l.Stats), func(s *memstats.Stats) float64 { return float64(s.NextGC) })
	f.Heap.Roots = mean(l.Stats, func(s *memstats.Stats) float64 { return float64(s.StackInuse) })
	f.Heap.Outside = mean(l.Stats, (*memstats.Stats).Outside)
	f.Quiet = sites.Quiet(all)
	return nil
}

// remembered is how many collections the runtime has the times of.
const remembered = 256

// collected notes how often the collector ran, of which f.Forced were asked for.
func collected(f *advice.Facts, collections uint64) error {
	switch {
	case collections == 0:
		return ErrQuiet
	case f.Forced >= collections:
		return fmt.Errorf("all %d collections of the window were asked for by the program (runtime.GC, or debug.FreeOSMemory): no pool saves those", collections)
	}
	f.Known = true
	f.Heap.Collections = float64(collections - f.Forced)
	return nil
}

// traced adds what the gctrace says, of its own time: its clock begins with the program, and so does not
// say where in it the profiles are.
func (l *Look) traced(f *advice.Facts) error {
	t := l.Trace
	f.Forced = uint64(t.Forced)
	if err := collected(f, uint64(t.Collections+t.Forced)); err != nil {
		return err
	}
	f.Heap.Seconds, f.Heap.Allocated, f.Heap.Goal = t.Seconds, t.Allocated.Mid, t.Goal.Mid
	f.Heap.Roots = t.Stacks.Mid + t.Globals.Mid
	f.Live, f.Goal = t.Live(), t.Goal
	switch {
	case f.Heap.Limit > 0 && t.Limited:
		f.Heap.Outside = max(0, f.Heap.Limit-t.Goal.Mid) // so that the limit gives the goals that were seen
	case t.Limited:
		return ErrLimited
	case f.Heap.Limit > 0:
		f.Notes = append(f.Notes, "gctrace does not say what counts towards the memory limit besides the heap, so it is reckoned with none of that: give what heap?debug=1 answers for better.")
	}
	return nil
}

// By so many times what the runtime has counted differs from what the profiles have a sample of, if they are not of one
// program. A profile ends with a collection, so there must be some.
const (
	otherProgram = 4
	goTogether   = 10
)

// smallGoal is a goal in bytes of which what a CPU profile allocates is a large part.
const smallGoal = 16 << 20

// otherLoad is by how many times what two sources say was allocated a second may differ, before they are not
// of the same time.
const otherLoad = 2

// compare notes if the gctrace is of another time than the profiles, or of another program.
func (l *Look) compare(f *advice.Facts) {
	if l.Trace == nil {
		return
	}
	traced, seen := f.Heap.Allocated/f.Heap.Seconds, f.Window.Allocated/f.Window.Duration.Seconds()
	if traced > otherLoad*seen || seen > otherLoad*traced {
		f.Notes = append(f.Notes, fmt.Sprintf("By the gctrace %s were allocated a second, by the profiles %s: give the lines of the time between the profiles, and of the same process.", figure.ByteSize(traced), figure.ByteSize(seen)))
	}
}

// served returns what the program has served of its runtime's metrics, or nil if that says nothing of the window.
func (l *Look) served() *pacer.Window {
	w, err := metricsample.Window(l.Samples, metricsample.Given{})
	if err != nil {
		return nil
	}
	return w
}

// cpu adds what the collector takes of the processors: as a share of what was used where that is known,
// and else of the time of all of them. A CPU profile may have too few samples for it.
func (l *Look) cpu(f *advice.Facts, served *pacer.Window) {
	const ofAll = ", of the time of all processors, also when they were idle"
	if l.CPU != nil {
		if f.CPU = l.CPU.shares(); f.CPU.Collector.Known() {
			return
		}
	}
	if served != nil {
		if share := served.Collector.Over(served.Used); share.Known() {
			f.CPU.Collector, f.CPU.From = share, "runtime/metrics, which count what neighbours take of the processors meanwhile"
			return
		}
	}
	if len(l.Stats) > 1 {
		var began time.Time
		for _, s := range l.Samples {
			began = s.Began
		}
		if share := fraction(l.Stats, began); share.Known() || l.CPU == nil {
			f.CPU.Collector, f.CPU.From = share, "runtime.MemStats"+ofAll
		}
	}
	if t := l.Trace; t != nil && !f.CPU.Collector.Known() && t.Procs > 0 {
		all := float64(t.Procs) * t.Seconds
		edge := 1 / float64(t.Collections+t.Forced) // a collection more or less at the ends
		share := t.Collector.Scaled(1 / all)
		f.CPU.Collector = estimate.Estimate{Low: share.Low * (1 - edge), Mid: share.Mid, High: min(1, share.High*(1+edge))}
		f.CPU.From = "gctrace" + ofAll
	}
}

// within returns the looks whose goal a collection of the window has set.
func within(all []*memstats.Stats) []*memstats.Stats {
	first := all[0].NumGC
	return slices.DeleteFunc(slices.Clone(all), func(s *memstats.Stats) bool { return s.NumGC == first })
}

func mean(all []*memstats.Stats, of func(*memstats.Stats) float64) float64 {
	sum := 0.0
	for _, s := range all {
		sum += of(s)
	}
	return sum / float64(len(all))
}

// DefaultGOGC is the GOGC of a program that sets none.
const DefaultGOGC = 100

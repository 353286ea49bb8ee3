package look

import (
	"errors"
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/advice"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// Errors of what was seen.
var (
	ErrNoHeap  = errors.New("no profile of the heap: give one of /debug/pprof/allocs?seconds=30, or two of /debug/pprof/heap")
	ErrCPUOnly = errors.New("a CPU profile alone has no allocations: dewpond advise cpu says what memory costs by it; for sites give profiles of the heap of the same time as well, or the URL")
	ErrQuiet   = errors.New("the garbage collector has not run in the window, so there is nothing that a pool could save: watch for longer (--seconds), or at a time of more load")
	ErrOrder   = errors.New("the second text of heap?debug=1 is older than the first, or of another process: give them in the order in which they were saved")
	ErrOne     = errors.New("one text of heap?debug=1 alone: give a second one, which was saved at the end of the window")
)

// Settings are those of the program's collector, as the user says. What is nil is as its metrics say, or
// the default.
type Settings struct{ GOGC, Limit *float64 }

// endless is more than any number of bytes or percent: what the runtime says where there is no limit, or
// where GOGC is off.
const endless = 1 << 60

// set completes the settings by what the program says.
func (s Settings) set(pages []*pools.Page, h *model.Heap) {
	h.GOGC = DefaultGOGC
	if len(pages) > 0 {
		last := pages[len(pages)-1]
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
}

// Facts returns what the look says of the program.
func (l *Look) Facts(settings Settings) (advice.Facts, error) {
	f := advice.Facts{Notes: l.Notes, CPU: advice.CPU{
		Collector:  estimate.CannotTell("give a CPU profile"),
		Allocation: estimate.CannotTell("give a CPU profile"),
		None:       estimate.CannotTell("give a CPU profile"),
	}}
	settings.set(l.Pages, &f.Heap)
	if len(l.Pages) == 2 {
		f.Pools = pools.Between(l.Pages[0], l.Pages[1])
	}
	switch {
	case len(l.Readings) == 0 && l.CPU != nil:
		return f, ErrCPUOnly
	case len(l.Readings) == 0:
		return f, ErrNoHeap
	}
	allocated := 0.0
	if len(l.Stats) == 1 {
		return f, ErrOne
	}
	if len(l.Stats) > 1 {
		if err := l.heap(&f); err != nil {
			return f, err
		}
		allocated = f.Heap.Allocated
	}
	if l.CPU != nil {
		f.CPU = l.CPU.shares()
	}
	window, err := sites.Between(l.Readings, allocated)
	if err != nil {
		return f, err
	}
	f.Window = window
	f.Heap.Seconds = window.Duration.Seconds()
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
		if i > 0 && (s.TotalAlloc < all[i-1] || s.NumGC < l.Stats[i-1].NumGC || s.NumForcedGC < first.NumForcedGC) {
			return ErrOrder
		}
	}
	f.Forced = last.NumForcedGC - first.NumForcedGC
	collections := last.NumGC - first.NumGC
	if collections == 0 {
		return ErrQuiet
	}
	if f.Forced >= collections {
		return fmt.Errorf("all %d collections of the window were asked for by the program (runtime.GC, or debug.FreeOSMemory): no pool saves those", collections)
	}
	f.Known = true
	f.Heap.Collections = float64(collections - f.Forced)
	f.Heap.Allocated = float64(last.TotalAlloc - first.TotalAlloc)
	f.Heap.Goal = mean(l.Stats, func(s *memstats.Stats) float64 { return float64(s.NextGC) })
	f.Heap.Roots = mean(l.Stats, func(s *memstats.Stats) float64 { return float64(s.StackInuse) })
	f.Heap.Outside = mean(l.Stats, (*memstats.Stats).Outside)
	f.Quiet = sites.Quiet(all)
	f.CPU.Collector, f.CPU.From = fraction(first, last), "runtime.MemStats, of the time of all processors, also when they were idle"
	return nil
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

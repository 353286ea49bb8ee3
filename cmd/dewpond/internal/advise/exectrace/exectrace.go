// Package exectrace reads of an execution trace, as /debug/pprof/trace and runtime/trace write it, what the
// collector did. The format is read by golang.org/x/exp/trace, up to that of Go 1.26.
package exectrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/exp/trace"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
)

// The names of what is used, as traces of Go 1.26 have them.
const (
	heapMetric  = "/memory/classes/heap/objects:bytes"
	goalMetric  = "/gc/heap/goal:bytes"
	procsMetric = "/sched/gomaxprocs:threads"
	markRange   = "GC concurrent mark phase"
	stopRange   = "stop-the-world (GC "
	assistRange = "GC mark assist"
	sweepRange  = "GC incremental sweep"
	workerLabel = "GC ("
	idleLabel   = "GC (idle)"
)

// Errors of traces.
var (
	ErrVersion = errors.New("it is a trace of a Go version that this dewpond cannot read, 1.22 to 1.26: use a newer dewpond, or give two samples of runtime/metrics")
	ErrCut     = errors.New("the trace ends in the middle: collect it anew, and let the request or the program end by itself")
	ErrTrace   = errors.New("it begins as an execution trace and is none: collect it anew")
	ErrNothing = errors.New("there are not two whole collections in the trace: trace for longer, or give a gctrace")
)

var header = regexp.MustCompile(`^go 1\.[0-9]+ trace\x00\x00\x00`)

// Is reports whether a text begins as a trace does.
func Is(start []byte) bool { return header.Match(start) }

// Read reads a trace. It holds a second of it, or what the program wrote of one, at a time.
func Read(r io.Reader) (w *pacer.Window, err error) {
	start := make([]byte, 16)
	n, err := io.ReadFull(r, start)
	switch {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case !Is(start[:n]):
		return nil, ErrTrace
	}
	defer func() { // the reader of a format that is not ours must not end the command
		if p := recover(); p != nil {
			w, err = nil, fmt.Errorf("%w (%v)", ErrTrace, p)
		}
	}()
	in, err := trace.NewReader(io.MultiReader(bytes.NewReader(start), r))
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrVersion, err)
	}
	c := collector{running: map[trace.GoID]trace.Time{}, worker: map[trace.GoID]string{}, assisting: map[trace.GoID]trace.Time{}}
	for {
		event, err := in.ReadEvent()
		switch {
		case errors.Is(err, io.EOF):
			return c.window()
		case errors.Is(err, io.ErrUnexpectedEOF), err != nil && strings.Contains(err.Error(), "EOF"):
			return nil, fmt.Errorf("%w (%v)", ErrCut, err)
		case err != nil:
			return nil, fmt.Errorf("%w (%v)", ErrTrace, err)
		}
		c.add(event)
	}
}

// A collector follows the events.
type collector struct {
	heap, before float64 // bytes: now, and before the last change
	goal         float64
	procs        int

	marks       int        // markings that have ended, the first one's end being where the window begins
	first, last trace.Time // the ends of the first and the last
	live        float64    // after the last one
	lives       []pacer.Live
	allocated   float64 // bytes
	peak        float64 // bytes
	goals       float64 // sum, of the markings behind the first

	running   map[trace.GoID]trace.Time // since when a goroutine runs
	worker    map[trace.GoID]string     // what a mark worker that runs does
	assisting map[trace.GoID]trace.Time // since when a goroutine that runs assists or sweeps
	stopped   trace.Time                // since when the collector has stopped the world; 0 if it has not
	spent     seconds
	begin     seconds // at the first end
	end       seconds // at the last
}

// seconds are of processors.
type seconds struct{ collector, used float64 }

func since(from, to trace.Time) float64 { return to.Sub(from).Seconds() }

func (c *collector) add(e trace.Event) {
	switch e.Kind() {
	case trace.EventMetric:
		c.metric(e.Metric())
	case trace.EventLabel:
		if l := e.Label(); l.Resource.Kind == trace.ResourceGoroutine && strings.HasPrefix(l.Label, workerLabel) {
			c.worker[l.Resource.Goroutine()] = l.Label
		}
	case trace.EventStateTransition:
		if t := e.StateTransition(); t.Resource.Kind == trace.ResourceGoroutine {
			from, to := t.Goroutine()
			c.moves(t.Resource.Goroutine(), from.Executing(), to.Executing(), e.Time())
		}
	case trace.EventRangeBegin, trace.EventRangeActive:
		c.begins(e, e.Range().Name)
	case trace.EventRangeEnd:
		c.ends(e, e.Range().Name)
	}
}

func (c *collector) metric(m trace.Metric) {
	if m.Value.Kind() != trace.ValueUint64 {
		return
	}
	v := float64(m.Value.Uint64())
	switch m.Name {
	case heapMetric:
		c.before, c.heap = c.heap, v
	case goalMetric:
		c.goal = v
	case procsMetric:
		c.procs = int(v)
	}
}

// moves follows a goroutine that begins to run or ceases to.
func (c *collector) moves(g trace.GoID, from, to bool, now trace.Time) {
	switch began, ran := c.running[g]; {
	case to && !from:
		c.running[g] = now
		if _, ok := c.assisting[g]; ok {
			c.assisting[g] = now
		}
	case !to && ran:
		delete(c.running, g)
		worker := c.worker[g]
		delete(c.worker, g)
		if worker == idleLabel {
			return // it costs nobody anything
		}
		c.spent.used += since(began, now)
		if worker != "" {
			c.spent.collector += since(began, now)
		}
		if assists, ok := c.assisting[g]; ok && worker == "" {
			c.spent.collector += since(assists, now)
		}
	}
}

func (c *collector) begins(e trace.Event, name string) {
	switch {
	case name == assistRange || name == sweepRange:
		c.assisting[e.Goroutine()] = e.Time()
	case strings.HasPrefix(name, stopRange):
		c.stopped = e.Time()
	}
}

func (c *collector) ends(e trace.Event, name string) {
	switch {
	case name == assistRange || name == sweepRange:
		if began, ok := c.assisting[e.Goroutine()]; ok {
			c.spent.collector += since(began, e.Time())
			delete(c.assisting, e.Goroutine())
		}
	case strings.HasPrefix(name, stopRange) && c.stopped != 0:
		stopped := since(c.stopped, e.Time()) * float64(c.procs)
		c.spent.collector += stopped
		c.spent.used += stopped
		c.stopped = 0
	case name == markRange:
		c.marked(e.Time())
	}
}

// marked is called at the end of a marking: the last change of the heap was to what it found alive.
func (c *collector) marked(now trace.Time) {
	if c.marks > 0 {
		grown := max(0, c.before-c.live)
		c.allocated += grown
		c.goals += c.goal
		c.peak = max(c.peak, c.before)
		if c.lives = append(c.lives, pacer.Live{Bytes: c.live, Allocated: grown}); len(c.lives) > 4096 {
			c.lives = pacer.Merge(c.lives)
		}
	} else {
		c.first, c.begin = now, c.spent
	}
	c.marks++
	c.live, c.last, c.end = c.heap, now, c.spent
}

// window returns what was seen between the ends of the first and the last marking.
func (c *collector) window() (*pacer.Window, error) {
	n := c.marks - 1
	if n < 1 || c.last <= c.first {
		return nil, ErrNothing
	}
	goal := c.goals / float64(n)
	w := &pacer.Window{
		From: "execution trace", Seconds: since(c.first, c.last), Collections: int64(n), Procs: c.procs,
		Allocated: estimate.Exact(c.allocated), Goal: estimate.Exact(goal), Peak: c.peak, Lives: pacer.Merge(c.lives),
		Outside:   estimate.CannotTell("a trace does not have what counts towards a limit besides the heap: give two samples of runtime/metrics"),
		Collector: estimate.Exact(c.end.collector - c.begin.collector),
		Used:      estimate.Exact(c.end.used - c.begin.used),
	}
	// The goal follows from stacks and globals, too, of which a trace has nothing: the GOGC that people set and
	// that is below is taken, and they stand for the rest.
	live := max(w.Live().Mid, 1)
	w.Setting = pacer.Setting{GOGC: pacer.UsualBelow(100 * (goal - live) / live)}
	w.Stacks = estimate.Exact(max(0, (goal-live)*100/float64(w.Setting.GOGC)-live))
	return w, nil
}

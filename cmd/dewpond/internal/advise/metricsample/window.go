package metricsample

import (
	"errors"
	"fmt"
	"math"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
)

// Errors of samples that make no window.
var (
	ErrOne     = errors.New("one sample says nothing of what happens in a second: give two, some collections apart, or an address")
	ErrOrder   = errors.New("a sample is older than the one before it, or the process was started anew between them: give them in order, of one process")
	ErrProgram = errors.New("the samples are of two programs, or of two runs of one: give two of the same process")
	ErrMoment  = errors.New("the samples do not say when they were taken: give files, which have a time, or a \"time\" within each")
	ErrNothing = errors.New("there was no collection between the samples: collect for longer")
)

// Given is what the user says of the process. It wins over what the samples say. What is nil is not said.
type Given struct{ GOGC, Limit *int64 }

// Window returns what a process did between the first and the last of its samples.
func Window(samples []*Sample, given Given) (*pacer.Window, error) {
	if len(samples) < 2 {
		return nil, ErrOne
	}
	first, last := samples[0], samples[len(samples)-1]
	for i, s := range samples {
		switch {
		case s.Of != first.Of:
			return nil, ErrProgram
		case !s.has(Allocs, Goal, Automatic):
			return nil, fmt.Errorf("sample %d lacks one of %s, %s and %s: give runtime/metrics with all that docs/advise.md lists", i+1, Allocs, Goal, Automatic)
		case i > 0 && (s.Values[Allocs] < samples[i-1].Values[Allocs] || s.Values[Automatic] < samples[i-1].Values[Automatic]):
			return nil, ErrOrder
		}
	}
	between := last.At.Sub(first.At)
	switch {
	case first.At.IsZero() || last.At.IsZero():
		return nil, ErrMoment
	case between <= 0:
		return nil, ErrOrder
	}
	grown := func(name string) float64 { return last.Values[name] - first.Values[name] }
	w := &pacer.Window{
		From: last.From, Seconds: between.Seconds(),
		Collections: int64(grown(Automatic)), Procs: int(last.Values[Procs]),
		Allocated: estimate.Exact(grown(Allocs)),
		Goal:      mean(samples, Goal), Stacks: mean(samples, Stacks), Globals: mean(samples, Globals),
		Outside: outside(samples),
	}
	if first.has(Forced) && last.has(Forced) {
		w.Forced = int64(grown(Forced))
	}
	if w.Collections == 0 {
		return nil, ErrNothing
	}
	w.Collector, w.Used = processor(first, last)
	w.Setting, w.Known = settingOf(last, given)
	if last.has(LiveHeap) {
		for i, s := range samples[:len(samples)-1] {
			w.Lives = append(w.Lives, pacer.Live{Bytes: s.Values[LiveHeap], Allocated: samples[i+1].Values[Allocs] - s.Values[Allocs]})
		}
		w.Lives = append(w.Lives, pacer.Live{Bytes: last.Values[LiveHeap]})
	} else {
		w.Lives = []pacer.Live{{Bytes: liveOf(w), Allocated: w.Allocated.Mid}}
	}
	return w, nil
}

// mean returns the mean of a metric in the samples, with an interval from the least to the greatest. What no
// sample has is 0.
func mean(samples []*Sample, name string) estimate.Estimate {
	e := estimate.Estimate{Low: math.Inf(1), High: math.Inf(-1)}
	for _, s := range samples {
		v := s.Values[name]
		e.Low, e.High = min(e.Low, v), max(e.High, v)
		e.Mid += v / float64(len(samples))
	}
	n := math.Sqrt(float64(len(samples))) // of a mean
	e.Low, e.High = e.Mid-(e.Mid-e.Low)/n, e.Mid+(e.High-e.Mid)/n
	return e
}

// outside returns the bytes that count towards a memory limit besides the heap's objects and its free memory.
func outside(samples []*Sample) estimate.Estimate {
	var all []*Sample
	for _, s := range samples {
		if !s.has(Total, Released, Free, Objects) {
			return estimate.CannotTell("the samples do not have what counts towards a limit besides the heap: give runtime/metrics with /memory/classes")
		}
		all = append(all, &Sample{Values: map[string]float64{Total: s.Values[Total] - s.Values[Released] - s.Values[Free] - s.Values[Objects]}})
	}
	return mean(all, Total)
}

// processor returns the processor seconds of the collector and of the whole process between two samples.
// The runtime notes them at the end of each collection.
func processor(first, last *Sample) (collector, used estimate.Estimate) {
	if !first.has(Collector, Idle) || !last.has(Collector, Idle) {
		why := estimate.CannotTell("%s does not have the collector's processor time in a window: give two samples of runtime/metrics", last.From)
		return why, why
	}
	grown := func(name string) float64 { return last.Values[name] - first.Values[name] }
	seconds := max(0, grown(Collector)-grown(Idle))
	collector = estimate.Exact(seconds)
	if n := grown(Automatic); n > 0 { // the last one may be noted in part, or one more than is counted
		collector = estimate.Estimate{Low: seconds * max(0, 1-1/n), Mid: seconds, High: seconds * (1 + 1/n)}
	}
	if !first.has(User, Scavenge) || !last.has(User, Scavenge) {
		return collector, estimate.CannotTell("%s does not have the processor time of the program: serve %s and %s", last.From, User, Scavenge)
	}
	return collector, estimate.Exact(seconds + max(0, grown(User)+grown(Scavenge)))
}

// settingOf returns GOGC and the limit, and whether both are known.
func settingOf(s *Sample, given Given) (set pacer.Setting, known bool) {
	known = true
	switch v, ok := s.Values[GOGC]; {
	case given.GOGC != nil:
		set.GOGC = *given.GOGC
	case !ok:
		known = false
	case v > 1e9: // math.MaxUint64
		set.GOGC = pacer.Off
	default:
		set.GOGC = int64(v)
	}
	switch v, ok := s.Values[Limit]; {
	case given.Limit != nil:
		set.Limit = *given.Limit
	case !ok:
		known = false
	case v < 1<<62: // math.MaxInt64 is none
		set.Limit = int64(v)
	}
	return set, known
}

// liveOf returns the live heap of samples that do not have it, and sets the GOGC that
// fits what is allocated between two collections where nobody has said it.
func liveOf(w *pacer.Window) float64 {
	scanned := w.Stacks.Mid + w.Globals.Mid
	of := func(gogc int64) float64 { return max(0, (w.Goal.Mid-scanned*float64(gogc)/100)/(1+float64(gogc)/100)) }
	between := w.Allocated.Mid / float64(w.Collections+w.Forced)
	switch {
	case w.Setting.GOGC > 0:
		return of(w.Setting.GOGC)
	case w.Setting.GOGC < 0:
		return max(0, w.Goal.Mid-between)
	}
	// Marking ends a little before the goal.
	live := max(w.Goal.Mid-between*1.04, between/20)
	w.Setting.GOGC = guessed(100 * (w.Goal.Mid - live) / (live + scanned))
	return of(w.Setting.GOGC)
}

// guessed returns the GOGC that a process probably has, of which MemStats say so much. When marking ends is not
// known, so a guess at a process with 100 is from 75 to 116, and of the usual values the one that near is taken.
func guessed(gogc float64) int64 {
	for _, usual := range []float64{50, 100, 200, 400} {
		if math.Abs(gogc-usual) <= 0.3*usual {
			return int64(usual)
		}
	}
	return pacer.Usual(gogc)
}

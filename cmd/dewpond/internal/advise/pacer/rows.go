package pacer

import (
	"fmt"
	"math"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// A Row is what one setting would make of a process that does the same work.
type Row struct {
	GOGC  int64 `json:"gogc"`        // percent; -1 is off
	Limit int64 `json:"limit_bytes"` // 0 is none
	Now   bool  `json:"now"`         // whether the process runs with it

	Collections estimate.Estimate `json:"collections_per_second"`
	Collector   estimate.Estimate `json:"collector_cpu"` // processor seconds a second
	Peak        estimate.Estimate `json:"peak_bytes"`    // of the heap's objects
}

// Settings returns those that a table shows: four values of GOGC with the process's own memory limit, and
// GOGC=off with a limit.
func (w *Window) Settings(limit int64) []Setting {
	all := []Setting{{50, w.Setting.Limit}, {100, w.Setting.Limit}, {200, w.Setting.Limit}, {400, w.Setting.Limit}, {Off, limit}}
	for _, s := range all {
		if s == w.Setting {
			return all
		}
	}
	return append([]Setting{w.Setting}, all...)
}

// Least is the fewest collections from which others are foretold: the window's ends alone may hide or add one.
const Least = 5

// The errors of the model, as a part of what it foretells: what it was off by in the sample programs, of which
// docs/advise.md has the table.
const (
	collectionsError = 0.12
	peakError        = 0.10
	costError        = 0.15 // of a collection's processor time, which other settings change a little
)

// Foretell returns the row of a setting.
func (w *Window) Foretell(s Setting) Row {
	row := Row{GOGC: s.GOGC, Limit: s.Limit, Now: s == w.Setting}
	var why estimate.Estimate
	switch {
	case w.Collections < Least:
		why = estimate.CannotTell("%d collections are too few, at least %d are needed: collect for longer", w.Collections, Least)
	case w.uncalibrated(w.Setting) <= 0:
		why = estimate.CannotTell("nothing was allocated between the collections: collect under load")
	case s.Limit > 0 && !w.Outside.Known() && s.GOGC < 0:
		why = estimate.CannotTell("%s", w.Outside.Why)
	}
	if !why.Known() {
		row.Collections, row.Collector, row.Peak = why, why, why
		return row
	}
	model, peak := collectionsError, peakError
	if s == w.Setting {
		model = 0
	}
	edge := 1 / float64(w.Collections)
	row.Collections = w.vary(func(w *Window) float64 { return w.collections(s) / w.Seconds }, math.Hypot(model, edge))
	row.Peak = w.vary(func(w *Window) float64 { return w.peak(s) }, peak)
	switch {
	case !w.Collector.Known():
		row.Collector = w.Collector
	default:
		per := w.Collector.Scaled(1 / float64(w.Collections+w.Forced))
		row.Collector = estimate.Estimate{Low: row.Collections.Low * per.Low, Mid: row.Collections.Mid * per.Mid, High: row.Collections.High * per.High}
		if s != w.Setting {
			row.Collector.Low *= 1 - costError
			row.Collector.High *= 1 + costError
		}
		if w.Procs > 0 {
			half := float64(w.Procs) / 2
			row.Collector = row.Collector.Mapped(func(v float64) float64 { return min(v, half) })
		}
	}
	return row
}

// vary returns a figure with an interval that has what its inputs may be off by, and the model's own error.
func (w *Window) vary(figure func(*Window) float64, model float64) estimate.Estimate {
	mid := figure(w)
	low, high := model*mid, model*mid
	try := func(change func(*Window)) {
		v := *w
		v.Lives = append([]Live(nil), w.Lives...)
		change(&v)
		switch d := figure(&v) - mid; {
		case d < 0:
			low = math.Hypot(low, d)
		default:
			high = math.Hypot(high, d)
		}
	}
	for _, by := range []float64{1 - liveError, 1 + liveError} {
		try(func(v *Window) {
			mean, _ := w.live()
			for i := range v.Lives {
				v.Lives[i].Bytes *= by
			}
			if v.Setting.GOGC >= 0 && v.Setting.Limit == 0 { // the goal follows from what is alive
				v.Goal.Mid += mean * (by - 1) * (1 + float64(v.Setting.GOGC)/100)
			}
		})
	}
	for _, goal := range []float64{w.Goal.Low, w.Goal.High} {
		try(func(v *Window) { v.Goal.Mid = goal })
	}
	if w.Outside.Known() {
		for _, outside := range []float64{w.Outside.Low, w.Outside.High} {
			try(func(v *Window) { v.Outside.Mid = outside })
		}
	}
	return estimate.Estimate{Low: max(0, mid-low), Mid: mid, High: mid + high}
}

// The constants of the runtime, of its mgcpacer.go.
const (
	leastHeap    = 4 << 20 // the least goal of GOGC=100, and what a goal is begun before at the latest
	headroom     = 0.03    // of what a limit leaves
	leastRoom    = 1 << 20 // but not less
	lastTrigger  = 61.0 / 64
	firstTrigger = 45.0 / 64 // of the way from live to the goal, where marking begins at the earliest
)

// distance returns how far the goal is above a live heap.
func (w *Window) distance(s Setting, live float64) float64 {
	distance := math.Inf(1)
	if s.GOGC >= 0 {
		more := float64(s.GOGC) / 100
		distance = max((live+w.Stacks.Mid+w.Globals.Mid)*more, leastHeap*more-live)
	}
	if s.Limit > 0 && w.Outside.Known() {
		left := float64(s.Limit) - w.Outside.Mid
		distance = min(distance, left-max(left*headroom, leastRoom)-live)
	}
	return max(distance, 0)
}

// between returns how many bytes are allocated between two collections.
func (w *Window) between(s Setting, live float64) float64 {
	mean, _ := w.live()
	seen := max(w.Goal.Mid-mean, 1)
	slack := seen - w.Allocated.Mid/float64(w.Collections+w.Forced)
	distance := w.distance(s, live)
	if early := slack / seen; early <= 1-lastTrigger {
		slack = distance * early // marking is quick, and begins as late as it may
	}
	slack = min(slack, distance*(1-firstTrigger))
	return max(distance-slack, distance/2, 64<<10)
}

// uncalibrated returns how many collections the model has for a setting in the window.
func (w *Window) uncalibrated(s Setting) float64 {
	n := 0.0
	for _, l := range w.Lives {
		n += l.Allocated / w.between(s, l.Bytes)
	}
	return n
}

// collections returns how many a setting would have had in the window.
func (w *Window) collections(s Setting) float64 {
	n := w.uncalibrated(s) * float64(w.Collections) / w.uncalibrated(w.Setting)
	if w.Procs > 0 && w.Collector.Known() && w.Collector.Mid > 0 {
		// The runtime lets the collector have half of the processors, where a limit presses.
		n = min(n, max(float64(w.Collections), float64(w.Procs)/2*w.Seconds/(w.Collector.Mid/float64(w.Collections+w.Forced))))
	}
	return n
}

// peak returns the most bytes of objects that the heap would have had.
func (w *Window) peak(s Setting) float64 {
	_, most := w.live()
	peak := most + w.between(s, most)
	if w.Peak > 0 {
		peak *= w.Peak / (most + w.between(w.Setting, most))
	}
	return peak
}

// Near says how near the live heap is to a limit: the part of the limit that it takes, with what
// counts towards the limit besides the heap's objects.
func (w *Window) Near(limit int64) estimate.Estimate {
	if !w.Outside.Known() {
		return w.Outside
	}
	live := w.Live()
	return estimate.Sum(live, w.Outside).Scaled(1 / float64(limit))
}

// String formats a Setting as it is set.
func (s Setting) String() string {
	gogc := fmt.Sprint(s.GOGC)
	if s.GOGC < 0 {
		gogc = "off"
	}
	if s.Limit == 0 {
		return "GOGC=" + gogc
	}
	return fmt.Sprintf("GOGC=%s GOMEMLIMIT=%d", gogc, s.Limit)
}

// usual are values of GOGC that people set.
var usual = []int64{25, 30, 50, 75, 100, 150, 200, 300, 400, 500, 800, 1000}

// Usual returns the GOGC that a process probably has, of which an estimate is known. Nobody sets 97.
func Usual(gogc float64) int64 {
	best := int64(math.Round(gogc))
	for _, u := range usual {
		if math.Abs(math.Log(gogc/float64(u))) < 0.1 {
			return u
		}
	}
	return max(best, 1)
}

// UsualBelow is Usual where stacks and globals, of which nothing is known, may have made the estimate too
// large, by up to a half.
func UsualBelow(gogc float64) int64 {
	for _, u := range slices.Backward(usual) {
		if low := float64(u) / 1.05; low <= gogc && gogc < low*1.5 {
			return u
		}
	}
	return Usual(gogc)
}

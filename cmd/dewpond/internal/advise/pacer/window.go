// Package pacer foretells the collections of a process from those that were seen. Go's pacer begins a
// collection when the heap has come near a goal, which follows from what was alive after the last one:
//
//	goal = live + (live + stacks + globals) x GOGC/100, at least 4 MiB x GOGC/100
//	goal = 97 % of what a memory limit leaves for the heap's objects, where that is less
//
// So a collection comes for each so many bytes allocated: goal - live, less a slack by which marking
// ends early.
package pacer

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
)

// A Window is what a process's collector did for a while.
type Window struct {
	From        string  // what it was read from, such as "gctrace"
	Seconds     float64 // how long it was
	Collections int64   // that came because of the goal
	Forced      int64   // that runtime.GC made, which are not among them

	Allocated estimate.Estimate // bytes
	Lives     []Live            // at least one
	Goal      estimate.Estimate // bytes, the mean
	Peak      float64           // the most bytes of objects that the heap had; 0 if it was not followed
	Stacks    estimate.Estimate // bytes that are scanned beside the heap
	Globals   estimate.Estimate

	Outside   estimate.Estimate // bytes that count towards a limit besides the heap's objects and its free memory
	Collector estimate.Estimate // processor seconds, idle-time work left out
	Used      estimate.Estimate // processor seconds of the whole process, the collector's among them, idle-time work left out
	Setting   Setting           // of the process
	Known     bool              // whether the Setting is known
	Limited   bool              // whether the goals do not follow what lives, as where a memory limit sets them
	Procs     int               // GOMAXPROCS; 0 if it is unknown
}

// A Live is a size that the live heap had, and how much was allocated while it had it.
type Live struct{ Bytes, Allocated float64 }

// A Setting is what the pacer goes by.
type Setting struct {
	GOGC  int64 // percent; Off without
	Limit int64 // GOMEMLIMIT in bytes; 0 without
}

// Off is the GOGC of a process that collects by its memory limit alone.
const Off = -1

// live returns the mean of the live heap, by bytes allocated, and what it was below for all but a
// twentieth of these: what is left out are markings that took long, by chance.
func (w *Window) live() (mean, most float64) {
	sum, weight := 0.0, 0.0
	for _, l := range w.Lives {
		sum += l.Bytes * l.Allocated
		weight += l.Allocated
	}
	if weight == 0 {
		return w.Lives[0].Bytes, w.Lives[0].Bytes
	}
	sorted := slices.SortedFunc(slices.Values(w.Lives), func(a, b Live) int { return cmp.Compare(a.Bytes, b.Bytes) })
	below := 0.0
	for _, l := range sorted {
		if below += l.Allocated; below >= 0.95*weight {
			return sum / weight, l.Bytes
		}
	}
	return sum / weight, sorted[len(sorted)-1].Bytes
}

// Live returns the mean of the live heap in bytes. Its interval says how far the mean may be off, and
// not how far the live heap went up and down.
func (w *Window) Live() estimate.Estimate {
	mean, _ := w.live()
	return estimate.Estimate{Low: max(0, mean*(1-liveError)), Mid: mean, High: mean * (1 + liveError)}
}

// liveError is the error of a mean of the live heap: it was seen at some moments only, and what was
// allocated while marking ran counts as alive.
const liveError = 0.05

// Merge returns a list of Lives in which each of the same whole MiB is one.
func Merge(lives []Live) []Live {
	sums := map[float64]float64{}
	for _, l := range lives {
		sums[math.Round(l.Bytes/(1<<20))*(1<<20)] += l.Allocated
	}
	var merged []Live
	for _, bytes := range slices.SortedFunc(maps.Keys(sums), cmp.Compare) {
		merged = append(merged, Live{bytes, sums[bytes]})
	}
	return merged
}

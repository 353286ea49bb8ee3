// Package account counts what a process does with memory and processors, so that another process
// can say what happened between two of its Snapshots.
package account

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A Snapshot ends one window and begins the next. It collects garbage twice: only a collection
// updates the runtime's counts of processor time, and the second says what such a collection
// costs, which is then taken off.
type Snapshot struct {
	End, Middle, Begin counts

	PeakRSS uint64        `json:"peak_rss_bytes"`
	CPU     time.Duration `json:"cpu_ns"`

	Requests                 uint64 // that were answered
	Store                    store.PoolStats
	ScorerRequests, NewConns uint64 // of the scorer
}

// counts are the runtime's, since the process began.
type counts struct {
	Cycles, Bytes, Allocs uint64
	GC, Busy              float64 // processor time, in seconds
	// Stops are how often the collector stopped the world, by how long: Upper has the bucket's
	// longest time, in seconds.
	Stops []uint64
	Upper []float64
}

// Take takes a Snapshot. The caller sets what the runtime does not know.
func Take() Snapshot {
	s := Snapshot{PeakRSS: kit.PeakRSS(), CPU: kit.CPUTime(), End: read()}
	runtime.GC()
	s.Middle = read()
	runtime.GC()
	s.Begin = read()
	return s
}

func read() counts {
	s := []metrics.Sample{
		{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/allocs:objects"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(s)
	c := counts{
		Cycles: s[0].Value.Uint64(), Bytes: s[1].Value.Uint64(), Allocs: s[2].Value.Uint64(),
		GC: s[3].Value.Float64(), Busy: s[4].Value.Float64() - s[5].Value.Float64(),
	}
	for i, n := range s[6].Value.Float64Histogram().Counts {
		c.Stops = append(c.Stops, n)
		// The last bucket has no end, and JSON has no infinity.
		upper := s[6].Value.Float64Histogram().Buckets
		c.Upper = append(c.Upper, upper[min(i+1, len(upper)-2)])
	}
	return c
}

// A Window is what a process did between two Snapshots.
type Window struct {
	Cycles, Bytes, Allocs uint64
	GCShare               float64 // of the processor time that the process used
	Stops                 uint64
	StopMean, StopLongest time.Duration // no shorter than they were: the runtime keeps a histogram
	PeakRSS               uint64
	CPU                   time.Duration

	Requests                 uint64
	Store                    store.PoolStats
	ScorerRequests, NewConns uint64
}

// Between returns what happened after a and before b.
func Between(a, b Snapshot) Window {
	w := Window{
		Cycles: b.End.Cycles - a.Begin.Cycles, Bytes: b.Middle.Bytes - a.Begin.Bytes, Allocs: b.Middle.Allocs - a.Begin.Allocs,
		PeakRSS: b.PeakRSS, CPU: b.CPU - a.CPU, Store: b.Store, Requests: b.Requests - a.Requests,
		ScorerRequests: b.ScorerRequests - a.ScorerRequests, NewConns: b.NewConns - a.NewConns,
	}
	w.Store.Acquired -= a.Store.Acquired
	w.Store.Waited -= a.Store.Waited
	w.Store.WaitTime -= a.Store.WaitTime
	w.Store.HeldTime -= a.Store.HeldTime
	w.Store.TimedOut -= a.Store.TimedOut
	w.Store.Made -= a.Store.Made
	forced := counts{GC: b.Begin.GC - b.Middle.GC, Busy: b.Begin.Busy - b.Middle.Busy}
	gc, busy := b.Middle.GC-a.Begin.GC-forced.GC, b.Middle.Busy-a.Begin.Busy-forced.Busy
	if w.Cycles > 0 && gc > 0 && busy > 0 {
		w.GCShare = min(1, gc/busy)
	}
	sum := 0.0
	for i, n := range b.End.Stops {
		if i < len(a.Begin.Stops) {
			n -= a.Begin.Stops[i]
		}
		if n == 0 {
			continue
		}
		w.Stops += n
		sum += float64(n) * b.End.Upper[i]
		w.StopLongest = time.Duration(b.End.Upper[i] * 1e9)
	}
	if w.Stops > 0 {
		w.StopMean = time.Duration(sum / float64(w.Stops) * 1e9)
	}
	return w
}

package kit

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// A Window is a measured period of the process.
type Window struct {
	start  counts
	opened time.Duration
}

// An Account is what the Go runtime did in a window.
type Account struct {
	Seconds    float64
	GCCycles   uint64 // automatic collections, without the forced ones around the window
	AllocBytes uint64
	Allocs     uint64
	GCCPUShare float64 // 0 to 1, of the CPU that the process used
}

// Open starts a window. It collects garbage first, so that every contender starts at the same
// point of the collector's cycle, and because only a collection updates the runtime's CPU and
// allocation counts.
func Open() Window {
	runtime.GC()
	w := Window{start: read()}
	w.opened = Now()
	return w
}

// Close ends the window and returns what happened in it. The clock stops before the collection
// that updates the counts.
func (w Window) Close() Account {
	a := Account{Seconds: (Now() - w.opened).Seconds()}
	cycles := read().cycles
	runtime.GC()
	end := read()
	runtime.GC()
	after := read()
	a.GCCycles = cycles - w.start.cycles
	a.AllocBytes = end.allocBytes - w.start.allocBytes
	a.Allocs = end.allocs - w.start.allocs
	// end includes one collection that Close forced; the next one measures the cost of such a
	// collection.
	forced := after.gcCPU - end.gcCPU
	busy := end.busyCPU - w.start.busyCPU - (after.busyCPU - end.busyCPU)
	if gc := end.gcCPU - w.start.gcCPU - forced; a.GCCycles > 0 && gc > 0 && busy > 0 {
		a.GCCPUShare = min(gc/busy, 1)
	}
	return a
}

type counts struct {
	cycles, allocBytes, allocs uint64
	gcCPU, busyCPU             float64 // seconds
}

func read() counts {
	s := []metrics.Sample{
		{Name: "/gc/cycles/automatic:gc-cycles"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/allocs:objects"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(s)
	return counts{
		cycles:     s[0].Value.Uint64(),
		allocBytes: s[1].Value.Uint64(),
		allocs:     s[2].Value.Uint64(),
		gcCPU:      s[3].Value.Float64(),
		busyCPU:    s[4].Value.Float64() - s[5].Value.Float64(),
	}
}

// Collections returns the number of garbage collections of the process so far.
func Collections() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Allocated returns exactly how many bytes the process has allocated so far: it stops the world to
// collect what each processor has not reported yet.
func Allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

package pressure

import (
	"runtime/debug"
	"runtime/metrics"
)

// goMemory is what the Go runtime reports.
type goMemory struct {
	used    int64  // bytes that no collection frees and that count against GOMEMLIMIT
	limit   int64  // GOMEMLIMIT in bytes; Unlimited if it is off
	limited uint64 // number of the last collection in which the runtime's CPU limiter was active; 0: none
}

// goMetrics reads goMemory, in one call, because most values must be of the same
// moment.
//
// Garbage does not count as used: between two collections it fills whatever GOGC and
// GOMEMLIMIT allow (with GOGC=off always the whole limit), and the next collection
// frees it. So of the heap only what the last collection found live counts; of the
// rest, stacks and the runtime's own memory, everything counts.
type goMetrics struct {
	samples [7]metrics.Sample
	limit   func() int64
}

// newGoMetrics returns a goMetrics with a function that returns GOMEMLIMIT; nil stands
// for the runtime's own.
func newGoMetrics(limit func() int64) *goMetrics {
	if limit == nil {
		limit = func() int64 { return debug.SetMemoryLimit(-1) }
	}
	return &goMetrics{limit: limit, samples: [7]metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/limiter/last-enabled:gc-cycle"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}}
}

func (m *goMetrics) read() goMemory {
	metrics.Read(m.samples[:])
	return goMemory{
		used:    m.used(),
		limit:   m.limit(),
		limited: m.value(2, 0),
	}
}

func (m *goMetrics) used() int64 {
	heap := m.value(1, 0) + m.value(3, 0) + m.value(4, 0) + m.value(5, 0)
	return int64(m.value(0, 0)) - int64(heap) + int64(m.value(6, 0))
}

// value returns a sample, or otherwise if this runtime has no such metric.
func (m *goMetrics) value(i int, otherwise uint64) uint64 {
	if v := m.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return otherwise
}

package pressure

import (
	"runtime/debug"
	"runtime/metrics"
)

// goMemory is what the Go runtime says.
type goMemory struct {
	used    int64  // bytes that no collection frees and that count against GOMEMLIMIT
	limit   int64  // GOMEMLIMIT in bytes; unlimited where it is off
	limited uint64 // number of the collection in which its CPU limiter last stepped in; 0: never
}

// goMetrics reads goMemory. One call for all, because most must be of the same
// moment.
//
// Garbage does not count as used: between two collections it fills whatever
// GOGC and GOMEMLIMIT allow (with GOGC=off all of the limit, always), and is gone
// with the next. So of the heap only what the last collection found alive counts,
// and of the rest, stacks and the runtime's own, all.
type goMetrics struct {
	samples [7]metrics.Sample
	limit   func() int64
}

// newGoMetrics takes what returns GOMEMLIMIT; nil: it is what the runtime says.
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

// value returns a sample, or otherwise where this runtime has no such metric.
func (m *goMetrics) value(i int, otherwise uint64) uint64 {
	if v := m.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return otherwise
}

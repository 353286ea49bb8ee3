package measure

import "runtime"

// A Heap counts what the process allocates, exactly: it stops the world to gather
// what each processor has not reported yet. Reading allocates nothing itself.
type Heap struct{ stats runtime.MemStats }

// Read returns the bytes and the objects allocated so far.
func (h *Heap) Read() (bytes, objects uint64) {
	runtime.ReadMemStats(&h.stats)
	return h.stats.TotalAlloc, h.stats.Mallocs
}

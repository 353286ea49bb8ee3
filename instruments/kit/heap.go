package kit

import "runtime"

// A Heap counts exactly what the process allocates: it stops the world to collect what each
// processor has not reported yet. Reading it allocates nothing.
type Heap struct{ stats runtime.MemStats }

// Read returns the bytes and the objects allocated so far.
func (h *Heap) Read() (bytes, objects uint64) {
	runtime.ReadMemStats(&h.stats)
	return h.stats.TotalAlloc, h.stats.Mallocs
}

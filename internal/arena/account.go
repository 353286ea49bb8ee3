package arena

import "github.com/dewpond/dewpond/internal/memory"

// The memory that an arena has mapped is counted twice besides its own Usage: in
// memory.OffHeap, for the whole process, and in Config.Gauge. Both change with mu held,
// so that at any time they agree with the arenas; Config.Changed is called once mu is
// released. On the heap nothing is mapped, and the runtime counts all of it.

func (a *Arena) mapped(bytes int64) {
	memory.OffHeap.Map(bytes)
	if a.gauge != nil {
		a.gauge.Map(bytes)
	}
}

// committed counts bytes of pages that may be resident from now on, or, if negative,
// that have been given back. mu is held.
func (a *Arena) committed(bytes int64) {
	if bytes == 0 {
		return
	}
	a.counted.committed += bytes
	if a.heap != nil {
		return
	}
	memory.OffHeap.Commit(bytes)
	if a.gauge != nil {
		a.gauge.Commit(bytes)
	}
}

// unmapped undoes what mapped counted for the range. mu is held.
func (a *Arena) unmapped(bytes int64) {
	memory.OffHeap.Unmap(bytes)
	if a.gauge != nil {
		a.gauge.Unmap(bytes)
	}
}

// report calls Config.Changed: the gauge may have changed. mu is not held.
func (a *Arena) report() {
	if a.changed != nil {
		a.changed()
	}
}

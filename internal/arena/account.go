package arena

import "github.com/dewpond/dewpond/internal/memory"

// What an arena has mapped is counted twice besides its own Usage: in memory.OffHeap,
// which is the process's, and in Config.Gauge. Both are changed with mu held, so that
// they say at any time what the arenas have; Config.Changed is called once it is let
// go. On the heap nothing is mapped, and the runtime counts it all.

func (a *Arena) mapped(bytes int64) {
	memory.OffHeap.Map(bytes)
	if a.gauge != nil {
		a.gauge.Map(bytes)
	}
}

// committed counts pages that may be resident from now on, or have been given back.
// mu is held.
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

// unmapped counts the range that mapped has counted as gone. mu is held.
func (a *Arena) unmapped(bytes int64) {
	memory.OffHeap.Unmap(bytes)
	if a.gauge != nil {
		a.gauge.Unmap(bytes)
	}
}

// report says that the gauge may have changed. mu is not held.
func (a *Arena) report() {
	if a.changed != nil {
		a.changed()
	}
}

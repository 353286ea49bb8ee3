package memory

import "sync/atomic"

// OffHeap counts what all Ledgers of the process have mapped outside the Go heap:
// those of pools that were dropped or closed too, for as long as it stays mapped.
var OffHeap Gauge

// A Gauge counts memory that the Go runtime does not know of. Ledgers add to it
// whatever is new and take from it what they give up, each count on its own, so that
// none is ever less than what is there. The zero Gauge is ready; it must not be
// copied. All its methods may be called by any number of goroutines at once.
type Gauge struct {
	ranges, reserved, committed atomic.Int64
}

// Map counts one more range, of so many bytes of address space.
func (g *Gauge) Map(reserved int64) {
	g.reserved.Add(reserved)
	g.ranges.Add(1)
}

// Unmap counts one range less. What was committed of it has been taken off before.
func (g *Gauge) Unmap(reserved int64) {
	g.reserved.Add(-reserved)
	g.ranges.Add(-1)
}

// Commit counts bytes that may be resident from now on, or with a negative number
// such as no longer are.
func (g *Gauge) Commit(bytes int64) { g.committed.Add(bytes) }

// Ranges returns how many ranges are mapped.
func (g *Gauge) Ranges() int64 { return g.ranges.Load() }

// Reserved returns how many bytes of address space they have.
func (g *Gauge) Reserved() int64 { return g.reserved.Load() }

// Committed returns how many bytes of that may be resident.
func (g *Gauge) Committed() int64 { return g.committed.Load() }

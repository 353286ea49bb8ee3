package memory

import "sync/atomic"

// OffHeap counts what all Ledgers of the process have mapped outside the Go heap.
// Memory of pools that were dropped or closed counts too, for as long as it stays
// mapped.
var OffHeap Gauge

// A Gauge counts memory that the Go runtime does not know of. Ledgers add memory that
// is new and subtract memory that they have given up. Each count changes by itself, so
// that none is ever below the true value. The zero Gauge is ready for use; it must not
// be copied. All its methods are safe for concurrent use.
type Gauge struct {
	ranges, reserved, committed atomic.Int64
}

// Map counts one more range, with its bytes of address space.
func (g *Gauge) Map(reserved int64) {
	g.reserved.Add(reserved)
	g.ranges.Add(1)
}

// Unmap counts one range less. Its committed bytes have been subtracted before.
func (g *Gauge) Unmap(reserved int64) {
	g.reserved.Add(-reserved)
	g.ranges.Add(-1)
}

// Commit adds bytes that may be resident from now on; a negative number subtracts bytes
// that no longer are.
func (g *Gauge) Commit(bytes int64) { g.committed.Add(bytes) }

// Ranges returns how many ranges are mapped.
func (g *Gauge) Ranges() int64 { return g.ranges.Load() }

// Reserved returns how many bytes of address space the ranges have.
func (g *Gauge) Reserved() int64 { return g.reserved.Load() }

// Committed returns how many bytes of the ranges may be resident.
func (g *Gauge) Committed() int64 { return g.committed.Load() }

package offheap

import "github.com/dewpond/dewpond/internal/memory"

// Totals are the sums over all off-heap pools of the process, in bytes. A pool that was
// dropped without Close counts with the memory that cannot be unmapped because blocks
// were out, which no Stats include. Blocks on the Go heap, because of the system or the
// race detector, do not count: the runtime counts them.
type Totals struct {
	Reserved  int64 // address space
	Committed int64 // the part of Reserved that may be resident
	Coupled   int64 // the part of Committed that belongs to pools with Options.Coupled

	// LimitLowered is by how much the memory limit is lowered for Coupled: the same
	// value to within 1 MiB, but less if LimitAtFloor, and 0 if there is no limit.
	LimitLowered int64
	LimitAtFloor bool // Coupled is more than the limit can be lowered by
	LimitLost    bool // other code has set the limit: it is left alone
}

// Total returns the current totals. It takes well under a microsecond.
func Total() Totals { return totalsWith(&coupling) }

func totalsWith(c *coupler) Totals {
	l := c.limit.Lowered()
	return Totals{
		Reserved:     memory.OffHeap.Reserved(),
		Committed:    memory.OffHeap.Committed(),
		Coupled:      c.gauge.Committed(),
		LimitLowered: l.Bytes,
		LimitAtFloor: l.AtFloor,
		LimitLost:    l.Lost,
	}
}

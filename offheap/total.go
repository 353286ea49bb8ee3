package offheap

import "github.com/dewpond/dewpond/internal/memory"

// Totals are what all off-heap pools of the process have together, in bytes. Pools
// that were dropped without Close are in it with what cannot be unmapped, for blocks
// of theirs were out: nobody else counts that. Blocks on the Go heap, where this
// system or the race detector wants it so, are not: the runtime counts them.
type Totals struct {
	Reserved  int64 // address space
	Committed int64 // the part of it that may be resident
	Coupled   int64 // the part of that which is of pools with Options.Coupled

	// LimitLowered is by how much the memory limit is lower for Coupled: the same to
	// within 1 MiB, but less where LimitAtFloor, and 0 where there is no limit.
	LimitLowered int64
	LimitAtFloor bool // Coupled was more than the limit can be lowered by
	LimitLost    bool // somebody else has set the limit: it is left alone
}

// Total returns the totals of now. It takes well under a microsecond.
func Total() Totals { return total(&coupling) }

func total(c *coupler) Totals {
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

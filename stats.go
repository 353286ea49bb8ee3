package dewpond

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/percpu"
)

// Stats are counts of what a pool has done, and what it holds. They are exact if the
// pool is not used during the call that returns them. Otherwise each count of events is
// true for some moment of the call. IdleBytes, InUseBytes and Idle are differences of
// such counts, and may be off by the blocks that came and went during the call.
type Stats struct {
	Name   string
	Engine string // "pinned", or "portable" and why

	Gets   uint64 // Hits + Misses + Oversize
	Hits   uint64 // Gets that found an idle block
	Misses uint64 // Gets that allocated a block
	Puts   uint64 // Puts of anything but nil, including those that were dropped

	Refused      uint64 // TryGet and GetContext that returned no block on an open pool
	OverLimit    uint64 // Misses that Get allocated past AllocLimit
	OverBudget   uint64 // Misses and Oversize that Get allocated past the Budget
	HeapFallback uint64 // Misses for which there was no memory off the heap: Get allocated on the heap, outside every bound
	Oversize     uint64 // Gets above the largest class: allocated, not pooled, outside every bound but the Budget

	DroppedFull     uint64 // Puts of blocks that the bounds had no room for
	DroppedOversize uint64 // Puts of slices above the largest class
	DroppedForeign  uint64 // Puts of slices that are not blocks of the pool: see BytePool.Put
	DroppedDouble   uint64 // Puts of blocks or objects that were not out; visible only off the heap and in checked mode
	DroppedFallback uint64 // Puts of blocks that HeapFallback counts
	DroppedClosed   uint64 // Puts after Close

	Violations uint64 // misuses that checked mode has found

	Trimmed uint64 // blocks let go by decay, Trim and Close

	IdleBytes       int64 // in blocks in the pool
	InUseBytes      int64 // in blocks handed out and not put back; right only if callers put back every block, and nothing else
	OverBudgetBytes int64 // by which all pools of the Budget together exceed it now
	ReleasedBytes   int64 // in all blocks that Trimmed counts

	OverheadBytes int64 // of magazines, shards and tables, which the pool has in addition to its blocks

	ReservedBytes    int64 // off the heap: address space; 0 once it is unmapped
	CommittedBytes   int64 // off the heap: in pages that may be resident
	DecommittedBytes int64 // off the heap: given back to the system

	Classes []ClassStats // by ascending size
}

// ClassStats are the part of [Stats] that belongs to one class. Size is in bytes, Idle in
// blocks.
type ClassStats struct {
	Size                     int
	Gets, Hits, Misses, Puts uint64
	Idle                     int
}

// HitRate returns Hits / Gets, or 0 if there was no Get.
func (s Stats) HitRate() float64 {
	if s.Gets == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Gets)
}

// Sub returns what has been counted since previous, which must be an earlier Stats of the
// same pool. What the pool holds (IdleBytes, InUseBytes, Idle) is not subtracted.
func (s Stats) Sub(previous Stats) Stats {
	s.Gets -= previous.Gets
	s.Hits -= previous.Hits
	s.Misses -= previous.Misses
	s.Puts -= previous.Puts
	s.Refused -= previous.Refused
	s.OverLimit -= previous.OverLimit
	s.OverBudget -= previous.OverBudget
	s.Oversize -= previous.Oversize
	s.DroppedFull -= previous.DroppedFull
	s.DroppedOversize -= previous.DroppedOversize
	s.DroppedForeign -= previous.DroppedForeign
	s.DroppedDouble -= previous.DroppedDouble
	s.DroppedFallback -= previous.DroppedFallback
	s.HeapFallback -= previous.HeapFallback
	s.DecommittedBytes -= previous.DecommittedBytes
	s.DroppedClosed -= previous.DroppedClosed
	s.Violations -= previous.Violations
	s.Trimmed -= previous.Trimmed
	s.ReleasedBytes -= previous.ReleasedBytes
	classes := make([]ClassStats, len(s.Classes))
	copy(classes, s.Classes)
	for i := range min(len(classes), len(previous.Classes)) {
		classes[i].Gets -= previous.Classes[i].Gets
		classes[i].Hits -= previous.Classes[i].Hits
		classes[i].Misses -= previous.Classes[i].Misses
		classes[i].Puts -= previous.Classes[i].Puts
	}
	s.Classes = classes
	return s
}

// counts has the counts of the slow paths. The engine counts the fast path.
type counts struct {
	refused, oversize               atomic.Uint64
	overLimit, overBudget           atomic.Uint64
	droppedOversize, droppedForeign atomic.Uint64
	droppedDouble, droppedFallback  atomic.Uint64
	class                           []classCounts
}

type classCounts struct {
	misses    atomic.Uint64
	fallbacks atomic.Uint64 // misses for which the Source had no block
	puts      atomic.Uint64 // of blocks that went into quarantine; the engine and the gate count the others
	trimmed   atomic.Uint64 // blocks that were let go in quarantine
}

func newCounts(classes int) counts { return counts{class: make([]classCounts, classes)} }

// A count in Stats that must never decrease is a sum of counters that only grow. Such a
// sum is never smaller than before, even if the counters change while they are read.

// Stats returns the pool's statistics. It takes microseconds and does not slow down other
// calls.
func (p *BytePool) Stats() Stats {
	p = p.actual()
	s := Stats{
		Name:            p.name,
		Engine:          percpu.Engine(),
		Refused:         p.count.refused.Load(),
		OverLimit:       p.count.overLimit.Load(),
		OverBudget:      p.count.overBudget.Load(),
		Oversize:        p.count.oversize.Load(),
		DroppedOversize: p.count.droppedOversize.Load(),
		DroppedForeign:  p.count.droppedForeign.Load(),
		DroppedDouble:   p.count.droppedDouble.Load(),
		DroppedFallback: p.count.droppedFallback.Load(),
		Classes:         make([]ClassStats, p.classes.Len()),
	}
	held := p.checks.inQuarantine(p.classes.Len())
	for i, c := range p.engine.Counts() {
		own := &p.count.class[i]
		passed, trimmed := p.gate.Counts(uint8(i)), own.trimmed.Load()
		cs := ClassStats{
			Size:   p.classes.Size(uint8(i)),
			Hits:   c.Hits + passed.Handed,
			Misses: own.misses.Load(),
			Puts:   c.Puts + passed.Puts + own.puts.Load(),
			Idle:   c.Idle,
		}
		if held != nil {
			cs.Idle += held[i]
		}
		cs.Gets = cs.Hits + cs.Misses
		s.Classes[i] = cs

		s.Gets += cs.Gets
		s.Hits += cs.Hits
		s.Misses += cs.Misses
		s.Puts += cs.Puts
		s.DroppedFull += passed.Full
		s.DroppedClosed += passed.Closed
		s.Trimmed += c.Released + trimmed
		s.IdleBytes += int64(cs.Idle) * int64(cs.Size)
		s.ReleasedBytes += int64(c.Released+trimmed) * int64(cs.Size)
		fallbacks := own.fallbacks.Load()
		s.HeapFallback += fallbacks
		if out := int64(cs.Gets - fallbacks - cs.Puts); out > 0 {
			s.InUseBytes += out * int64(cs.Size)
		}
	}
	s.OverheadBytes = p.overhead()
	s.Gets += s.Oversize
	s.Puts += s.DroppedOversize + s.DroppedForeign + s.DroppedDouble + s.DroppedFallback
	if p.checks != nil {
		s.Violations = p.checks.count.Load()
	}
	if budget := p.gate.Budget(); budget != nil {
		s.OverBudgetBytes = budget.Over()
	}
	if p.ledger != nil {
		u := p.ledger.Usage()
		s.ReservedBytes, s.CommittedBytes, s.DecommittedBytes = u.Reserved, u.Committed, u.Decommitted
	}
	return s
}

// objectCounts has the counts of the slow paths of a Pool.
type objectCounts struct {
	misses, refused, overLimit                  atomic.Uint64
	puts                                        atomic.Uint64 // those that the engine does not count, each once
	droppedFull, droppedOversize, droppedClosed atomic.Uint64
	droppedDouble, trimmed                      atomic.Uint64 // in checked mode; trimmed: in quarantine
}

// Stats returns the pool's statistics. Bytes are the number of objects times the size of
// T, without what the objects point to. DroppedOversize counts the objects that Keep
// refused. Stats takes microseconds and does not slow down other calls.
func (p *Pool[T]) Stats() Stats {
	p = p.actual()
	held := p.checks.inQuarantine(1) // before the engine's counts: see check.Watch.Held
	c := p.engine.Counts()[0]
	trimmed := p.count.trimmed.Load()
	c.Released += trimmed
	s := Stats{
		Name:            p.name,
		Engine:          percpu.Engine(),
		Hits:            c.Hits,
		Misses:          p.count.misses.Load(),
		Refused:         p.count.refused.Load(),
		OverLimit:       p.count.overLimit.Load(),
		DroppedFull:     p.count.droppedFull.Load(),
		DroppedOversize: p.count.droppedOversize.Load(),
		DroppedClosed:   p.count.droppedClosed.Load(),
		DroppedDouble:   p.count.droppedDouble.Load(),
		Trimmed:         c.Released,
		ReleasedBytes:   int64(c.Released) * p.size,
	}
	if p.checks != nil {
		c.Idle += held[0]
		s.Violations = p.checks.count.Load()
	}
	s.OverheadBytes = p.overhead()
	s.IdleBytes = int64(c.Idle) * p.size
	s.Gets = s.Hits + s.Misses
	s.Puts = c.Puts + p.count.puts.Load()
	if out := int64(s.Gets - s.Puts); out > 0 {
		s.InUseBytes = out * p.size
	}
	s.Puts += s.DroppedDouble
	s.Classes = []ClassStats{{Size: int(p.size), Gets: s.Gets, Hits: s.Hits, Misses: s.Misses, Puts: s.Puts, Idle: c.Idle}}
	return s
}

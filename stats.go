package dewpond

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/percpu"
)

// Stats are counts of what a pool has done, and what it holds. They are exact if the
// pool is not used during the call that returns them. Otherwise each count of events is
// true for some moment of the call. IdleBytes, InUseBytes and Idle are differences of
// such counts, and may be off by the blocks that came and went during the call.
type Stats struct {
	Name   string
	Engine string // "pinned", or "portable" and why

	Gets   uint64 // Hits + Misses + Oversize; without those of 0 bytes
	Hits   uint64 // Gets that found an idle block
	Misses uint64 // Gets that allocated a block
	Puts   uint64 // Puts of anything but cap 0, including those that were dropped

	Refused      uint64 // TryGet, GetContext and GetBatch that returned no block on an open pool
	Waits        uint64 // GetContext, GetBatch and LeaseContext that slept
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

	Adopted    uint64 // Puts by Adopt and Hint.Put of slices that the pool did not know, and has made blocks of
	Violations uint64 // misuses that checked mode has found

	Trimmed uint64 // blocks let go by decay, Trim and Close

	IdleBytes     int64 // in blocks in the pool
	InUseBytes    int64 // in blocks handed out and not put back; right only if callers put back every block, and nothing else
	ReleasedBytes int64 // in all blocks that Trimmed counts

	WaitDuration time.Duration // that the calls counted in Waits slept, all together

	// OldestIdle is about how long the oldest idle block has been idle, as decay sees it: it
	// may be too little by a quarter of IdleTimeout, and leaves out what a processor has in its
	// own magazines. It is never more than IdleTimeout, which stands for that and all that is
	// older, and 0 with a negative IdleTimeout.
	OldestIdle time.Duration

	BudgetName      string // as NewNamedBudget was told; BudgetName and the fields below are the same in all pools of a Budget
	BudgetLimit     int64  // 0: the pool has no Budget
	BudgetUsed      int64  // bytes charged by all pools of the Budget
	OverBudgetBytes int64  // by which BudgetUsed exceeds BudgetLimit: what Get and its like took past it and has not been put back

	OverheadBytes int64 // of magazines, shards and tables, which the pool has in addition to its blocks

	ReservedBytes    int64 // off the heap: address space; 0 once it is unmapped
	CommittedBytes   int64 // off the heap: in pages that may be resident
	DecommittedBytes int64 // off the heap: given back to the system

	Classes []ClassStats // by ascending size
}

// ClassStats are the part of [Stats] that belongs to one class. Size is in bytes, Idle and
// InUse in blocks. InUse is without what Hints have out.
type ClassStats struct {
	Size                     int
	Gets, Hits, Misses, Puts uint64
	Idle, InUse              int
}

// HitRate returns Hits / Gets, or 0 if there was no Get.
func (s Stats) HitRate() float64 {
	if s.Gets == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Gets)
}

// Sub returns what has been counted since previous, which must be an earlier Stats of the
// same pool. What is true of the pool or its Budget now (IdleBytes, InUseBytes, Idle, InUse,
// OldestIdle, BudgetUsed, OverBudgetBytes, OverheadBytes, ReservedBytes, CommittedBytes) is not
// subtracted.
func (s Stats) Sub(previous Stats) Stats {
	s.Gets -= previous.Gets
	s.Hits -= previous.Hits
	s.Misses -= previous.Misses
	s.Puts -= previous.Puts
	s.Refused -= previous.Refused
	s.Waits -= previous.Waits
	s.WaitDuration -= previous.WaitDuration
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
	s.Adopted -= previous.Adopted
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
	adopted   atomic.Uint64 // Puts of blocks that the pool did not know
	unissued  atomic.Uint64 // other Puts that end no Get of this class: those of Hints, and of what was not adopted
	hinted    atomic.Uint64 // Gets of Hints
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
		adopted := own.adopted.Load()
		s.Adopted += adopted
		gets, puts := cs.Gets-own.hinted.Load()-fallbacks, cs.Puts-adopted-own.unissued.Load()
		cs.InUse = int(max(0, int64(gets-puts)))
		s.InUseBytes += int64(cs.InUse) * int64(cs.Size)
		s.Classes[i] = cs
	}
	s.InUseBytes += p.hints.inUse()
	s.OldestIdle = p.decay.Oldest()
	s.OverheadBytes = p.overhead()
	s.Gets += s.Oversize
	s.Puts += s.DroppedOversize + s.DroppedForeign + s.DroppedDouble + s.DroppedFallback
	if p.checks != nil {
		s.Violations = p.checks.count.Load()
	}
	s.Waits, s.WaitDuration = p.gate.Waits()
	if budget := p.gate.Budget(); budget != nil {
		s.BudgetName, s.BudgetLimit, s.BudgetUsed = budget.Name(), budget.Limit(), budget.Used()
		s.OverBudgetBytes = max(0, s.BudgetUsed-s.BudgetLimit)
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
	s.Waits, s.WaitDuration = p.out.Waits()
	s.OldestIdle = p.decay.Oldest()
	s.OverheadBytes = p.overhead()
	s.IdleBytes = int64(c.Idle) * p.size
	s.Gets = s.Hits + s.Misses
	s.Puts = c.Puts + p.count.puts.Load()
	out := max(0, int64(s.Gets-s.Puts))
	s.InUseBytes = out * p.size
	s.Puts += s.DroppedDouble
	s.Classes = []ClassStats{{Size: int(p.size), Gets: s.Gets, Hits: s.Hits, Misses: s.Misses, Puts: s.Puts, Idle: c.Idle, InUse: int(out)}}
	return s
}

// String returns what a person asks first, in one line, and in a second one what deserves a
// look, if there is any: what was refused, dropped, allocated past a limit, waited for or
// misused. The counts of the classes are left out.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d Gets, %.1f%% hits, %d Misses, %d Puts; %s idle, %s in use",
		s.Name, s.Gets, 100*s.HitRate(), s.Misses, s.Puts, bytesText(s.IdleBytes), bytesText(s.InUseBytes))
	sep := "\n  "
	note := func(n uint64, format string, args ...any) {
		if n != 0 {
			b.WriteString(sep)
			fmt.Fprintf(&b, format, append([]any{n}, args...)...)
			sep = ", "
		}
	}
	note(s.Violations, "%d Violations")
	note(s.Refused, "%d Refused")
	note(s.Waits, "%d Waits of %s together", s.WaitDuration.Round(time.Microsecond))
	note(s.OverLimit, "%d OverLimit")
	note(s.OverBudget, "%d OverBudget")
	note(s.HeapFallback, "%d HeapFallback")
	note(s.Oversize, "%d Oversize")
	note(s.DroppedFull+s.DroppedOversize+s.DroppedForeign+s.DroppedDouble+s.DroppedFallback+s.DroppedClosed, "%d Dropped (%s)", s.dropped())
	return b.String()
}

// dropped returns the reasons for which Puts were dropped, with their numbers.
func (s Stats) dropped() string {
	var reasons []string
	for _, of := range []struct {
		n      uint64
		reason string
	}{
		{s.DroppedFull, "Full"},
		{s.DroppedOversize, "Oversize"},
		{s.DroppedForeign, "Foreign"},
		{s.DroppedDouble, "Double"},
		{s.DroppedFallback, "Fallback"},
		{s.DroppedClosed, "Closed"},
	} {
		if of.n != 0 {
			reasons = append(reasons, fmt.Sprintf("%s %d", of.reason, of.n))
		}
	}
	return strings.Join(reasons, ", ")
}

// bytesText returns a number of bytes as a person writes it: exact below 10 KiB, and
// otherwise with three digits or so.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 10<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/1024, 0
	for v >= 999.5 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	if v < 99.95 {
		return fmt.Sprintf("%.1f %ciB", v, units[unit])
	}
	return fmt.Sprintf("%.0f %ciB", v, units[unit])
}

// A StatsSource is a [BytePool], or a [Pool] or [SlicePool] of any type. It is what an exporter of
// statistics needs: see [Pools].
type StatsSource interface {
	Name() string
	Stats() Stats
}

// Pools yields every pool that is neither closed nor collected, in the order of their
// names.
func Pools() iter.Seq[StatsSource] {
	return func(yield func(StatsSource) bool) {
		all := livePools.Live()
		slices.SortFunc(all, func(a, b livePool) int { return strings.Compare(a.Name(), b.Name()) })
		for _, p := range all {
			if !yield(p) {
				return
			}
		}
	}
}

// Name returns the pool's name in statistics: the name in its options, followed by a
// number if an older live pool has that name.
func (p *BytePool) Name() string { return p.actual().name }

// Name returns the pool's name in statistics: the name in its options, followed by a
// number if an older live pool has that name.
func (p *Pool[T]) Name() string { return p.actual().name }

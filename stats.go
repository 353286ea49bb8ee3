package dewpond

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/perclass"
	"github.com/dewpond/dewpond/misuse"
)

// Stats are counts of what a pool has done, and what it holds. They are exact if the
// pool is not used during the call that returns them. Otherwise each count of events is
// true for some moment of the call. IdleBytes, InUseBytes and Idle are differences of
// such counts, and may be off by the blocks that came and went during the call.
type Stats struct {
	Name   string
	Engine string // "pinned", with the tag dewpond_pinned if that asked for it, or "portable" and why

	// Bubbles is "apart" if each bubble of testing/synctest has a part of the pool for itself, and else
	// "shared" and why: see the package comment of dewtest.
	Bubbles string

	Gets   uint64 // Hits + Misses + Oversize; without those of 0 bytes
	Hits   uint64 // Gets that found an idle block, or recovered one
	Misses uint64 // Gets that allocated a block
	Puts   uint64 // Puts of anything but cap 0, including those that were dropped

	Refused uint64 // TryGet, GetContext and GetBatch that returned no block on an open pool
	Waits   uint64 // GetContext, GetBatch and LeaseContext that slept

	OverAllocRate uint64 // Misses that Get allocated past AllocRate
	OverMaxOut    uint64 // Gets of a Pool past MaxOut, hits among them
	OverBudget    uint64 // Misses and Oversize that Get allocated past the Budget
	Oversize      uint64 // Gets above the largest class: allocated, not pooled, outside every bound but the Budget

	// Recovered counts the Hits that took a block from the second tier: one that the bounds had no room
	// for, and that the garbage collector had not yet freed.
	Recovered uint64

	Dropped        DropStats
	DoubleReleases uint64 // Releases by owners of a Lease that had released it
	Adopted        uint64 // Puts by Adopt and BodyPool.Put of slices that the pool did not know, and has made blocks of
	Violations     uint64 // misuses that checked mode and guarded blocks have found

	// Sampled has ages of blocks or objects and the sizes that were asked for, of those that checked mode
	// watches. It is nil without Check.
	Sampled *misuse.Sampled

	Guard GuardStats

	Trimmed     uint64 // blocks released by decay, Trim and Close, or moved to the second tier to make room for another size
	Collections uint64 // GC cycles that decay of this pool has requested, unless DEWPOND_COLLECT is off: see BytePoolOptions.IdleTimeout

	IdleBytes     int64 // in blocks in the pool; with Check also in those that are being put back, which MaxIdleBytes does not bound
	InUseBytes    int64 // in blocks handed out and not put back; right only if callers put back every block, and nothing else
	ReleasedBytes int64 // in all blocks that Trimmed counts
	OverheadBytes int64 // of magazines, shards and tables, which the pool has in addition to its blocks

	WaitDuration time.Duration // that the calls counted in Waits slept, all together

	// OldestIdle is the approximate age of the oldest idle block, as decay sees it: it
	// may be too little by a quarter of IdleTimeout, and leaves out what a processor has in its
	// own magazines. It is never more than IdleTimeout, which stands for that and all that is
	// older, and 0 with NoDecay.
	OldestIdle time.Duration

	Budget  BudgetStats
	OffHeap OffHeapStats

	// Shards has what each P, a processor of Go's scheduler, has idle for itself, by its number. What is
	// idle beyond that is where every P finds it, as are all blocks above 128 KiB. Ps that have not used
	// the pool may be missing; with a tag or a build that has the portable engine, a goroutine may also
	// use another shard than that of its P.
	Shards []ShardStats

	Classes []ClassStats // by ascending size
}

// DropStats counts Puts of what the pool did not keep, by the reason.
type DropStats struct {
	Full     uint64 // blocks that the bounds had no room for; a later Get may recover them
	Oversize uint64 // slices above the largest class
	ByKeep   uint64 // objects that PoolOptions.Keep refused
	Foreign  uint64 // slices that are not blocks of the pool: see BytePool.Put
	Double   uint64 // blocks or objects that were not in use, visible only off the heap and in checked mode
	Fallback uint64 // blocks that OffHeap.Fallback counts
	Closed   uint64 // anything after Close
}

func (s DropStats) sub(t DropStats) DropStats {
	return DropStats{
		s.Full - t.Full, s.Oversize - t.Oversize, s.ByKeep - t.ByKeep, s.Foreign - t.Foreign,
		s.Double - t.Double, s.Fallback - t.Fallback, s.Closed - t.Closed,
	}
}

func (s DropStats) plus(t DropStats) DropStats { return s.sub(DropStats{}.sub(t)) }

// GuardStats is what guarded blocks have sampled: see docs/safety.md on DEWPOND_GUARD.
type GuardStats struct {
	Setting string  // "touch" or "fault" while a sample of the Gets has guarded blocks, or "off (", why and ")"
	Samples uint64  // Gets that had one
	Rate    float64 // recent rate of guarded Gets per second, over all pools of the process
}

// BudgetStats is the state of the pool's [Budget], the same in all of its pools.
type BudgetStats struct {
	Name   string // as NewBudget was told, perhaps with a number
	Limit  int64  // 0: the pool has no Budget
	Used   int64  // bytes charged by all pools of the Budget
	Excess int64  // bytes by which Used exceeds Limit: what Get and its like took past it and has not been put back
}

// OffHeapStats is the memory of a pool of package offheap.
type OffHeapStats struct {
	Reserved    int64  // bytes of address space; 0 once it is unmapped
	Committed   int64  // bytes in pages that may be resident
	Decommitted int64  // bytes returned to the operating system
	Fallback    uint64 // Misses for which there was no memory off the heap: Get allocated on the heap, outside every bound
}

// ClassStats are the part of [Stats] that belongs to one class.
type ClassStats struct {
	Size   int    // of a block, in bytes; of a Pool, the size of T
	Gets   uint64 // Hits + Misses
	Hits   uint64 // Gets that found an idle block
	Misses uint64 // Gets that allocated one
	Puts   uint64 // Puts of blocks of this class
	Idle   int    // blocks in the pool
	InUse  int    // blocks handed out and not put back, without what BodyPools have out
}

// ShardStats are the part of [Stats] that belongs to one P. In use they may be off by the blocks of a
// magazine, which has 2 to 64.
type ShardStats struct {
	Idle      int   // blocks of all classes
	IdleBytes int64 // that they have
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
// OldestIdle, Budget, OverheadBytes, OffHeap.Reserved, OffHeap.Committed, Shards) is not subtracted.
func (s Stats) Sub(previous Stats) Stats {
	s.Gets -= previous.Gets
	s.Hits -= previous.Hits
	s.Misses -= previous.Misses
	s.Puts -= previous.Puts
	s.Refused -= previous.Refused
	s.Waits -= previous.Waits
	s.WaitDuration -= previous.WaitDuration
	s.OverAllocRate -= previous.OverAllocRate
	s.OverMaxOut -= previous.OverMaxOut
	s.OverBudget -= previous.OverBudget
	s.Oversize -= previous.Oversize
	s.Recovered -= previous.Recovered
	s.Dropped = s.Dropped.sub(previous.Dropped)
	s.DoubleReleases -= previous.DoubleReleases
	s.OffHeap.Fallback -= previous.OffHeap.Fallback
	s.OffHeap.Decommitted -= previous.OffHeap.Decommitted
	s.Adopted -= previous.Adopted
	s.Violations -= previous.Violations
	s.Guard.Samples -= previous.Guard.Samples
	s.Trimmed -= previous.Trimmed
	s.Collections -= previous.Collections
	s.ReleasedBytes -= previous.ReleasedBytes
	s.Sampled = s.Sampled.Sub(previous.Sampled)
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

// events returns s without what is true of a pool now.
func (s Stats) events() Stats {
	s.IdleBytes, s.InUseBytes, s.OldestIdle, s.OverheadBytes, s.Guard.Rate = 0, 0, 0, 0, 0
	s.Budget.Used, s.Budget.Excess, s.OffHeap.Reserved, s.OffHeap.Committed = 0, 0, 0, 0
	s.Shards = nil
	s.Classes = slices.Clone(s.Classes)
	for i := range s.Classes {
		s.Classes[i].Idle, s.Classes[i].InUse = 0, 0
	}
	return s
}

// plus returns the Stats of a pool of which s and t are parts. What is no number is as in s.
func (s Stats) plus(t Stats) Stats {
	s.Gets += t.Gets
	s.Hits += t.Hits
	s.Misses += t.Misses
	s.Puts += t.Puts
	s.Refused += t.Refused
	s.Waits += t.Waits
	s.WaitDuration += t.WaitDuration
	s.OverAllocRate += t.OverAllocRate
	s.OverMaxOut += t.OverMaxOut
	s.OverBudget += t.OverBudget
	s.OffHeap.Fallback += t.OffHeap.Fallback
	s.Oversize += t.Oversize
	s.Recovered += t.Recovered
	s.Dropped = s.Dropped.plus(t.Dropped)
	s.DoubleReleases += t.DoubleReleases
	s.Adopted += t.Adopted
	s.Violations += t.Violations
	s.Guard.Samples += t.Guard.Samples
	s.Guard.Rate = max(s.Guard.Rate, t.Guard.Rate)
	s.Sampled = s.Sampled.Add(t.Sampled)
	s.Trimmed += t.Trimmed
	s.Collections += t.Collections
	s.IdleBytes += t.IdleBytes
	s.InUseBytes += t.InUseBytes
	s.ReleasedBytes += t.ReleasedBytes
	s.OldestIdle = max(s.OldestIdle, t.OldestIdle)
	s.Budget.Used += t.Budget.Used
	s.Budget.Excess += t.Budget.Excess
	s.OverheadBytes += t.OverheadBytes
	s.OffHeap.Reserved += t.OffHeap.Reserved
	s.OffHeap.Committed += t.OffHeap.Committed
	s.OffHeap.Decommitted += t.OffHeap.Decommitted
	s.Shards = plusShards(s.Shards, t.Shards)
	s.Classes = slices.Clone(s.Classes)
	for i, c := range t.Classes {
		s.Classes[i].Gets += c.Gets
		s.Classes[i].Hits += c.Hits
		s.Classes[i].Misses += c.Misses
		s.Classes[i].Puts += c.Puts
		s.Classes[i].Idle += c.Idle
		s.Classes[i].InUse += c.InUse
	}
	return s
}

// plusShards returns what the shards of two parts of a pool have, P by P.
func plusShards(s, t []ShardStats) []ShardStats {
	if len(s) < len(t) {
		s, t = t, s
	}
	s = slices.Clone(s)
	for id, of := range t {
		s[id].Idle += of.Idle
		s[id].IdleBytes += of.IdleBytes
	}
	return s
}

// shardStats returns what an engine's shards have; size returns the bytes of a class's blocks.
func shardStats(e *magazine.Engine, size func(class uint8) int) []ShardStats {
	occupied := e.Occupancy(size)
	shards := make([]ShardStats, len(occupied))
	for id, of := range occupied {
		shards[id] = ShardStats{of.Blocks, of.Bytes}
	}
	return shards
}

// counts has the counts of the slow paths. The engine counts the fast path.
type counts struct {
	refused, oversize               atomic.Uint64
	overRate, overBudget            atomic.Uint64
	droppedOversize, droppedForeign atomic.Uint64
	droppedDouble, droppedFallback  atomic.Uint64
	doubleReleases                  atomic.Uint64
	collections                     atomic.Uint64
	class                           perclass.List[classCounts]
}

type classCounts struct {
	misses    atomic.Uint64
	fallbacks atomic.Uint64 // misses for which the Allocator had no block
	puts      atomic.Uint64 // of blocks that went into quarantine; the engine and the gate count the others
	trimmed   atomic.Uint64 // blocks that were let go in quarantine
	adopted   atomic.Uint64 // Puts of blocks that the pool did not know
	unmatched atomic.Uint64 // other Puts that end no Get of this class: those of BodyPools, and of what was not adopted
	bodies    atomic.Uint64 // Gets of BodyPools
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
	note(s.OverAllocRate, "%d OverAllocRate")
	note(s.OverMaxOut, "%d OverMaxOut")
	note(s.OverBudget, "%d OverBudget")
	note(s.OffHeap.Fallback, "%d OffHeap.Fallback")
	note(s.Oversize, "%d Oversize")
	note(s.DoubleReleases, "%d DoubleReleases")
	note(s.Dropped.all(), "%d Dropped (%s)", s.Dropped)
	return b.String()
}

func (s DropStats) all() uint64 {
	return s.Full + s.Oversize + s.ByKeep + s.Foreign + s.Double + s.Fallback + s.Closed
}

// String returns the reasons that have counts, such as "Full 3, Foreign 1".
func (s DropStats) String() string {
	var reasons []string
	for _, of := range []struct {
		n      uint64
		reason string
	}{
		{s.Full, "Full"},
		{s.Oversize, "Oversize"},
		{s.ByKeep, "ByKeep"},
		{s.Foreign, "Foreign"},
		{s.Double, "Double"},
		{s.Fallback, "Fallback"},
		{s.Closed, "Closed"},
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

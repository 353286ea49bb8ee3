package metric

import (
	"iter"
	"strconv"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/pressure"
)

// Read yields a sample of everything there is now. Each combination of a metric and its
// labels comes once. The Sample is the same variable each time.
func Read() iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		r := reader{yield: yield, budgets: map[string]bool{}}
		r.read(dewpond.Pools())
	}
}

// ReadShards yields a sample of what each P of each pool has now, as Read does of everything else.
func ReadShards() iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		r := reader{yield: yield}
		for p := range dewpond.Pools() {
			s := p.Stats()
			for id, of := range s.Shards {
				shard := strconv.Itoa(id)
				if !r.say(shardBlocks, float64(of.Idle), s.Name, shard) || !r.say(shardSize, float64(of.IdleBytes), s.Name, shard) {
					return
				}
			}
		}
	}
}

// A reader turns Stats into samples. Its methods return false if there is to be no other.
type reader struct {
	yield   func(*Sample) bool
	budgets map[string]bool // those that were said
	looks   int             // how often it has looked whether a Budget was said; for tests
	sample  Sample
}

func (r *reader) read(pools iter.Seq[dewpond.StatsSource]) bool {
	for p := range pools {
		s := p.Stats()
		if !r.pool(&s) {
			return false
		}
	}
	return r.say(pressureLevel, float64(pressure.Current()))
}

func (r *reader) say(m *Metric, v float64, of ...string) bool {
	r.sample.Metric, r.sample.Value = m, v
	copy(r.sample.Of[:], of)
	return r.yield(&r.sample)
}

func (r *reader) pool(s *dewpond.Stats) bool {
	for i := range s.Classes {
		if !r.class(s.Name, &s.Classes[i]) {
			return false
		}
	}
	count := func(m *Metric, n uint64, of ...string) bool {
		return r.say(m, float64(n), append([]string{s.Name}, of...)...)
	}
	return count(getsOversize, s.Oversize) &&
		count(getsRefused, s.Refused) &&
		count(getsPastLimit, s.OverAllocRate, "alloc_rate") &&
		count(getsPastLimit, s.OverMaxOut, "max_out") &&
		count(getsPastLimit, s.OverBudget, "budget") &&
		count(getsFallback, s.OffHeap.Fallback) &&
		count(getsRecovered, s.Recovered) &&
		count(putsDropped, s.Dropped.Full, "full") &&
		count(putsDropped, s.Dropped.Oversize, "oversize") &&
		count(putsDropped, s.Dropped.ByKeep, "keep") &&
		count(putsDropped, s.Dropped.Foreign, "foreign") &&
		count(putsDropped, s.Dropped.Double, "double") &&
		count(putsDropped, s.Dropped.Fallback, "fallback") &&
		count(putsDropped, s.Dropped.Closed, "closed") &&
		count(doubleReleases, s.DoubleReleases) &&
		count(putsAdopted, s.Adopted) &&
		count(waits, s.Waits) &&
		count(trimmedBlocks, s.Trimmed) &&
		count(violations, s.Violations) &&
		count(guardSamples, s.Guard.Samples) &&
		r.say(getsMinusPuts, float64(int64(s.Gets-s.Puts)), s.Name) &&
		r.say(size, float64(s.IdleBytes), s.Name, "idle") &&
		r.say(size, float64(s.InUseBytes), s.Name, "used") &&
		r.say(overhead, float64(s.OverheadBytes), s.Name) &&
		r.say(oldestIdle, s.OldestIdle.Seconds(), s.Name) &&
		r.say(waitTime, s.WaitDuration.Seconds(), s.Name) &&
		r.say(trimmedBytes, float64(s.ReleasedBytes), s.Name) &&
		r.sampled(s) && r.offHeap(s) && r.budget(s)
}

// The bounds of the histograms: of times the powers of two, and of sizes also those between them, which are
// mostly classes.
const (
	leastTime, mostTime = 1 << 10, 1 << 40 // nanoseconds: a microsecond, 18 minutes
	leastSize, mostSize = 8, 1 << 32
)

// sampled says what only pools in checked mode have.
func (r *reader) sampled(s *dewpond.Stats) bool {
	of := s.Sampled
	if of == nil {
		return true
	}
	return r.times(out, of.Out, s.Name) && r.times(idle, of.Idle, s.Name) && r.sizes(asked, of.Asked, s.Name)
}

func (r *reader) times(m *Metric, h misuse.Histogram, pool string) bool {
	r.begin()
	for bound := int64(leastTime); bound <= mostTime; bound *= 2 {
		r.bucket(h, bound, 1e9)
	}
	return r.histogram(m, h, 1e9, pool)
}

func (r *reader) sizes(m *Metric, h misuse.Histogram, pool string) bool {
	r.begin()
	for bound := int64(leastSize); bound <= mostSize; bound *= 2 {
		for quarter := range int64(4) {
			r.bucket(h, bound+bound/4*quarter, 1)
		}
	}
	return r.histogram(m, h, 1, pool)
}

func (r *reader) begin() { r.sample.Buckets = r.sample.Buckets[:0] }

// bucket adds a bucket, unless nothing is in it or below, or above the one before it.
func (r *reader) bucket(h misuse.Histogram, bound int64, unit float64) {
	n, all := h.AtMost(bound), r.sample.Buckets
	if n > 0 && (len(all) == 0 || all[len(all)-1].Count < h.Count()) {
		r.sample.Buckets = append(all, Bucket{float64(bound) / unit, n})
	}
}

func (r *reader) histogram(m *Metric, h misuse.Histogram, unit float64, pool string) bool {
	r.sample.Sum = float64(h.Sum) / unit
	return r.say(m, float64(h.Count()), pool)
}

func (r *reader) class(pool string, c *dewpond.ClassStats) bool {
	if c.Gets == 0 && c.Puts == 0 && c.Idle == 0 {
		return true
	}
	class := strconv.Itoa(c.Size)
	return r.say(gets, float64(c.Hits), pool, class, "hit") &&
		r.say(gets, float64(c.Misses), pool, class, "miss") &&
		r.say(puts, float64(c.Puts), pool, class) &&
		r.say(blocks, float64(c.Idle), pool, class, "idle") &&
		r.say(blocks, float64(c.InUse), pool, class, "used")
}

// offHeap says what only pools off the heap have.
func (r *reader) offHeap(s *dewpond.Stats) bool {
	if s.OffHeap.Reserved == 0 && s.OffHeap.Committed == 0 && s.OffHeap.Decommitted == 0 {
		return true
	}
	return r.say(reserved, float64(s.OffHeap.Reserved), s.Name) &&
		r.say(committed, float64(s.OffHeap.Committed), s.Name) &&
		r.say(decommitted, float64(s.OffHeap.Decommitted), s.Name)
}

func (r *reader) budget(s *dewpond.Stats) bool {
	if s.Budget.Limit == 0 {
		return true
	}
	name := s.Budget.Name
	if r.said(name) {
		return true
	}
	return r.say(budgetLimit, float64(s.Budget.Limit), name) &&
		r.say(budgetUsed, float64(s.Budget.Used), name) &&
		r.say(budgetOver, float64(s.Budget.Excess), name)
}

// said reports whether a Budget was said, and notes that it is now.
func (r *reader) said(budget string) bool {
	r.looks++
	before := r.budgets[budget]
	r.budgets[budget] = true
	return before
}

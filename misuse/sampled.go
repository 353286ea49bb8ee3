package misuse

import "math"

// Sampled is what the checks of a pool have seen of the blocks or objects that they watch: with
// CheckSampled of one Get in 1024, hit or miss, chosen as if at random, so that it stands for all; with
// CheckAll of every Get.
type Sampled struct {
	Watched uint64 // Gets whose block or object is watched

	// Out has how long, in nanoseconds, watched blocks or objects were out, from Get to Put. Those
	// that are still out, or are never put back, are not in it.
	Out Histogram

	// Idle has how long, in nanoseconds, blocks or objects were idle in the pool: from Put until the next
	// Get, or until the pool let them go. With CheckSampled it has those that were watched and whose Put
	// gave them to the pool, as any other. That is one in eight while quarantine is full, which takes 256
	// of them or 1 MiB within a quarter of IdleTimeout, and all where there is no quarantine: with AllocRate, a Budget,
	// MaxIdlePerClass or a Pool's MaxOut. So a pool in which few are watched has none in Idle. At most 64 are followed
	// at a time: if there are more, one of them counts with the time that it has been idle by then, and a long
	// tail looks shorter than it is. With CheckAll it has all, and mostly their time in quarantine, which says
	// nothing of a pool without checks.
	Idle Histogram

	// Asked has the sizes in bytes that Gets have asked for, one in as many as are watched, with those above the largest
	// class, and of a BodyPool the lengths of the bodies that are put back. What else takes blocks of the pool
	// counts with what it asks for: a Buffer or Append for each block that it grows into, a Scope for its chunks. In a
	// Pool it is empty.
	Asked Histogram
}

// Sub returns what was seen since previous, which must be of an earlier time. Either may be nil.
func (s *Sampled) Sub(previous *Sampled) *Sampled {
	if s == nil || previous == nil {
		return s
	}
	return &Sampled{s.Watched - previous.Watched, s.Out.Sub(previous.Out), s.Idle.Sub(previous.Idle), s.Asked.Sub(previous.Asked)}
}

// Add returns what was seen in two parts of a pool. Either may be nil.
func (s *Sampled) Add(t *Sampled) *Sampled {
	switch {
	case s == nil:
		return t
	case t == nil:
		return s
	}
	return &Sampled{s.Watched + t.Watched, s.Out.Add(t.Out), s.Idle.Add(t.Idle), s.Asked.Add(t.Asked)}
}

// A Histogram is how many values there are of which size. It counts them in buckets, four for each power
// of two: so the bounds of a value are at most a quarter apart. The last bucket has all from 7/8 of 2^41 on. The zero Histogram is empty.
type Histogram struct {
	Counts [160]uint64 // values in each bucket; [Histogram.AtMost] and [Histogram.Quantile] know their bounds
	Sum    uint64      // of all values, exactly
}

// Count returns how many values there are.
func (h Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// AtMost returns how many values are v or less. It is exact where a bucket ends in v: at each power of two,
// and at 5, 6 and 7 quarters of one. Otherwise it leaves out those of the bucket that v is in.
func (h Histogram) AtMost(v int64) (n uint64) {
	for i := 0; i < len(h.Counts) && endOf(i) <= v; i++ {
		n += h.Counts[i]
	}
	return n
}

// Quantile returns between which bounds the value is of which a part q is no larger, for instance the median
// with 0.5: it is more than above, and at most upTo. They are the bounds of a bucket. Of an empty Histogram both are 0.
func (h Histogram) Quantile(q float64) (above, upTo int64) {
	rank := uint64(max(1, math.Ceil(q*float64(h.Count()))))
	for i, c := range h.Counts {
		end := endOf(i)
		if c >= rank {
			return above, end
		}
		rank -= c
		above = end
	}
	return 0, 0
}

// Sub returns what was counted since previous, which must be an earlier Histogram of the same values.
func (h Histogram) Sub(previous Histogram) Histogram {
	for i := range h.Counts {
		h.Counts[i] -= previous.Counts[i]
	}
	h.Sum -= previous.Sum
	return h
}

// Add returns the values of both.
func (h Histogram) Add(other Histogram) Histogram {
	for i := range h.Counts {
		h.Counts[i] += other.Counts[i]
	}
	h.Sum += other.Sum
	return h
}

// buckets is how many buckets a Histogram has, four for each power of two.
const buckets = len(Histogram{}.Counts)

// endOf returns the largest value of a bucket. The last bucket has no bound.
func endOf(bucket int) int64 {
	next := bucket + 1
	switch {
	case next >= buckets:
		return math.MaxInt64
	case next < 4:
		return int64(next)
	}
	return int64(4+next%4) << (next/4 - 1)
}

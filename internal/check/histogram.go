package check

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Buckets is how many buckets a Histogram has, four for each power of two.
const Buckets = 160

// A Histogram counts times and sizes, of which each falls into a bucket. All methods are safe for
// concurrent use. The zero Histogram is empty.
type Histogram struct {
	counts [Buckets]atomic.Uint64
	sum    atomic.Uint64
}

// Bucket returns the bucket of a value. What is less than 0, as of a clock that was set back, counts as 0.
func Bucket(v int64) int {
	below := uint64(max(v, 1) - 1) // so that a power of two is the last value of its bucket, as it is of a class
	if below < 4 {
		return int(below)
	}
	e := bits.Len64(below) - 1
	return min((e-1)*4+int(below>>(e-2)&3), Buckets-1)
}

// Add counts a value.
func (h *Histogram) Add(v int64) {
	h.counts[Bucket(v)].Add(1)
	h.sum.Add(uint64(max(v, 0)))
}

// since counts the time between two moments, unless they are of different clocks.
func (h *Histogram) since(then, now time.Time) {
	if sameClock(then, now) {
		h.Add(int64(now.Sub(then)))
	}
}

// Load returns how many values each bucket has, and the sum of all.
func (h *Histogram) Load() (counts [Buckets]uint64, sum uint64) {
	for i := range h.counts {
		counts[i] = h.counts[i].Load()
	}
	return counts, h.sum.Load()
}

// A Sample is what was seen of watched blocks.
type Sample struct {
	Watched   atomic.Uint64 // calls of Get
	Out, Idle Histogram     // nanoseconds
	Asked     Histogram     // bytes; of what is asked for, the pool tells
}

package check

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// Each value is in the bucket whose bounds are around it, and powers of two end one.
func TestBuckets(t *testing.T) {
	holds := func(v int64) {
		t.Helper()
		i := Bucket(v)
		if v > endOf(i) || i > 0 && v <= endOf(i-1) {
			t.Errorf("%d is in bucket %d, up to %d", v, i, endOf(i))
		}
	}
	for v := range int64(100_000) {
		holds(v)
	}
	for range 100_000 {
		holds(rand.Int64() >> rand.IntN(60))
	}
	for _, v := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		holds(v)
	}
	for i := range Buckets - 1 {
		if v := endOf(i); Bucket(v) != i || Bucket(v+1) != i+1 || i > 4 && 4*endOf(i) > 5*endOf(i-1) {
			t.Errorf("bucket %d is up to %d, which is in bucket %d, and one more in %d", i, v, Bucket(v), Bucket(v+1))
		}
	}
	for v := int64(1); v < 1<<41; v *= 2 {
		if endOf(Bucket(v)) != v {
			t.Errorf("%d does not end a bucket", v)
		}
	}
}

// Values are counted and added up, and the time between two clocks is none.
func TestHistogram(t *testing.T) {
	var h Histogram
	for _, v := range []int64{-5, 1, 100, 1 << 60} {
		h.Add(v)
	}
	now := time.Now()
	h.since(now, now.Add(100))
	h.since(now.Round(0), now)
	counts, sum := h.Load()
	if sum != 1+100+1<<60+100 || counts[0] != 2 || counts[Bucket(100)] != 2 || counts[Buckets-1] != 1 {
		t.Errorf("sum %d of %v", sum, counts)
	}
}

// endOf returns the largest value of a bucket, as package misuse has it.
func endOf(bucket int) int64 {
	var h misuse.Histogram
	h.Counts[bucket] = 1
	_, end := h.Quantile(1)
	return end
}

package kit

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	shortest = 1              // ns
	longest  = 60_000_000_000 // ns
	// digits of precision. Two keep every value within 1 %, and distinguish each nanosecond up
	// to 255, in 31 KB a histogram; three digits take 221 KB. The recorder is part of the live
	// heap, and a large one would delay the collections that the benchmark is to show.
	digits = 2
)

// A Recorder keeps the times of one kind of operation. Any number of goroutines may record at
// once: it has more shards than there are processors, and a goroutine that finds its shard locked
// uses the next one, so that none waits for a goroutine that was descheduled with the lock.
type Recorder struct {
	shards     []shard
	outOfRange atomic.Uint64
}

type shard struct {
	mu        sync.Mutex
	histogram *hdrhistogram.Histogram
	_         [64]byte // shards do not share a cache line
}

// NewRecorder returns a recorder for the processors that this process may use.
func NewRecorder() *Recorder {
	r := &Recorder{shards: make([]shard, min(2*runtime.GOMAXPROCS(0), 16))}
	for i := range r.shards {
		r.shards[i].histogram = hdrhistogram.New(shortest, longest, digits)
	}
	return r
}

// Record keeps one time. The number of the goroutine selects the shard.
func (r *Recorder) Record(goroutine int, d time.Duration) {
	n := uint(len(r.shards))
	s := &r.shards[uint(goroutine)%n]
	for i := uint(1); !s.mu.TryLock(); i++ {
		s = &r.shards[(uint(goroutine)+i)%n]
		if i == n { // all shards are locked: wait for this one
			s.mu.Lock()
			break
		}
	}
	err := s.histogram.RecordValue(int64(d))
	s.mu.Unlock()
	if err != nil {
		r.outOfRange.Add(1)
	}
}

// OutOfRange returns how many times were too long, or negative, and so were not kept.
func (r *Recorder) OutOfRange() uint64 { return r.outOfRange.Load() }

// Bytes returns the size of the recorder itself.
func (r *Recorder) Bytes() uint64 {
	var n int
	for i := range r.shards {
		n += r.shards[i].histogram.ByteSize()
	}
	return uint64(n)
}

// Take returns what was recorded since the last Take. It may run beside Record, whose time is then
// in this histogram or in the next one.
func (r *Recorder) Take() *hdrhistogram.Histogram {
	all := hdrhistogram.New(shortest, longest, digits)
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		all.Merge(s.histogram) // drops nothing: they are of one shape
		s.histogram.Reset()
		s.mu.Unlock()
	}
	return all
}

// Encode merges the shards into HdrHistogram's V2 encoding. There must be no concurrent Record.
func (r *Recorder) Encode() ([]byte, error) {
	all := hdrhistogram.New(shortest, longest, digits)
	for i := range r.shards {
		if dropped := all.Merge(r.shards[i].histogram); dropped > 0 {
			return nil, fmt.Errorf("kit: merging histograms of one shape dropped %d values", dropped)
		}
	}
	return all.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

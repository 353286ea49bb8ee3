package kit

import (
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestRecorder(t *testing.T) {
	const goroutines, times = 32, 2000
	r := NewRecorder()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range times {
				r.Record(g, time.Duration(i+1))
			}
		})
	}
	wg.Wait()
	blob, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	h, err := hdrhistogram.Decode(blob)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.TotalCount(); got != goroutines*times {
		t.Errorf("%d times kept of %d", got, goroutines*times)
	}
	for p, want := range map[float64]float64{50: 1000, 99: 1980, 100: 2000} {
		if got := float64(h.ValueAtPercentile(p)); got < 0.99*want || got > 1.01*want {
			t.Errorf("P%v is %v, want %v within 1 %%", p, got, want)
		}
	}
	if n := r.OutOfRange(); n != 0 {
		t.Errorf("%d out of range", n)
	}
}

func TestRecorderOutOfRange(t *testing.T) {
	r := NewRecorder()
	r.Record(0, time.Hour)
	r.Record(1, -1)
	r.Record(2, 0)
	if n := r.OutOfRange(); n != 2 {
		t.Errorf("an hour, -1 ns and 0 ns: %d out of range, want 2", n)
	}
}

// A recorder must not move the collector's goal: it stays well below the 4 MB that the smallest heap
// may grow to.
func TestRecorderIsSmall(t *testing.T) {
	r := NewRecorder()
	if got, each := r.Bytes(), uint64(32<<10); got == 0 || got > each*uint64(len(r.shards)) {
		t.Errorf("%d bytes in %d shards, want at most %d a shard", got, len(r.shards), each)
	}
	if n := testing.AllocsPerRun(1000, func() { r.Record(3, 100) }); n != 0 {
		t.Errorf("%v allocations to record a time", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := NewRecorder()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			r.Record(i, time.Duration(i%1000))
		}
	})
}

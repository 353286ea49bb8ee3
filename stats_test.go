package dewpond_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// Every count, by hand, in a quiet pool.
func TestStatsAreExactWhenQuiet(t *testing.T) {
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection may move the stack, by which the engine with locks finds a shard
	synctest.Test(t, statsAreExactWhenQuiet)         // where no second ends, after which AllocLimit allows more
}

func statsAreExactWhenQuiet(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 4, AllocLimit: 3})
	if s := p.Stats(); s.HitRate() != 0 || s.Gets != 0 {
		t.Fatalf("a fresh pool has %+v", s)
	}
	p.Prewarm(100, 2)                            // 2 idle
	a, b, c := p.Get(100), p.Get(128), p.Get(97) // 2 hits, a miss
	d, e := p.Get(100), p.Get(100)               // 2 misses: the limit's last
	f := p.Get(100)                              // a miss over the limit
	if _, err := p.TryGet(100); err == nil {     // refused
		t.Fatal("TryGet was not refused")
	}
	p.Get(4 << 20) // oversize
	for _, b := range [][]byte{a, b, c, d, e} {
		p.Put(b) // 4 kept, 1 dropped
	}
	p.Put(make([]byte, 100)) // foreign
	p.Put(make([]byte, 4<<20))
	_ = f // stays out

	want := dewpond.Stats{
		Name: p.Name(), Engine: p.Stats().Engine,
		Gets: 7, Hits: 2, Misses: 4, Oversize: 1, Puts: 7,
		Refused: 1, OverLimit: 1,
		DroppedFull: 1, DroppedForeign: 1, DroppedOversize: 1,
		IdleBytes: 4 * 128, InUseBytes: 128,
	}
	got := p.Stats()
	for _, c := range got.Classes {
		want := dewpond.ClassStats{Size: c.Size}
		if c.Size == 128 {
			want = dewpond.ClassStats{Size: 128, Gets: 6, Hits: 2, Misses: 4, Puts: 5, Idle: 4, InUse: 1}
		}
		if c != want {
			t.Errorf("class %d: %+v, want %+v", c.Size, c, want)
		}
	}
	compare(t, got, want)

	if got := p.Trim(); got != 4*128 {
		t.Errorf("Trim released %d, want %d", got, 4*128)
	}
	want.IdleBytes, want.Trimmed, want.ReleasedBytes = 0, 4, 4*128
	compare(t, p.Stats(), want)

	since := p.Stats().Sub(got)
	compare(t, since, dewpond.Stats{Name: want.Name, Engine: want.Engine, Trimmed: 4, ReleasedBytes: 4 * 128, InUseBytes: 128})
	if got.HitRate() != 2.0/7 {
		t.Errorf("HitRate %v, want 2/7", got.HitRate())
	}
}

// Counts of many goroutines on many Ps, some of whose shards are replaced on the
// way, add up once all is quiet.
func TestStatsAddUp(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := newPool(t, dewpond.BytePoolOptions{})
	const goroutines, each = 50, 2000
	var wg go125.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				p.Put(p.Get(64 << (i % 12)))
				if g == 0 && i%100 == 0 {
					p.Trim()
					p.Stats() // folds while others count
				}
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	if s.Gets != goroutines*each || s.Puts != s.Gets || s.Hits+s.Misses != s.Gets || s.InUseBytes != 0 {
		t.Errorf("Gets %d, Hits %d, Misses %d, Puts %d, InUseBytes %d; want %d Gets", s.Gets, s.Hits, s.Misses, s.Puts, s.InUseBytes, goroutines*each)
	}
	if got := int64(0); true {
		for _, c := range s.Classes {
			got += int64(c.Size * c.Idle)
		}
		if got != s.IdleBytes || p.Trim() != got {
			t.Errorf("IdleBytes %d, by class %d: not what Trim released", s.IdleBytes, got)
		}
	}
}

// A slice that the pool cannot tell from a block, put back without a Get, never
// makes the bytes in use negative, nor hides those of another class.
func TestInUseIsClamped(t *testing.T) {
	notWatched(t, putsForeign)
	p := newPool(t, dewpond.BytePoolOptions{})
	p.Put(make([]byte, 1024))
	if s := p.Stats(); s.InUseBytes != 0 || offHeap && s.DroppedForeign != 1 {
		t.Errorf("InUseBytes %d, want 0; DroppedForeign %d", s.InUseBytes, s.DroppedForeign)
	}
	p.Get(100)
	if s := p.Stats(); s.InUseBytes != 128 {
		t.Errorf("InUseBytes %d, want 128", s.InUseBytes)
	}
}

package dewpond_test

import (
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// inShards returns what all shards have.
func inShards(s dewpond.Stats) (all dewpond.ShardStats) {
	for _, of := range s.Shards {
		all.Idle += of.Idle
		all.IdleBytes += of.IdleBytes
	}
	return all
}

// A few small blocks are all in shards, whatever kind of pool they are in; in checked mode and with a
// Limit none is, because then every Get must find them.
func TestShards(t *testing.T) {
	notWatched(t, seesShards)
	const n = 3
	bytes := newPool(t, dewpond.BytePoolOptions{})
	slices := dewpond.MustSlicePool(dewpond.SlicePoolOptions[float64]{Name: t.Name()})
	objects := dewpond.MustPool(dewpond.PoolOptions[[32]byte]{Name: t.Name()})
	limited := dewpond.MustPool(dewpond.PoolOptions[[32]byte]{Name: t.Name(), Limit: 10})
	t.Cleanup(func() { slices.Close(); objects.Close(); limited.Close() })
	var b [n][]byte
	var s [n][]float64
	var o, l [n]*[32]byte
	for i := range n {
		b[i], s[i], o[i], l[i] = bytes.Get(100), slices.Get(100), objects.Get(), limited.Get()
	}
	for i := range n {
		bytes.Put(b[i])
		slices.Put(s[i])
		objects.Put(o[i])
		limited.Put(l[i])
	}
	for _, tt := range []struct {
		of    string
		stats dewpond.Stats
		want  int
	}{{"BytePool", bytes.Stats(), n}, {"SlicePool", slices.Stats(), n}, {"Pool", objects.Stats(), n}, {"Pool with a Limit", limited.Stats(), 0}} {
		got := inShards(tt.stats)
		if got.Idle != tt.want || tt.want > 0 && got.IdleBytes != tt.stats.IdleBytes || tt.stats.IdleBytes == 0 {
			t.Errorf("%s: shards have %+v, want %d of %d bytes", tt.of, got, tt.want, tt.stats.IdleBytes)
		}
	}
}

// Each P has its own, and what is idle elsewhere is in Idle too.
func TestShardsAreParts(t *testing.T) {
	notWatched(t, seesShards)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := newPool(t, dewpond.BytePoolOptions{})
	var wg go125.WaitGroup
	for range 16 {
		wg.Go(func() {
			var out [][]byte
			for i := range 200 {
				out = append(out, p.Get(1000))
				if i < 4 { // few, since a process of 32 bits has them too
					out = append(out, p.Get(1<<18))
				}
			}
			for _, b := range out {
				p.Put(b)
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	if got := inShards(s); len(s.Shards) < runtime.GOMAXPROCS(0) || got.Idle == 0 || got.IdleBytes >= s.IdleBytes || got.IdleBytes != 1024*int64(got.Idle) {
		t.Errorf("%d shards have %+v of %d bytes", len(s.Shards), got, s.IdleBytes)
	}
	p.Trim()
	if got := inShards(p.Stats()); got != (dewpond.ShardStats{}) {
		t.Errorf("after Trim shards have %+v", got)
	}
}

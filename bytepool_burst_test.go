package dewpond_test

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// A burster is a pool of any kind, of which a burst takes n blocks of 1 MiB, or objects, and puts them
// back.
type burster struct {
	burst func(n int)
	stats func() dewpond.Stats
	unit  int64 // bytes of one
	usual int   // how many may be idle without a burst, if no bound is given
}

func burstsOfObjects(o dewpond.PoolOptions[[64]byte]) func(testing.TB) burster {
	return func(t testing.TB) burster {
		p := dewpond.MustPool(o)
		t.Cleanup(func() { p.Close() })
		return burster{func(n int) {
			out := make([]*[64]byte, n)
			for i := range out {
				out[i] = p.Get()
			}
			for _, v := range out {
				p.Put(v)
			}
		}, p.Stats, 64, 4096}
	}
}

func burstsOfBlocks(o dewpond.BytePoolOptions) func(testing.TB) burster {
	return func(t testing.TB) burster {
		o.Zero = dewpond.ZeroNever // so that no page is touched
		p := newPool(t, o)
		return burster{func(n int) { hold(p, 1<<20, n) }, p.Stats, 1 << 20, 64}
	}
}

// idle returns how many are idle.
func (b burster) idle() int { return int(b.stats().IdleBytes / b.unit) }

// Where no bound is given, what was out at once is kept, until a timeout has passed without it. A bound
// that is given is hard.
func TestIdleBoundFollowsBursts(t *testing.T) {
	notWatched(t, "it counts what is idle")
	onlyOnHeap(t, "it takes hundreds of megabytes")
	for _, tt := range []struct {
		name string
		of   func(testing.TB) burster
		hard bool
		left int // in the end; -1: as many as may be idle without a burst
	}{
		{name: "BytePool", of: burstsOfBlocks(dewpond.BytePoolOptions{})},
		{name: "BytePool without decay", of: burstsOfBlocks(dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay}), left: -1},
		{name: "BytePool with MaxIdleBytes", of: burstsOfBlocks(dewpond.BytePoolOptions{MaxIdleBytes: 64 << 20}), hard: true},
		{name: "BytePool with MaxIdlePerClass", of: burstsOfBlocks(dewpond.BytePoolOptions{MaxIdlePerClass: 1000}), hard: true},
		{name: "Pool", of: burstsOfObjects(dewpond.PoolOptions[[64]byte]{})},
		{name: "Pool without decay", of: burstsOfObjects(dewpond.PoolOptions[[64]byte]{IdleTimeout: dewpond.NoDecay}), left: -1},
		{name: "Pool with MaxIdle", of: burstsOfObjects(dewpond.PoolOptions[[64]byte]{MaxIdle: 4096}), hard: true},
		{name: "Pool with Limit", of: burstsOfObjects(dewpond.PoolOptions[[64]byte]{Limit: 4096})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := tt.of(t)
				for range 2 {
					b.burst(3 * b.usual)
				}
				least, most := 3*b.usual*9/10, 3*b.usual*11/10
				if tt.hard {
					least, most = b.usual/2, b.usual
				}
				if n := b.idle(); n < least || n > most {
					t.Errorf("%d are idle after bursts of %d, want %d to %d", n, 3*b.usual, least, most)
				}
				time.Sleep(3 * time.Minute)
				switch n := b.idle(); {
				case tt.left == 0 && n > 0:
					t.Errorf("%d are idle for ever", n)
				case tt.left < 0 && (n > b.usual || n < b.usual/2):
					t.Errorf("%d are idle for ever, want up to %d", n, b.usual)
				}
				b.burst(b.usual / 2)
				if n := b.idle(); n > b.usual && !tt.hard {
					t.Errorf("%d are idle after a burst of %d", n, b.usual/2)
				}
			})
		})
	}
}

// A Limit is the bound on what is idle, too.
func TestIdleBoundIsTheLimit(t *testing.T) {
	const limit = 10_000
	p := dewpond.MustPool(dewpond.PoolOptions[[64]byte]{Limit: limit})
	defer p.Close()
	var out []*[64]byte
	for range limit {
		v, err := p.TryGet()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	for _, v := range out {
		p.Put(v)
	}
	if s := p.Stats(); s.DroppedFull > 0 || s.IdleBytes != limit*64 {
		t.Errorf("%d bytes are idle, and %d were dropped", s.IdleBytes, s.DroppedFull)
	}
}

// Under pressure nothing is kept beyond the bound, and what was goes.
func TestIdleBoundUnderPressure(t *testing.T) {
	notWatched(t, "it counts what is idle")
	onlyOnHeap(t, "it takes hundreds of megabytes")
	for _, of := range []func(testing.TB) burster{
		burstsOfBlocks(dewpond.BytePoolOptions{}), burstsOfBlocks(dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay}), burstsOfObjects(dewpond.PoolOptions[[64]byte]{}),
	} {
		synctest.Test(t, func(t *testing.T) {
			defer dewpond.SetLevel(pressure.Low)
			b := of(t)
			b.burst(3 * b.usual)
			dewpond.SetLevel(pressure.Medium)
			time.Sleep(5 * time.Second)
			if n := b.idle(); n > b.usual {
				t.Errorf("%d are idle under pressure", n)
			}
			b.burst(3 * b.usual)
			if n := b.idle(); n > b.usual {
				t.Errorf("%d are idle after a burst under pressure", n)
			}
		})
	}
}

// A program that loses some of its blocks, and one that puts back slices of its own, stay within the
// bound that a pool without bursts has.
func TestIdleBoundOfLossyPrograms(t *testing.T) {
	notWatched(t, "it loses blocks")
	onlyOnHeap(t, "nobody else has such blocks")
	const rounds, size, most = 10_000_000, 1024, 64 << 20
	check := func(t *testing.T, p *dewpond.BytePool) {
		if n := p.Stats().IdleBytes; n > most {
			t.Fatalf("%d bytes are idle", n)
		}
	}
	t.Run("one in 100 is lost", func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		for i := range rounds {
			if b := p.Get(size); i%100 != 0 {
				p.Put(b)
			}
			if i%100_000 == 0 {
				check(t, p)
			}
		}
		check(t, p)
	})
	t.Run("each is put back beside a slice of one's own", func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
		for i := range rounds / 2 {
			p.Put(p.Get(size))
			if i%10 == 0 {
				p.Put(make([]byte, size))
			}
			if i%100_000 == 0 {
				check(t, p)
			}
		}
		check(t, p)
	})
	t.Run("objects", func(t *testing.T) {
		p := dewpond.MustPool(dewpond.PoolOptions[[64]byte]{})
		defer p.Close()
		for i := range rounds {
			if v := p.Get(); i%100 != 0 {
				p.Put(v)
			}
			if i%100 == 50 {
				p.Put(new([64]byte))
			}
		}
		if n := p.Stats().IdleBytes / 64; n > 4096 {
			t.Errorf("%d objects are idle", n)
		}
	})
}

// The memory of a burst is collected once decay has let it go, though nothing else happens.
func TestDecayCollectsWhatItLetGo(t *testing.T) {
	notWatched(t, "it counts collections")
	onlyOnHeap(t, "nothing else needs a collection")
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, forbidden := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := burstsOfBlocks(dewpond.BytePoolOptions{NoCollect: forbidden})(t)
			b.burst(200)
			time.Sleep(2*time.Minute + 10*time.Second)
			synctest.Wait()
			s := b.stats()
			if n := s.Collections; (n > 0) == forbidden || n > 2 || s.IdleBytes > 0 {
				t.Errorf("NoCollect %v: %d collections, %d bytes are idle", forbidden, n, s.IdleBytes)
			}
		})
	}
}

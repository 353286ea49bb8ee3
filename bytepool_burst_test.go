package dewpond_test

import (
	"runtime"
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
	const size, most = 1024, 64 << 20
	rounds := 10_000_000
	if testing.Short() {
		rounds /= 4
	}
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

// The bound follows bursts whatever comes back: blocks that append has moved, bodies, adopted slices, and after
// slices that no Get returned. GC cycles empty the second tier between two bursts, so each would allocate again
// what the bound does not allow.
func TestIdleBoundFollowsWhatComesBack(t *testing.T) {
	notWatched(t, "it puts back what no Get returned")
	onlyOnHeap(t, "there is nothing to adopt")
	const n, size = 1500, 120_000 // 187 MB in blocks, nearly three times what is kept without a burst
	body := make([]byte, size)
	blocks := func(p *dewpond.BytePool) (get func() []byte, put func([]byte)) {
		return func() []byte { return p.Get(size) }, p.Put
	}
	bodies := func(p *dewpond.BytePool) (get func() []byte, put func([]byte)) {
		b := p.Bodies()
		return func() []byte { return append(b.Get(), body...) }, b.Put
	}
	for _, tt := range []struct {
		name   string
		before func(p *dewpond.BytePool)
		of     func(p *dewpond.BytePool) (get func() []byte, put func([]byte))
		extra  int // allocated blocks that a BodyPool learns from
	}{
		{"blocks", func(*dewpond.BytePool) {}, blocks, 0},
		{"after Puts of what append has moved", func(p *dewpond.BytePool) {
			for range 20_000 {
				p.Put(append(p.Get(512)[:0], body[:4800]...)) // of a cap that is a class
			}
			p.Trim()
		}, blocks, 0},
		{"after one Adopt", func(p *dewpond.BytePool) {
			p.Adopt(make([]byte, 900))
			p.Trim()
		}, blocks, 0},
		{"while one that was cut is idle", func(p *dewpond.BytePool) { p.Adopt(make([]byte, 900)) }, blocks, 0},
		{"bodies", func(*dewpond.BytePool) {}, bodies, 2 * n},
		{"bodies after one Adopt", func(p *dewpond.BytePool) { p.Adopt(make([]byte, 900)) }, bodies, 2 * n},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
			tt.before(p)
			before := p.Stats()
			get, put := tt.of(p)
			out := make([][]byte, n)
			for range 6 {
				for i := range out {
					out[i] = get()
				}
				for _, b := range out {
					put(b)
				}
				clear(out)
				runtime.GC()
				runtime.GC()
			}
			s := p.Stats().Sub(before)
			if most := uint64(n+n/3) + uint64(tt.extra); s.Misses > most {
				t.Errorf("six bursts of %d allocate %d blocks, want at most %d; %d found no room", n, s.Misses, most, s.DroppedFull)
			}
			if s.InUseBytes != before.InUseBytes {
				t.Errorf("%d bytes are in use", s.InUseBytes-before.InUseBytes)
			}
		})
	}
}

// More Puts of bodies than Gets do not let the bound grow, and what was cut off adopted slices counts as long as
// they are there.
func TestIdleBoundOfForeignBodies(t *testing.T) {
	notWatched(t, "it puts back what no Get returned")
	onlyOnHeap(t, "there is nothing to adopt")
	const bound = 64 << 20
	p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever})
	bodies := p.Bodies()
	bodies.Put(make([]byte, 64<<10))
	for range 20_000 {
		b := bodies.Get()
		bodies.Put(append(b, make([]byte, 60_000)...))
	}
	hold(p, 64<<10, bound/2/(64<<10))
	for range 4 * bound / (64 << 10) {
		p.Put(make([]byte, 64<<10))
	}
	if s := p.Stats(); s.IdleBytes > bound+bound/8 {
		t.Errorf("%d bytes are idle, at most %d were in use", s.IdleBytes, bound)
	}

	p = newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 32 << 10, 128 << 10}, Zero: dewpond.ZeroNever})
	bodies = p.Bodies()
	for range 2 * bound / (32 << 10) {
		p.Adopt(make([]byte, 63<<10)) // cut to 32 KiB
	}
	for range 20_000 {
		bodies.Put(append(bodies.Get(), make([]byte, 30_000)...))
	}
	for range bound / (32 << 10) {
		p.Put(make([]byte, 32<<10))
	}
	if s := p.Stats(); s.IdleBytes > bound*5/8 {
		t.Errorf("%d bytes are idle of slices that were cut in half, and twice that is alive: the bound is %d", s.IdleBytes, bound)
	}
}

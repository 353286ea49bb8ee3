package dewpond_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// 512 goroutines put at once: a pool that looks at its bound before it pushes, as
// the contender treiber of cmd/dewpond does, goes past it here. What is idle is
// counted by what Trim releases, not by the pool's own word alone. instruments/proof
// checks the bounds at every step instead.
func TestBoundsHold(t *testing.T) {
	notWatched(t, "it looks at how much is idle, of which the quarantine has its own share")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, tt := range []struct {
		o     dewpond.BytePoolOptions
		size  int
		limit int64 // bytes
		least int64 // bytes that a full pool keeps: half, or all where blocks lie singly
	}{
		{dewpond.BytePoolOptions{MaxIdlePerClass: 2048}, 128, 2048 * 128, 1024 * 128},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 10}, 128, 10 * 128, 10 * 128},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 1}, 8192, 8192, 8192},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 10}, 64 << 10, 10 * 64 << 10, 10 * 64 << 10},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 128, 1 << 20, 1 << 19},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 8192, 1 << 20, 1 << 19},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 64 << 10, 1 << 20, 1 << 20},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1000}, 128, 1000, 7 * 128},
		{dewpond.BytePoolOptions{MaxIdleBytes: 100}, 128, 0, 0},
		{dewpond.BytePoolOptions{MaxIdleBytes: dewpond.NoIdle}, 128, 0, 0},
		{dewpond.BytePoolOptions{MaxIdlePerClass: dewpond.NoIdle}, 128, 0, 0},
	} {
		t.Run(fmt.Sprintf("%d_of_%d", tt.limit, tt.size), func(t *testing.T) {
			p := newPool(t, tt.o)
			const goroutines, rounds = 512, 4
			each := int(2*tt.limit)/tt.size/goroutines/rounds + max(1, min(10, 64<<10/tt.size))
			for range rounds {
				var wg, held go125.WaitGroup
				start := make(chan struct{})
				held.Add(goroutines)
				for range goroutines {
					wg.Go(func() {
						mine := make([][]byte, each)
						for i := range mine {
							mine[i] = p.Get(tt.size)
						}
						held.Done()
						<-start
						for i, b := range mine {
							p.Put(b)
							if i%8 == 0 {
								p.Put(p.Get(tt.size))
							}
						}
					})
				}
				held.Wait()
				close(start)
				wg.Wait()
				if idle := p.Stats().IdleBytes; idle > tt.limit {
					t.Fatalf("%d bytes are idle, want at most %d", idle, tt.limit)
				}
			}
			s := p.Stats()
			if s.Dropped.Full == 0 {
				t.Fatal("nothing was dropped: the pool was never full, so this test cannot fail")
			}
			got := p.Trim()
			if got > tt.limit || got < tt.least {
				t.Errorf("%d bytes were idle, want %d to %d", got, tt.least, tt.limit)
			}
			if got != s.IdleBytes {
				t.Errorf("Trim released %d bytes, Stats said %d were idle", got, s.IdleBytes)
			}
			if left := dewpond.Reserved(p); left != 0 {
				t.Errorf("%d bytes are still reserved in an empty pool", left)
			}
		})
	}
}

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
		{name: "Pool with Limit", of: burstsOfObjects(dewpond.PoolOptions[[64]byte]{MaxOut: 4096})},
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
					t.Errorf("%d are idle forever", n)
				case tt.left < 0 && (n > b.usual || n < b.usual/2):
					t.Errorf("%d are idle forever, want up to %d", n, b.usual)
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
	p := dewpond.MustPool(dewpond.PoolOptions[[64]byte]{MaxOut: limit})
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
	if s := p.Stats(); s.Dropped.Full > 0 || s.IdleBytes != limit*64 {
		t.Errorf("%d bytes are idle, and %d were dropped", s.IdleBytes, s.Dropped.Full)
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
		if forbidden {
			t.Setenv("DEWPOND_COLLECT", "off")
		}
		synctest.Test(t, func(t *testing.T) {
			b := burstsOfBlocks(dewpond.BytePoolOptions{})(t)
			b.burst(200)
			time.Sleep(2*time.Minute + 10*time.Second)
			synctest.Wait()
			s := b.stats()
			if n := s.Collections; (n > 0) == forbidden || n > 2 || s.IdleBytes > 0 {
				t.Errorf("forbidden %v: %d collections, %d bytes are idle", forbidden, n, s.IdleBytes)
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
				t.Errorf("six bursts of %d allocate %d blocks, want at most %d; %d found no room", n, s.Misses, most, s.Dropped.Full)
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

// undisturbed keeps the garbage collector from emptying second tiers during the test, and goroutines from
// moving to a P that does not find what another has for itself.
func undisturbed(t *testing.T) {
	t.Helper()
	percent, procs := debug.SetGCPercent(-1), runtime.GOMAXPROCS(1)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
	})
}

// losesSome reports whether a sync.Pool drops some of what is put into it, as with -race.
func losesSome(s dewpond.Stats) bool { return !strings.HasPrefix(s.Engine, "pinned") }

// A tierUse is a pool in use: begin takes that many blocks or objects, which end puts back.
type tierUse struct {
	begin func(n int) (end func())
	stats func() dewpond.Stats
}

func useOf[V any](get func() V, put func(V), stats func() dewpond.Stats) tierUse {
	return tierUse{func(n int) func() {
		out := make([]V, n)
		for i := range out {
			out[i] = get()
		}
		return func() {
			for _, v := range out {
				put(v)
			}
		}
	}, stats}
}

// tierPools has a pool of each kind that keeps 64 blocks or objects idle.
func tierPools(t *testing.T) map[string]tierUse {
	const bound = 64
	bytes := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: bound << 10})
	objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: bound})
	slices := newSlices(t, dewpond.SlicePoolOptions[uint64]{Classes: []int{128}, MaxIdleBytes: bound << 10})
	ofBodies := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: bound << 10})
	bodies := ofBodies.Bodies()
	return map[string]tierUse{
		"BytePool":  useOf(func() []byte { return bytes.Get(1000) }, bytes.Put, bytes.Stats),
		"Pool":      useOf(objects.Get, objects.Put, objects.Stats),
		"SlicePool": useOf(func() []uint64 { return slices.Get(100) }, slices.Put, slices.Stats),
		"BodyPool":  useOf(func() []byte { return append(bodies.Get(), "body"...) }, bodies.Put, ofBodies.Stats),
	}
}

// What the bound has no room for is found again, until the garbage collector has freed it.
func TestSecondTier(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	for name, use := range tierPools(t) {
		t.Run(name, func(t *testing.T) {
			undisturbed(t)
			use.begin(1000)()
			before := use.stats()
			if before.Dropped.Full == 0 || before.Recovered != 0 {
				t.Fatalf("%v", before)
			}
			use.begin(1000)()
			s := use.stats()
			d := s.Sub(before)
			if d.Misses != 0 && !losesSome(s) {
				t.Errorf("a second burst allocates %d", d.Misses)
			}
			if d.Recovered == 0 || d.Recovered > d.Hits || s.Gets != s.Hits+s.Misses+s.Oversize || s.InUseBytes != 0 {
				t.Errorf("%+v", s)
			}
			if limit := int64(64 * s.Classes[0].Size); s.IdleBytes > limit {
				t.Errorf("%d bytes are idle, at most %d are allowed", s.IdleBytes, limit)
			}
			runtime.GC()
			runtime.GC()
			before = s
			use.begin(1000)()
			if d := use.stats().Sub(before); d.Recovered != 0 || d.Misses == 0 {
				t.Errorf("after two GC cycles %d were recovered, %d allocated", d.Recovered, d.Misses)
			}
		})
	}
}

// A pool whose blocks must be freed has no second tier, nor one that must not keep any, or is told so.
func TestNoSecondTier(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	bytes := func(o dewpond.BytePoolOptions) func(t *testing.T) tierUse {
		return func(t *testing.T) tierUse {
			o.Classes = []int{1024}
			if o.MaxIdleBytes == 0 {
				o.MaxIdleBytes = 64 << 10
			}
			p := newPool(t, o)
			return useOf(func() []byte { return p.Get(1000) }, p.Put, p.Stats)
		}
	}
	objects := func(o dewpond.PoolOptions[account]) func(t *testing.T) tierUse {
		return func(t *testing.T) tierUse {
			if o.MaxIdle == 0 {
				o.MaxIdle = 64
			}
			p := newObjects(t, o)
			return useOf(p.Get, p.Put, p.Stats)
		}
	}
	for name, makeUse := range map[string]func(t *testing.T) tierUse{
		"Source":               bytes(dewpond.BytePoolOptions{Memory: newFakeSource()}),
		"Budget":               bytes(dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 1<<30)}),
		"NoIdle":               bytes(dewpond.BytePoolOptions{MaxIdleBytes: dewpond.NoIdle}),
		"NoSecondTier":         bytes(dewpond.BytePoolOptions{NoSecondTier: true}),
		"CheckAll":             bytes(dewpond.BytePoolOptions{Check: dewpond.CheckAll}),
		"CheckSampled":         bytes(dewpond.BytePoolOptions{Check: dewpond.CheckSampled}),
		"NoIdle of a Pool":     objects(dewpond.PoolOptions[account]{MaxIdle: dewpond.NoIdle}),
		"Drop":                 objects(dewpond.PoolOptions[account]{Drop: func(*account) {}}),
		"NoSecondTier of Pool": objects(dewpond.PoolOptions[account]{NoSecondTier: true}),
		"CheckAll of a Pool":   objects(dewpond.PoolOptions[account]{Check: dewpond.CheckAll}),
		"NoSecondTier of slices": func(t *testing.T) tierUse {
			p := newSlices(t, dewpond.SlicePoolOptions[*int]{Classes: []int{128}, MaxIdleBytes: 64 << 10, NoSecondTier: true})
			return useOf(func() []*int { return p.Get(100) }, p.Put, p.Stats)
		},
	} {
		t.Run(name, func(t *testing.T) {
			use := makeUse(t)
			use.begin(1000)()
			use.begin(1000)()
			if s := use.stats(); s.Recovered != 0 || s.Misses < 1500 {
				t.Errorf("%d were recovered, %d allocated", s.Recovered, s.Misses)
			}
		})
	}
	t.Run("DEWPOND_TIER=off", func(t *testing.T) {
		t.Setenv("DEWPOND_TIER", "off")
		for name, use := range tierPools(t) {
			use.begin(1000)()
			use.begin(1000)()
			if s := use.stats(); s.Recovered != 0 {
				t.Errorf("%s: %d were recovered", name, s.Recovered)
			}
		}
	})
}

// Trim and Close leave what is in the second tier to the garbage collector, and do not count it as
// released. Nothing goes there from decay or from Trim. High pressure leaves it as it is.
func TestSecondTierIsLeft(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	defer dewpond.SetLevel(pressure.Low)
	o := dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: 64 << 10}
	p := newPool(t, o)
	hold(p, 1000, 1000)
	idle := p.Stats().IdleBytes
	if released := p.Trim(); released != idle {
		t.Errorf("Trim says that it has released %d bytes of %d idle", released, idle)
	}
	hold(p, 1000, 1000)
	if s := p.Stats(); s.Recovered != 0 {
		t.Errorf("after Trim %d were recovered", s.Recovered)
	}
	dewpond.SetLevel(pressure.High)
	hold(p, 1000, 1000)
	dewpond.TrimAsTimer(p)
	before := p.Stats()
	hold(p, 1000, 1000)
	if d := p.Stats().Sub(before); d.Recovered == 0 {
		t.Error("under high pressure none was recovered")
	}
	dewpond.SetLevel(pressure.Low)
	p.Close()
	before = p.Stats()
	hold(p, 1000, 1000)
	if d := p.Stats().Sub(before); d.Recovered != 0 || d.Misses != 1000 || d.Dropped.Closed != 1000 {
		t.Errorf("after Close %+v", d)
	}

	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, IdleTimeout: time.Second})
		hold(p, 1000, 1000)
		time.Sleep(10 * time.Second)
		before := p.Stats()
		hold(p, 1000, 1000)
		if d := p.Stats().Sub(before); before.Trimmed != 1000 || d.Recovered != 0 {
			t.Errorf("after decay of %d blocks %d were recovered", before.Trimmed, d.Recovered)
		}
	})
}

// A pool is collected although the runtime knows its second tier, and an unused pool has none.
func TestSecondTierKeepsNoPoolAlive(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	pool := func() weak.Pointer[dewpond.BytePool] {
		p := must(makePool(dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: 64 << 10, IdleTimeout: dewpond.NoDecay}))
		hold(p, 1000, 1000)
		return weak.Make(p)
	}()
	for pool.Value() != nil { // else the test runs into its timeout
		runtime.GC()
		runtime.Gosched()
	}
}

// A block from the second tier is as Get promises: zero, aligned, with the cap of its class; and slices with
// pointers keep alive what they point to, or are clear.
func TestSecondTierBlocks(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet} {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{300, 1024, 256 << 10}, MaxIdleBytes: 300 << 10, Zero: zero})
		for _, n := range []int{300, 1024, 256 << 10} {
			for range 2 {
				var out [][]byte
				for range 1200 {
					if b := p.Get(n); len(b) != n || cap(b) != n || addressOf(b)%16 != 0 {
						t.Fatalf("len %d, cap %d at %#x for %d bytes", len(b), cap(b), addressOf(b), n)
					} else {
						out = append(out, b)
					}
					if n > 1024 && len(out) == 12 {
						break
					}
				}
				for _, b := range out {
					if b[0]|b[n/2]|b[n-1] != 0 {
						t.Fatalf("%v: a block of %d bytes is not zero", zero, n)
					}
					b[0], b[n/2], b[n-1] = 1, 1, 1
				}
				putAll(p, out)
			}
		}
		if p.Stats().Recovered == 0 {
			t.Error("none was recovered: this shows nothing")
		}
	}
	slices := newSlices(t, dewpond.SlicePoolOptions[*int]{Classes: []int{128}, MaxIdleBytes: 8 << 10, Reset: func([]*int) {}})
	for round := range 2 {
		var out [][]*int
		for range 100 {
			out = append(out, slices.Get(128))
		}
		for i, s := range out {
			if s[7] != nil && *s[7] != 42 || round == 1 && s[7] == nil && !losesSome(slices.Stats()) {
				t.Fatalf("slice %d: %v", i, s[7])
			}
			s[7] = new(int)
			*s[7] = 42
		}
		runtime.GC() // one cycle leaves them
		for _, s := range out {
			slices.Put(s)
		}
	}
}

// TryGet, GetContext and GetBatch look there before AllocRate refuses them, and take no miss for it.
func TestSecondTierBeforeRefusal(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: 2 << 10, AllocRate: 8, IdleTimeout: dewpond.NoDecay})
	if losesSome(p.Stats()) {
		t.Skip("a sync.Pool drops blocks at random")
	}
	putAll(p, useUp(t, p, 1000))
	for range 3 {
		before := p.Stats()
		a, err1 := p.TryGet(1000)
		b, err2 := p.GetContext(t.Context(), 1000)
		batch := make([][]byte, 6)
		err3 := p.GetBatch(t.Context(), batch, 1000)
		if d := p.Stats().Sub(before); err1 != nil || err2 != nil || err3 != nil || d.Misses != 0 || d.Recovered < 4 {
			t.Fatalf("%v, %v, %v: %+v", err1, err2, err3, d)
		}
		putAll(p, append(batch, a, b))
	}
}

// In a bubble of testing/synctest nothing goes to a second tier or comes from it.
func TestSecondTierInBubble(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	if !dewpond.KeepApart(t) {
		t.Skip("this Go does not tell who is in a bubble")
	}
	undisturbed(t)
	for name, use := range tierPools(t) {
		use.begin(1000)()
		before := use.stats()
		synctest.Test(t, func(t *testing.T) {
			use.begin(1000)()
			use.begin(1000)()
		})
		if d := use.stats().Sub(before); d.Recovered != 0 {
			t.Errorf("%s: %d were recovered in a bubble", name, d.Recovered)
		}
	}
}

// A full pool gives way to the size that is asked for: after a burst of large blocks a smaller size
// finds its own, and the other way round.
func TestOneSizeStarvesNoOther(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	for _, c := range []struct{ first, then int }{{64 << 10, 16 << 10}, {1024, 16 << 10}, {64, 64 << 10}} {
		for _, bound := range []int64{8 << 20, 0} {
			if bound == 0 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprint(c, bound), func(t *testing.T) {
				limit := bound
				if limit == 0 {
					limit = 64 << 20
				}
				p := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: bound, Zero: dewpond.ZeroNever, IdleTimeout: dewpond.NoDecay})
				hold(p, c.first, int(limit)/c.first)
				n := int(limit) / 8 / c.then
				var hits float64
				for round := range 40 {
					before := p.Stats()
					hold(p, c.then, n)
					runtime.GC()
					runtime.GC() // so that what it finds is what the pool retains
					if s := p.Stats(); bound > 0 && s.IdleBytes > limit {
						t.Fatalf("round %d: %d bytes are idle, at most %d are allowed", round, s.IdleBytes, limit)
					} else {
						hits = s.Sub(before).HitRate()
					}
				}
				if hits < 0.95 {
					t.Errorf("in the last round %.0f %% of the Gets are hits", 100*hits)
				}
			})
		}
	}
}

// Blocks of a size that comes back and that no Get asks for do not go to the second tier: there they would only
// raise the live heap.
func TestSecondTierTakesWhatIsAskedFor(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator adopts nothing")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 4096}, MaxIdleBytes: 64 << 10, IdleTimeout: dewpond.NoDecay})
	hold(p, 1000, 1000)
	for range 1000 {
		p.Adopt(make([]byte, 4096))
	}
	before := p.Stats()
	hold(p, 4000, 100)
	if d := p.Stats().Sub(before); d.Recovered > 0 {
		t.Errorf("of blocks that were adopted %d were recovered", d.Recovered)
	}
}

// Room for a small block costs a pool with a small bound little, and a pool with AllocRate, which may not
// allocate again what gave way, nothing.
func TestFewGiveWay(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	for _, bound := range []int{64 << 10, 128 << 10, 8 << 20} {
		for _, limit := range []int{0, 1000} {
			size := bound / 8
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, size}, MaxIdleBytes: int64(bound), AllocRate: limit, IdleTimeout: dewpond.NoDecay})
			hold(p, size, 8)
			before := p.Stats().IdleBytes
			hold(p, 1024, 2)
			least := before / 2
			if limit > 0 {
				least = before
			}
			if s := p.Stats(); s.IdleBytes < least {
				t.Errorf("bound %d, AllocRate %d: %d bytes of %d are idle after two Puts of 1 KiB", bound, limit, s.IdleBytes, before)
			}
		}
	}
}

// A block gives way only where that makes room.
func TestNoneGivesWayInVain(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 256 << 10}, MaxIdleBytes: 1 << 20, IdleTimeout: dewpond.NoDecay})
	hold(p, 64, 16384)
	for range 10 {
		hold(p, 256<<10, 1)
	}
	if s := p.Stats(); s.Trimmed > 0 {
		t.Errorf("%d blocks of 64 bytes were moved for one of 256 KiB that found no room", s.Trimmed)
	}
}

// Under high pressure a pool in use keeps what it needs at once. In one that is not used nothing stays idle.
func TestTrimOfDecayLeavesPoolInUse(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, IdleTimeout: dewpond.NoDecay})
	q := newObjects(t, dewpond.PoolOptions[[1024]byte]{IdleTimeout: dewpond.NoDecay})
	for _, of := range []struct {
		tierUse
		trim func() bool
	}{
		{useOf(func() []byte { return p.Get(1024) }, p.Put, p.Stats), func() bool { return dewpond.TrimAsTimer(p) }},
		{useOf(q.Get, q.Put, q.Stats), func() bool { return dewpond.TrimAsTimer(q) }},
	} {
		of.begin(1000)()
		before := of.stats()
		if of.trim() {
			t.Error("a pool in use was trimmed")
		}
		of.begin(1000)()
		if d := of.stats().Sub(before); d.Trimmed != 0 || d.Misses != 0 && !losesSome(before) {
			t.Errorf("%d were trimmed, and %d allocated", d.Trimmed, d.Misses)
		}
		if of.trim() || !of.trim() {
			t.Error("a pool was trimmed that has been used since the last tick, or not trimmed although it was not")
		}
		if s := of.stats(); s.IdleBytes != 0 {
			t.Errorf("%d bytes stay idle in a pool that is not used", s.IdleBytes)
		}
	}
}

// What is called after each GC cycle allocates nothing. At the memory limit that would begin the next cycle, and two
// of them empty the second tier.
func TestNothingIsAllocatedAfterACollection(t *testing.T) {
	notWatched(t, "a check of a block allocates")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}})
	q := newObjects(t, dewpond.PoolOptions[[1024]byte]{})
	use := func() { // so that there are slots that point to blocks they gave out
		b, o := p.Get(1024), q.Get()
		dewpond.AfterCollection()
		p.Put(b)
		q.Put(o)
	}
	use()
	if n := testing.AllocsPerRun(100, use); n != 0 && !losesSome(p.Stats()) {
		t.Errorf("%v allocations after a GC cycle", n)
	}
}

// Decay asks what the second tiers of all pools have, objects by the bytes of their type.
func TestSecondTiersOfAllPools(t *testing.T) {
	notWatched(t, "a pool with Check has no second tier")
	onlyOnHeap(t, "an Allocator's blocks must be freed")
	undisturbed(t)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: 64 << 10})
	q := newObjects(t, dewpond.PoolOptions[[512]byte]{MaxIdle: 64})
	before := dewpond.Spilled()
	hold(p, 1000, 1000)
	useOf(q.Get, q.Put, q.Stats).begin(1000)()
	want := int64(p.Stats().Dropped.Full)*1024 + int64(q.Stats().Dropped.Full)*512
	if got := dewpond.Spilled() - before; got != want || want == 0 {
		t.Errorf("second tiers have %d bytes more, want %d", got, want)
	}
}

// BenchmarkBeyondBound has bursts of four times as many blocks and objects as the pool may keep idle,
// compared with a sync.Pool. The second tier takes three quarters of each burst. No GC cycle
// comes between, so both find all of them.
func BenchmarkBeyondBound(b *testing.B) {
	const burst = 4096
	for _, size := range []int{128, 4096, 64 << 10} {
		n := burst
		if size > 4096 {
			n /= 8
		}
		b.Run(fmt.Sprint("bytes/", size), func(b *testing.B) {
			p := newPool(b, dewpond.BytePoolOptions{MaxIdleBytes: int64(n * size / 4), Zero: dewpond.ZeroNever})
			theirs := sync.Pool{New: func() any { s := make([]byte, size); return &s }}
			blocks, control := make([][]byte, n), make([]*[]byte, n)
			compareRoundsOf(b, n, func(int) {
				for i := range blocks {
					blocks[i] = p.Get(size)
				}
				for i := range blocks {
					p.Put(blocks[i])
				}
			}, func(int) {
				for i := range control {
					control[i] = theirs.Get().(*[]byte)
				}
				for i := range control {
					theirs.Put(control[i])
				}
			})
		})
	}
	b.Run("objects", func(b *testing.B) {
		type object struct{ _ [128]byte }
		p := dewpond.MustPool(dewpond.PoolOptions[object]{MaxIdle: burst / 4, Reset: func(*object) {}})
		defer p.Close()
		theirs := sync.Pool{New: func() any { return new(object) }}
		var objects, control [burst]*object
		compareRoundsOf(b, burst, func(int) {
			for i := range objects {
				objects[i] = p.Get()
			}
			for i := range objects {
				p.Put(objects[i])
			}
		}, func(int) {
			for i := range control {
				control[i] = theirs.Get().(*object)
			}
			for i := range control {
				theirs.Put(control[i])
			}
		})
	})
}

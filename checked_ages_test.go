package dewpond_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// Without Check a pool has no Sampled.
func TestNothingIsSampledWithoutCheck(t *testing.T) {
	notWatched(t, "they have Check")
	t.Setenv("DEWPOND_CHECK", "off")
	if p, objects := newPool(t, dewpond.BytePoolOptions{}), newObjects(t, dewpond.PoolOptions[account]{}); p.Stats().Sampled != nil || objects.Stats().Sampled != nil {
		t.Error("a pool without Check has Sampled")
	}
}

// within reports whether a quantile's bounds are around a value.
func within(t *testing.T, what string, h dewpond.Histogram, q float64, v int64) {
	t.Helper()
	if above, upTo := h.Quantile(q); v <= above || v > upTo {
		t.Errorf("%s: quantile %v is above %d, up to %d; want %d", what, q, above, upTo, v)
	}
}

// Ages are true ones: from Get to Put, and from Put until the next Get or until the block is let go. The pools have
// no quarantine.
func TestAges(t *testing.T) {
	for _, mode := range []string{"sampled=1/1", "all"} {
		t.Setenv("DEWPOND_CHECK", mode)
		synctest.Test(t, func(t *testing.T) {
			blocks := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdlePerClass: 4, IdleTimeout: dewpond.NoDecay})
			slices := dewpond.MustSlicePool(dewpond.SlicePoolOptions[int64]{Classes: []int{128}, MaxIdlePerClass: 4, IdleTimeout: dewpond.NoDecay})
			defer slices.Close()
			objects := newObjects(t, dewpond.PoolOptions[account]{Limit: 4, IdleTimeout: dewpond.NoDecay})
			for _, of := range []struct {
				name string
				pool interface {
					dewpond.StatsSource
					Trim() int64
				}
				get func() (put func())
			}{
				{"BytePool", blocks, func() func() { b := blocks.Get(1000); return func() { blocks.Put(b) } }},
				{"BytePool, Lease", blocks, func() func() { l := blocks.Lease(1000); return func() { l.Release() } }},
				{"SlicePool", slices, func() func() { s := slices.Get(100); return func() { slices.Put(s) } }},
				{"Pool", objects, func() func() { v := objects.Get(); return func() { objects.Put(v) } }},
			} {
				of.pool.Trim()
				before := of.pool.Stats().Sampled
				for range 3 {
					put := of.get()
					time.Sleep(time.Second)
					put()
					time.Sleep(3 * time.Second)
				}
				of.pool.Trim()
				got := of.pool.Stats().Sampled.Sub(before)
				if got.Watched != 3 || got.Out.Count() != 3 || got.Idle.Count() != 3 ||
					got.Out.Sum != uint64(3*time.Second) || got.Idle.Sum != uint64(9*time.Second) {
					t.Errorf("%s, %s: %d watched, %d out for %d ns, %d idle for %d ns; want 3 for 3 s and for 9 s", mode, of.name,
						got.Watched, got.Out.Count(), got.Out.Sum, got.Idle.Count(), got.Idle.Sum)
				}
				within(t, of.name+" out", got.Out, 0.5, int64(time.Second))
				within(t, of.name+" idle", got.Idle, 0.9, int64(3*time.Second))
			}
			before := objects.Stats().Sampled
			objects.Put(new(account)) // which was never out
			if n := objects.Stats().Sampled.Sub(before).Out.Count(); n != 0 {
				t.Errorf("%s: %d out, of an object that the pool did not have", mode, n)
			}
		})
	}
}

// What was seen inside a bubble and outside of it counts together.
func TestAgesOfParts(t *testing.T) {
	keepApart(t)
	t.Setenv("DEWPOND_CHECK", "all")
	p := newObjects(t, dewpond.PoolOptions[struct{ next *int }]{Limit: 4}) // without quarantine
	use := func() {
		p.Put(p.Get())
		p.Put(p.Get())
	}
	use()
	synctest.Test(t, func(*testing.T) { use() })
	if s := p.Stats().Sampled; s.Watched != 4 || s.Out.Count() != 4 || s.Idle.Count() != 1 || s.Asked.Count() != 0 { // inside nothing is kept
		t.Errorf("%d watched, %d out, %d idle", s.Watched, s.Out.Count(), s.Idle.Count())
	}
}

// Every way to ask for bytes counts once, with what was asked for.
func TestAskedFor(t *testing.T) {
	onlyOnHeap(t, "it has a BodyPool")
	for _, mode := range []string{"sampled=1/1", "all"} {
		t.Setenv("DEWPOND_CHECK", mode)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 65536}})
		elements := dewpond.MustSlicePool(dewpond.SlicePoolOptions[int64]{MaxIdlePerClass: 1000}) // no quarantine, so the second Get is a hit
		defer elements.Close()
		bodies := p.Bodies()
		for _, of := range []struct {
			name string
			pool dewpond.StatsSource
			ask  func()
			want []int64
		}{
			{"a miss and a hit", p, func() { p.Put(p.Get(700)); p.Put(p.Get(700)) }, []int64{700, 700}},
			{"large", p, func() { p.Put(p.Get(50_000)); p.Put(p.Get(50_000)) }, []int64{50_000, 50_000}},
			{"nothing", p, func() { p.Put(p.Get(0)) }, nil},
			{"above the largest class", p, func() { p.Put(p.Get(1 << 20)) }, []int64{1 << 20}},
			{"TryGet", p, func() { b, _ := p.TryGet(600); p.Put(b) }, []int64{600}},
			{"GetContext", p, func() { b, _ := p.GetContext(context.Background(), 500); p.Put(b) }, []int64{500}},
			{"GetBatch", p, func() {
				var batch [3][]byte
				if err := p.GetBatch(context.Background(), batch[:], 400); err != nil {
					t.Error(err)
				}
				for _, b := range batch {
					p.Put(b)
				}
			}, []int64{400, 400, 400}},
			{"GetBatch above the largest class", p, func() {
				var batch [3][]byte
				if err := p.GetBatch(context.Background(), batch[:], 1<<20); err != nil {
					t.Error(err)
				}
			}, []int64{1 << 20, 1 << 20, 1 << 20}},
			{"Lease", p, func() { p.Lease(300).Release(); p.Lease(300).Release() }, []int64{300, 300}},
			{"Buffer", p, func() { b := p.TryBuffer(); _, _ = b.Write(make([]byte, 5000)); b.Release() }, []int64{5000}},
			{"Scope", p, func() { s := p.Scope(); _, _ = s.TryGet(100); s.Close() }, []int64{8192}},
			{"bodies", p, func() { bodies.Put(append(bodies.Get(), make([]byte, 200)...)); bodies.Put(bodies.Get()) }, []int64{200}},
			{"SlicePool", elements, func() { elements.Put(elements.Get(100)); elements.Put(elements.Get(100)) }, []int64{800, 800}},
		} {
			before := of.pool.Stats().Sampled
			of.ask()
			got := of.pool.Stats().Sampled.Sub(before).Asked
			sum := int64(0)
			for _, n := range of.want {
				sum += n
			}
			if got.Count() != uint64(len(of.want)) || got.Sum != uint64(sum) {
				t.Errorf("%s, %s: %d of %d bytes, want %v", mode, of.name, got.Count(), got.Sum, of.want)
			}
		}
		objects := newObjects(t, dewpond.PoolOptions[account]{})
		objects.Put(objects.Get())
		if n := objects.Stats().Sampled.Asked.Count(); n != 0 {
			t.Errorf("%s: a Pool was asked for %d sizes", mode, n)
		}
	}
}

// The quantiles of a sample are those of all, to a bucket beside the right one.
func TestSampleStandsForAll(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/16")
	p := newPool(t, dewpond.BytePoolOptions{})
	random := rand.New(rand.NewPCG(1, 2))
	var all []int
	for range 64_000 { // 4000 of the sample: P90 may be off by 2 % of the ranks, a bucket has 2.5 %
		n := int(64 * math.Exp2(10*random.Float64()))
		all = append(all, n)
		p.Put(p.Get(n))
	}
	slices.Sort(all)
	asked := p.Stats().Sampled.Asked
	if n := asked.Count(); n < 3000 || n > 5000 {
		t.Errorf("%d Gets were sampled, want 4000", n)
	}
	for _, q := range []float64{0.5, 0.9} {
		truth := float64(all[int(q*float64(len(all)))])
		if above, upTo := asked.Quantile(q); truth <= float64(above)/1.25 || truth > float64(upTo)*1.25 {
			t.Errorf("quantile %v is above %d, up to %d; it is %v", q, above, upTo, truth)
		}
	}
}

// In a pool with a quarantine, too, the times idle are those of blocks that are not watched: here each is used again
// after a millisecond.
func TestIdleIsThatOfOthers(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/16")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that each Put is to where the next Get looks
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, IdleTimeout: dewpond.NoDecay})
		objects := newObjects(t, dewpond.PoolOptions[account]{IdleTimeout: dewpond.NoDecay})
		for name, of := range map[string]struct {
			pool dewpond.StatsSource
			use  func()
		}{
			"BytePool": {p, func() { p.Put(p.Get(1000)) }},
			"Pool":     {objects, func() { objects.Put(objects.Get()) }},
		} {
			for range 20_000 {
				of.use()
				time.Sleep(time.Millisecond)
			}
			idle := of.pool.Stats().Sampled.Idle
			if idle.Count() < 50 {
				t.Errorf("%s: %d were seen idle", name, idle.Count())
			}
			within(t, name, idle, 0.5, int64(time.Millisecond))
			within(t, name, idle, 0.9, int64(time.Millisecond))
		}
	})
}

// What a pool does not keep was never idle.
func TestDroppedIsNotIdle(t *testing.T) {
	onlyOnHeap(t, "blocks off the heap are watched there as here")
	for _, mode := range []string{"sampled=1/1", "all"} {
		t.Setenv("DEWPOND_CHECK", mode)
		none := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: dewpond.NoIdle})
		objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: dewpond.NoIdle})
		few := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 1, AllocLimit: 1000})
		closed := newPool(t, dewpond.BytePoolOptions{})
		var held, late [][]byte
		for range 10 {
			none.Put(none.Get(1000))
			objects.Put(objects.Get())
			held, late = append(held, few.Get(1000)), append(late, closed.Get(1000))
		}
		if err := closed.Close(); err == nil && len(late) == 0 {
			t.Error(err)
		}
		for i := range held {
			few.Put(held[i])
			closed.Put(late[i])
		}
		for name, pool := range map[string]dewpond.StatsSource{"NoIdle": none, "a Pool with NoIdle": objects, "closed": closed} {
			if s := pool.Stats(); s.Sampled.Idle.Count() != 0 || s.Sampled.Out.Count() != 10 {
				t.Errorf("%s, %s: %d times idle and %d out, want 0 and 10", mode, name, s.Sampled.Idle.Count(), s.Sampled.Out.Count())
			}
		}
		if s := few.Stats(); s.DroppedFull == 0 || s.Sampled.Idle.Count() != 0 && mode != "all" {
			t.Errorf("%s, full: %d times idle, %d dropped", mode, s.Sampled.Idle.Count(), s.DroppedFull)
		}
	}
}

// Stats come through gob and JSON whole, as a program sends them to another.
func TestSampledIsEncoded(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "all")
	p := newPool(t, dewpond.BytePoolOptions{})
	p.Put(p.Get(700))
	want := p.Stats()
	var byGob, byJSON dewpond.Stats
	var stream bytes.Buffer
	if err := errors.Join(gob.NewEncoder(&stream).Encode(want), gob.NewDecoder(&stream).Decode(&byGob)); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err := errors.Join(err, json.Unmarshal(text, &byJSON)); err != nil {
		t.Fatal(err)
	}
	if *byGob.Sampled != *want.Sampled || *byJSON.Sampled != *want.Sampled || want.Sampled.Asked.Count() != 1 {
		t.Error("what was sent has another Sampled")
	}
}

// With CheckSampled a Get that is not watched itself still ends the idle time of a block that was.
func TestIdleEndsWithAnyGet(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/8")
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 1 << 17}, MaxIdlePerClass: 100, IdleTimeout: dewpond.NoDecay}) // without quarantine
	elements := dewpond.MustSlicePool(dewpond.SlicePoolOptions[byte]{Classes: []int{1024}, MaxIdlePerClass: 100, IdleTimeout: dewpond.NoDecay})
	defer elements.Close()
	objects := newObjects(t, dewpond.PoolOptions[account]{Limit: 100, IdleTimeout: dewpond.NoDecay})
	for name, of := range map[string]struct {
		pool dewpond.StatsSource
		use  func()
	}{
		"Get":       {p, func() { p.Put(p.Get(1000)) }},
		"large":     {p, func() { p.Put(p.Get(100_000)) }},
		"TryGet":    {p, func() { b, _ := p.TryGet(1000); p.Put(b) }},
		"Lease":     {p, func() { p.Lease(1000).Release() }},
		"SlicePool": {elements, func() { elements.Put(elements.Get(1000)) }},
		"Pool":      {objects, func() { objects.Put(objects.Get()) }},
	} {
		before := of.pool.Stats().Sampled
		for range 8000 {
			of.use()
		}
		got := of.pool.Stats().Sampled.Sub(before)
		// As many as are idle may have no end yet, or be of an earlier use.
		if out, idle := got.Out.Count(), got.Idle.Count(); out < 500 || idle+64 < out || idle > out+64 {
			t.Errorf("%s: %d were out, and %d idle", name, out, idle)
		}
	}
}

// What a Histogram says is what was counted.
func TestHistogram(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "all")
	p := newPool(t, dewpond.BytePoolOptions{})
	var h dewpond.Histogram
	if above, upTo := h.Quantile(0.5); above != 0 || upTo != 0 || h.Count() != 0 || h.Sum != 0 || h.AtMost(math.MaxInt64) != 0 {
		t.Errorf("an empty Histogram has %d up to %d", above, upTo)
	}
	for n := 1; n <= 1000; n++ {
		p.Put(p.Get(n))
	}
	h = p.Stats().Sampled.Asked
	if h.Count() != 1000 || h.Sum != 500_500 {
		t.Errorf("%d values, sum %d", h.Count(), h.Sum)
	}
	for _, v := range []int64{1, 2, 64, 80, 96, 112, 128, 512, 1024} {
		if n := h.AtMost(v); n != uint64(min(v, 1000)) {
			t.Errorf("%d are at most %d", n, v)
		}
	}
	if n := h.AtMost(100); n != 96 { // 100 is in a bucket up to 112
		t.Errorf("%d are at most 100", n)
	}
	within(t, "1 to 1000", h, 0, 1)
	within(t, "1 to 1000", h, 0.5, 500)
	within(t, "1 to 1000", h, 0.9, 900)
	within(t, "1 to 1000", h, 1, 1000)
	p.Put(p.Get(3000))
	since := p.Stats().Sampled.Asked.Sub(h)
	if since.Count() != 1 || since.Sum != 3000 {
		t.Errorf("since then %d values, sum %d", since.Count(), since.Sum)
	}
	within(t, "since", since, 0.5, 3000)
}

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
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// An objectOffence is an offence in a Pool.
type objectOffence struct {
	name, kind        string
	got, put, offence string
	options           dewpond.PoolOptions[account]
	commit            func(p *dewpond.Pool[account])
}

//go:noinline
func getObjectHere(p *dewpond.Pool[account]) *account { return p.Get() }

//go:noinline
func putObjectHere(p *dewpond.Pool[account], v *account) { p.Put(v) }

// objectOffences is what CheckAll promises to catch in a Pool.
var objectOffences = []objectOffence{
	{name: "double Put", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put out of quarantine", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		all := make([]*account, 1000)
		for i := range all { // v is among them, where a collection has emptied the quarantine
			all[i] = getObjectHere(p)
		}
		for _, v := range all {
			putObjectHere(p, v)
		}
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put of a stranger", kind: "double Put", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := new(account)
		putObjectHere(p, v)
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put, with MaxOut", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere",
		options: dewpond.PoolOptions[account]{MaxOut: 3}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			putObjectHere(p, v)
			offendHere(func() { p.Put(v) })
		}},
	{name: "write after Put, found by Get", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.Email = "late"
		offendHere(func() {
			for range 1000 {
				p.Put(p.Get())
			}
		})
	}},
	{name: "write after Put, found by TryGet, with MaxOut", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere",
		options: dewpond.PoolOptions[account]{MaxOut: 3, Reset: func(v *account) { v.ID = 0 }}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			v.Name = "stays"
			putObjectHere(p, v)
			v.ID++
			offendHere(func() { must(p.TryGet()) })
		}},
	{name: "write after Put, found by Trim", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.ID++
		p.Trim()
	}},
	{name: "write after Put, found by Trim, out of quarantine", kind: "write after Put", got: "getObjectHere", put: "putObjectHere",
		options: dewpond.PoolOptions[account]{MaxIdle: 2}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			putObjectHere(p, v)
			v.ID++
			p.Trim()
		}},
	{name: "write after Put, found by Close", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.ID++
		p.Close()
	}},
	{name: "leak", kind: "leak", got: "getObjectHere", commit: func(p *dewpond.Pool[account]) {
		getObjectHere(p)
		untilCaught()
	}},
}

// Each offence is caught, as in TestOffencesAreCaught.
func TestPoolOffencesAreCaught(t *testing.T) {
	for _, o := range objectOffences {
		t.Run(o.name, func(t *testing.T) {
			expectCaught(t, o.kind, o.got, o.put, o.offence, func(tell func(misuse.Violation)) {
				o.options.OnViolation = tell
				p := dewpond.MustPool(o.options)
				defer p.Close()
				o.commit(p)
			})
		})
	}
}

// Of correct use nothing is reported, whatever it is, and the counts are right.
func TestCorrectUseOfAPoolIsNotReported(t *testing.T) {
	onlyOnHeap(t, "objects have no other memory")
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	reset := func(v *account) { v.ID, v.Email = 0, "" }
	for name, o := range map[string]dewpond.PoolOptions[account]{
		"zero":      {},
		"small":     {MaxIdle: 5},
		"none":      {MaxIdle: dewpond.NoIdle},
		"new":       {New: func() *account { return &account{Name: "new"} }, Reset: reset},
		"keep":      {Keep: func(v *account) bool { return v.ID%7 != 0 }},
		"limit":     {MaxOut: 6},
		"all of it": {MaxOut: 6, MaxIdle: 9, Keep: func(v *account) bool { return v.ID%7 != 0 }, Reset: reset, Drop: func(v *account) { v.Email = "dropped" }},
	} {
		for _, mode := range []dewpond.CheckMode{dewpond.CheckAll, dewpond.CheckSampled} {
			if mode == dewpond.CheckSampled {
				t.Setenv("DEWPOND_CHECK", "sampled=1/4")
			} else {
				t.Setenv("DEWPOND_CHECK", "")
			}
			o.Check = mode
			o.OnViolation = func(v misuse.Violation) { t.Error(v) }
			p := newObjects(t, o)
			var wg go125.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range rounds {
						a, b := p.Get(), must(p.GetContext(context.Background()))
						c, err := p.TryGet()
						a.ID, b.ID, b.Email = g+i, i, "somebody"
						p.Put(b)
						if err == nil {
							p.Put(c)
						}
						p.Put(a)
						if i%100 == 0 && o.MaxOut == 0 {
							p.Put(new(account)) // a stranger is welcome
						}
						if i%1000 == 0 {
							p.Trim()
							runtime.GC()
						}
					}
				})
			}
			wg.Wait()
			s := p.Stats()
			// An object that a collection's tick has in hand may be counted twice. If there
			// are more, the test runs into its timeout.
			for o.MaxIdle > 0 && s.Classes[0].Idle > o.MaxIdle {
				time.Sleep(time.Millisecond)
				s = p.Stats()
			}
			if s.InUseBytes != 0 || s.Violations != 0 || s.Dropped.Double != 0 || s.Puts < s.Gets {
				t.Errorf("%s, mode %d: %+v", name, mode, s)
			}
			p.Trim()
			for p.Stats().IdleBytes != 0 { // a collection's tick had it on its way out of quarantine
				time.Sleep(time.Millisecond)
				p.Trim()
			}
			if s := p.Stats(); s.Trimmed+s.Dropped.Full+s.Dropped.ByKeep+s.Hits < s.Puts {
				t.Errorf("%s, mode %d, after Trim: %+v", name, mode, s)
			}
		}
	}
}

// A second Put is refused and counted: nobody resets or drops the object, and in a
// pool with MaxOut it does not come back twice.
func TestPoolRefusesDoublePut(t *testing.T) {
	resets, drops, reports := 0, 0, 0
	p := newObjects(t, dewpond.PoolOptions[account]{
		MaxOut: 2, Check: dewpond.CheckAll,
		Reset: func(*account) { resets++ }, Drop: func(*account) { drops++ },
		OnViolation: func(v misuse.Violation) { reports++ },
	})
	a, b := must(p.TryGet()), must(p.TryGet())
	p.Put(a)
	p.Put(a)
	p.Put(a)
	a = must(p.TryGet())
	if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("with two out: %v", err)
	}
	s := p.Stats()
	if resets != 1 || drops != 0 || reports != 2 || s.Dropped.Double != 2 || s.Violations != 2 || s.Puts != 3 || s.InUseBytes != 2*int64(s.Classes[0].Size) {
		t.Errorf("%d resets, %d drops, %d reports, %+v", resets, drops, reports, s)
	}
	p.Put(a)
	p.Put(b)
}

// An object whose Keep, Reset or Drop panics, or that is dropped, is watched no more,
// and can come back as any stranger.
func TestPoolForgetsWhatItDrops(t *testing.T) {
	var fail string
	panicIn := func(where string) {
		if fail == where {
			panic(where)
		}
	}
	for _, limit := range []int{0, 1} {
		p := newObjects(t, dewpond.PoolOptions[account]{
			MaxOut: limit, Check: dewpond.CheckAll,
			Keep:        func(v *account) bool { panicIn("keep"); v.Name = "kept"; return fail != "refuse" },
			Reset:       func(v *account) { panicIn("reset"); v.ID++ },
			Drop:        func(v *account) { panicIn("drop"); v.Name = "dropped" },
			OnViolation: func(v misuse.Violation) { t.Error(v) },
		})
		for _, fail = range []string{"keep", "reset", "drop", "refuse", ""} {
			v := p.Get()
			for range 2 {
				func() {
					defer func() { recover() }()
					if p.Put(v); fail == "drop" {
						p.Trim()
					}
				}()
				if fail == "" {
					break
				}
			}
		}
		fail = ""
		if s := p.Stats(); s.Dropped.Double != 0 || s.Dropped.ByKeep != 2 {
			t.Errorf("%+v", s)
		}
	}
}

// One in so many is watched, and what it catches is the same.
func TestSampledPoolCatches(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/4")
	found := map[misuse.Kind]int{}
	p := newObjects(t, dewpond.PoolOptions[account]{IdleTimeout: dewpond.NoDecay, OnViolation: func(v misuse.Violation) {
		found[v.Kind]++
		if v.Size == 0 || !strings.HasPrefix(v.Pool, t.Name()) || v.Got == nil || v.Put == nil {
			t.Error(v)
		}
	}})
	const rounds = 4000
	for i := range rounds {
		v := p.Get()
		p.Put(v)
		if i%2 == 0 {
			v.ID++ // too late
		}
	}
	p.Trim()
	if n := found[misuse.WriteAfterPut]; n < rounds/16 || n > rounds/4 || p.Stats().Violations != uint64(n) {
		t.Errorf("of %d late writes to one in four: %v", rounds/2, found)
	}
}

// A mode that is none is not accepted, and without one nothing is watched.
func TestPoolCheckModes(t *testing.T) {
	if text := panics(func() { dewpond.MustPool(dewpond.PoolOptions[account]{Check: dewpond.CheckAll + 1}) }); !strings.Contains(text, "Check 3") {
		t.Errorf("panics with %q", text)
	}
	for env, watched := range map[string]bool{"": true, "off": false, "all": true, "ALL": false} {
		t.Setenv("DEWPOND_CHECK", env)
		n := 0
		p := newObjects(t, dewpond.PoolOptions[account]{Check: dewpond.CheckAll, OnViolation: func(misuse.Violation) { n++ }})
		v := p.Get()
		p.Put(v)
		v.ID++
		p.Trim()
		if (n == 1) != watched {
			t.Errorf("%q: %d violations", env, n)
		}
	}
}

// Without Check a pool has no Sampled.
func TestNothingIsSampledWithoutCheck(t *testing.T) {
	notWatched(t, "they have Check")
	t.Setenv("DEWPOND_CHECK", "off")
	if p, objects := newPool(t, dewpond.BytePoolOptions{}), newObjects(t, dewpond.PoolOptions[account]{}); p.Stats().Sampled != nil || objects.Stats().Sampled != nil {
		t.Error("a pool without Check has Sampled")
	}
}

// within reports whether a quantile's bounds are around a value.
func within(t *testing.T, what string, h misuse.Histogram, q float64, v int64) {
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
			objects := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 4, IdleTimeout: dewpond.NoDecay})
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
	p := newObjects(t, dewpond.PoolOptions[struct{ next *int }]{MaxOut: 4}) // without quarantine
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
		few := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 1, AllocRate: 1000})
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
		if s := few.Stats(); s.Dropped.Full == 0 || s.Sampled.Idle.Count() != 0 && mode != "all" {
			t.Errorf("%s, full: %d times idle, %d dropped", mode, s.Sampled.Idle.Count(), s.Dropped.Full)
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
	objects := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 100, IdleTimeout: dewpond.NoDecay})
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
	var h misuse.Histogram
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

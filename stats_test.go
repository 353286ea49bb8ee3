package dewpond_test

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// Every count, by hand, in a quiet pool.
func TestStatsAreExactWhenQuiet(t *testing.T) {
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection may move the stack, by which the engine with locks finds a shard
	synctest.Test(t, statsAreExactWhenQuiet)         // where no second ends, after which AllocRate allows more
}

func statsAreExactWhenQuiet(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{MaxIdlePerClass: 4, AllocRate: 3})
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
		Refused: 1, OverAllocRate: 1,
		Dropped:   dewpond.DropStats{Full: 1, Foreign: 1, Oversize: 1},
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
	if s := p.Stats(); s.InUseBytes != 0 || offHeap && s.Dropped.Foreign != 1 {
		t.Errorf("InUseBytes %d, want 0; Dropped.Foreign %d", s.InUseBytes, s.Dropped.Foreign)
	}
	p.Get(100)
	if s := p.Stats(); s.InUseBytes != 128 {
		t.Errorf("InUseBytes %d, want 128", s.InUseBytes)
	}
}

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
	limited := dewpond.MustPool(dewpond.PoolOptions[[32]byte]{Name: t.Name(), MaxOut: 10})
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
	}{{"BytePool", bytes.Stats(), n}, {"SlicePool", slices.Stats(), n}, {"Pool", objects.Stats(), n}, {"Pool with MaxOut", limited.Stats(), 0}} {
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

// backward returns the counts of a later Stats that are less than in an earlier one.
func backward(earlier, later dewpond.Stats) (back []string) {
	look := func(name string, a, b reflect.Value) {
		switch {
		case a.Kind() == reflect.Uint64 && b.Uint() < a.Uint():
			back = append(back, fmt.Sprintf("%s %d -> %d", name, a.Uint(), b.Uint()))
		case (name == "ReleasedBytes" || name == "OffHeap.Decommitted") && b.Int() < a.Int():
			back = append(back, fmt.Sprintf("%s %d -> %d", name, a.Int(), b.Int()))
		}
	}
	all := func(prefix string, a, b reflect.Value) {
		for i := range a.NumField() {
			look(prefix+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	}
	all("", reflect.ValueOf(earlier), reflect.ValueOf(later))
	for i := range earlier.Classes {
		all(fmt.Sprint(earlier.Classes[i].Size, " "), reflect.ValueOf(earlier.Classes[i]), reflect.ValueOf(later.Classes[i]))
	}
	return back
}

// checkModes are the modes of checking, as DEWPOND_CHECK says them.
var checkModes = []string{"off", "sampled=1/4", "sampled=1/1", "all"}

// What leaves quarantine while Stats looks is counted no less by the next Stats, wherever
// it goes.
func TestCountsNeverGoBackFromQuarantine(t *testing.T) {
	for _, mode := range []string{"sampled=1/1", "all"} {
		t.Setenv("DEWPOND_CHECK", mode)
		for _, maxIdle := range []int{64, 4} { // with 4, one is in quarantine and the engine has no room for all
			blocks := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, MaxIdleBytes: int64(maxIdle) << 10, IdleTimeout: dewpond.NoDecay})
			objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: maxIdle, IdleTimeout: dewpond.NoDecay})
			ways := []func(){
				func() { dewpond.EndQuarantines(blocks); dewpond.EndQuarantines(objects) },
				func() { blocks.Trim(); objects.Trim() },
				func() { // what is put back makes the others leave
					for range 3 {
						fillQuarantine(blocks, objects)
					}
				},
				func() { blocks.Close(); objects.Close() },
			}
			for i, way := range ways {
				for _, p := range []dewpond.StatsSource{blocks, objects} {
					fillQuarantine(blocks, objects)
					dewpond.DuringStats(p, way)
					during := p.Stats()
					dewpond.DuringStats(p, nil)
					after := p.Stats()
					if back := backward(during, after); back != nil {
						t.Errorf("%s, room for %d, way %d: %T: %v, and Sub has Puts %d", mode, maxIdle, i, p, back, after.Sub(during).Puts)
					}
					if after.Puts != after.Gets || after.InUseBytes != 0 {
						t.Errorf("%s, room for %d, way %d: %T: %+v", mode, maxIdle, i, p, after)
					}
				}
			}
		}
	}
}

// fillQuarantine gets and puts back as many as the quarantine of either pool holds.
func fillQuarantine(blocks *dewpond.BytePool, objects *dewpond.Pool[account]) {
	var b [][]byte
	var v []*account
	for range 16 {
		b, v = append(b, blocks.Get(1000)), append(v, objects.Get())
	}
	for i := range b {
		blocks.Put(b[i])
		objects.Put(v[i])
	}
}

// Nor does any count go back while many use the pool, and it is trimmed.
func TestCountsNeverGoBack(t *testing.T) {
	needsThreads(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for _, mode := range checkModes {
		t.Setenv("DEWPOND_CHECK", mode)
		blocks := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20, OnViolation: func(misuse.Violation) {}})
		objects := newObjects(t, dewpond.PoolOptions[account]{MaxIdle: 100, OnViolation: func(misuse.Violation) {}})
		limited := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 3, OnViolation: func(misuse.Violation) {}})
		var users go125.WaitGroup
		var ended atomic.Bool
		for g := range 3 {
			users.Go(func() {
				for i := range rounds {
					b := blocks.Get(100 << (i % 6))
					v := objects.Get()
					w, _ := limited.TryGet()
					if i%1000 == 0 && g == 0 {
						blocks.Trim()
						objects.Trim()
					}
					if i%97 == 0 {
						blocks.Put(make([]byte, 100))
					}
					blocks.Put(b)
					objects.Put(v)
					limited.Put(w)
				}
			})
		}
		go func() {
			users.Wait()
			ended.Store(true)
		}()
		var before [3]dewpond.Stats
		for looks := 0; looks < 2 || !ended.Load(); looks++ {
			for i, p := range []dewpond.StatsSource{blocks, objects, limited} {
				s := p.Stats()
				if back := backward(before[i], s); back != nil && looks > 0 {
					t.Fatalf("%s: %T: %v", mode, p, back)
				}
				before[i] = s
			}
		}
		for _, p := range []dewpond.StatsSource{blocks, objects, limited} {
			if s := p.Stats(); s.Puts-s.Dropped.Foreign != s.Gets || s.Hits+s.Misses != s.Gets {
				t.Errorf("%s: %T: %+v", mode, p, s)
			}
		}
	}
}

func TestNames(t *testing.T) {
	a := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	b := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	c := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if a.Name() != "twin" || b.Name() != "twin-2" || c.Name() != "twin-3" {
		t.Errorf("names %q, %q, %q", a.Name(), b.Name(), c.Name())
	}
	b.Close()
	d := newPool(t, dewpond.BytePoolOptions{Name: "twin"})
	if d.Name() != "twin-2" || d.Stats().Name != "twin-2" {
		t.Errorf("the name of a closed pool is not used again: %q", d.Name())
	}
	got := names()
	if !slices.IsSorted(got) || !slices.Contains(got, "twin-2") || !slices.Contains(got, "twin-3") {
		t.Errorf("Pools: %q", got)
	}
	b.Close() // again: must not take its successor's place
	if !slices.Contains(names(), "twin-2") {
		t.Error("closing a pool twice unregistered another of its name")
	}
	for p := range dewpond.Pools() { // stops when told to, and may lock again
		p.Stats()
		_ = names()
		break
	}
}

func TestDefault(t *testing.T) {
	b := dewpond.Default().Get(100)
	dewpond.Default().Put(b)
	s := dewpond.Default().Stats()
	if s.Name != "default" || s.Gets == 0 || s.Puts == 0 {
		t.Errorf("Default: %+v", s)
	}
	if !slices.Contains(names(), "default") {
		t.Error("Pools does not have the default pool")
	}
}

// A pool that is dropped without Close is collected, and its blocks with it,
// though the registry knows it, others waited in it, and it was in direct mode.
func TestDroppedPoolIsCollected(t *testing.T) {
	collected := make(chan struct{})
	block := make(chan struct{})
	func() {
		p, err := makePool(dewpond.BytePoolOptions{Name: "dropped", AllocRate: 1})
		if err != nil {
			t.Fatal(err)
		}
		p.TryGet(100)
		p.TryGet(100)
		b := make([]byte, 128)
		runtime.AddCleanup(&b[0], func(int) { close(block) }, 0)
		p.Put(b) // off the heap it refuses it, and keeps it no longer either
		runtime.AddCleanup(p, func(int) { close(collected) }, 0)
	}()
	for _, done := range []chan struct{}{collected, block} {
		for waiting := true; waiting; {
			runtime.GC()
			select {
			case <-done:
				waiting = false
			default: // else the test runs into its timeout
			}
		}
	}
	for slices.Contains(names(), "dropped") {
		runtime.GC()
	}
	p := newPool(t, dewpond.BytePoolOptions{Name: "dropped"})
	if p.Name() != "dropped" {
		t.Errorf("the name of a collected pool is not used again: %q", p.Name())
	}
}

// A Stats prints as one line, and as two if something deserves a look.
func TestStatsString(t *testing.T) {
	quiet := dewpond.Stats{
		Name: "frames", Gets: 1000, Hits: 990, Misses: 10, Puts: 997, IdleBytes: 3 << 20, InUseBytes: 6144,
		Classes: make([]dewpond.ClassStats, 58),
	}
	const first = "frames: 1000 Gets, 99.0% hits, 10 Misses, 997 Puts; 3.0 MiB idle, 6144 B in use"
	busy := quiet
	busy.Violations, busy.Refused, busy.Waits, busy.WaitDuration = 1, 2, 3, 4*time.Second
	busy.OverAllocRate, busy.OverBudget, busy.OffHeap.Fallback, busy.Oversize = 5, 6, 7, 8
	busy.OverMaxOut, busy.DoubleReleases, busy.Dropped.ByKeep = 21, 22, 23
	busy.Dropped.Full, busy.Dropped.Oversize, busy.Dropped.Foreign, busy.Dropped.Double, busy.Dropped.Fallback, busy.Dropped.Closed = 1, 2, 3, 4, 5, 6
	for _, tt := range []struct {
		s    dewpond.Stats
		want string
	}{
		{dewpond.Stats{Name: "new"}, "new: 0 Gets, 0.0% hits, 0 Misses, 0 Puts; 0 B idle, 0 B in use"},
		{quiet, first},
		{busy, first + "\n  1 Violations, 2 Refused, 3 Waits of 4s together, 5 OverAllocRate, 21 OverMaxOut, 6 OverBudget, 7 OffHeap.Fallback, 8 Oversize, " +
			"22 DoubleReleases, 44 Dropped (Full 1, Oversize 2, ByKeep 23, Foreign 3, Double 4, Fallback 5, Closed 6)"},
	} {
		if got := fmt.Sprintf("%v", tt.s); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	for n, want := range map[int64]string{
		-1: "-1 B", 10<<10 - 1: "10239 B", 10 << 10: "10.0 KiB", 100 << 10: "100 KiB", 1023 << 10: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := (dewpond.Stats{IdleBytes: n}).String(); !strings.Contains(got, "; "+want+" idle") {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// Options and leases print as words.
func TestWords(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "words"})
	l := p.Lease(100)
	part := l.Slice(10, 30)
	text := fmt.Sprint(l, "; ", part)
	part.Release()
	l.Release()
	for _, tt := range []struct{ got, want string }{
		{text, `Lease of 100 bytes of "words"; Lease of 20 bytes of "words"`},
		{fmt.Sprint(l, part, dewpond.Lease{}), "released Lease released Lease released Lease"},
		{fmt.Sprint(dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll, dewpond.CheckMode(9)), "off sampled all CheckMode(9)"},
		{fmt.Sprint(dewpond.ZeroOnPut, ", ", dewpond.ZeroOnGet, ", ", dewpond.ZeroNever, ", ", dewpond.ZeroPolicy(9)),
			"zero on Put, zero on Get, zero never, ZeroPolicy(9)"},
		{fmt.Sprint((*dewpond.Budget)(nil)), "no Budget"},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// Sub subtracts every count, and keeps what is true now. A field that is new to Stats fails
// this test until it is in one of the two.
func TestSubKnowsEveryField(t *testing.T) {
	now := map[string]bool{
		"Name": true, "Engine": true, "Bubbles": true, "Guard.Setting": true, "Guard.Rate": true, "IdleBytes": true, "InUseBytes": true, "OldestIdle": true,
		"Budget.Name": true, "Budget.Limit": true, "Budget.Used": true, "Budget.Excess": true,
		"OverheadBytes": true, "OffHeap.Reserved": true, "OffHeap.Committed": true, "Size": true, "Idle": true, "InUse": true,
	}
	var fill func(v reflect.Value, by int64)
	fill = func(v reflect.Value, by int64) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Struct:
				fill(f, by)
			case reflect.Uint64:
				f.SetUint(uint64(by))
			case reflect.Int, reflect.Int64:
				f.SetInt(by)
			case reflect.Float64:
				f.SetFloat(float64(by))
			case reflect.String:
				f.SetString(fmt.Sprint(by))
			}
		}
	}
	stats := func(by int64) dewpond.Stats {
		s := dewpond.Stats{Classes: make([]dewpond.ClassStats, 2), Sampled: &misuse.Sampled{Watched: uint64(by)}, Shards: []dewpond.ShardStats{{Idle: int(by), IdleBytes: 64 * by}}}
		fill(reflect.ValueOf(&s).Elem(), by)
		for i := range s.Classes {
			fill(reflect.ValueOf(&s.Classes[i]).Elem(), by)
		}
		return s
	}
	later := stats(10)
	since := later.Sub(stats(3))
	var check func(of string, v reflect.Value)
	check = func(of string, v reflect.Value) {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if of != "Stats" && of != "ClassStats" {
				name = of + "." + name
			}
			if v.Field(i).Kind() == reflect.Struct {
				check(name, v.Field(i))
				continue
			}
			want := "7"
			if now[name] {
				want = "10"
			}
			got := fmt.Sprintf("%d", v.Field(i).Interface())
			if k := v.Field(i).Kind(); k == reflect.String || k == reflect.Float64 {
				got = fmt.Sprint(v.Field(i).Interface())
			}
			if name != "Classes" && name != "Shards" && name != "Sampled" && got != want {
				t.Errorf("%s.%s is %s, want %s", of, name, got, want)
			}
		}
	}
	check("Stats", reflect.ValueOf(since))
	for _, c := range since.Classes {
		check("ClassStats", reflect.ValueOf(c))
	}
	if want := (dewpond.ShardStats{Idle: 10, IdleBytes: 640}); len(since.Shards) != 1 || since.Shards[0] != want {
		t.Errorf("shards: %+v, want %+v", since.Shards, want)
	}
	if since.Sampled.Watched != 7 {
		t.Errorf("%d are watched, want 7", since.Sampled.Watched)
	}
	if later.Classes[0].Gets != 10 || later.Sampled.Watched != 10 {
		t.Error("Sub changes what it is called on")
	}
}

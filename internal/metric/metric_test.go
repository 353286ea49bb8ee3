package metric_test

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/metric"
	"github.com/dewpond/dewpond/offheap"
	"github.com/dewpond/dewpond/pressure"
)

// series returns all samples by name and labels, and fails if one comes twice.
func series(t *testing.T) map[string]float64 {
	t.Helper()
	return seriesOf(t, metric.Read())
}

func seriesOf(t *testing.T, read iter.Seq[*metric.Sample]) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for s := range read {
		key := s.Name + fmt.Sprint(s.Values())
		if _, twice := all[key]; twice {
			t.Errorf("%s comes twice", key)
		}
		all[key] = s.Value
	}
	return all
}

func pool(t *testing.T, o dewpond.BytePoolOptions) *dewpond.BytePool {
	t.Helper()
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// Each count of Stats arrives under its name.
func TestRead(t *testing.T) {
	synctest.Test(t, testRead) // where no second ends, after which AllocRate allows more
}

func testRead(t *testing.T) {
	p := pool(t, dewpond.BytePoolOptions{Name: "frames", MaxIdlePerClass: 1, AllocRate: 2, Budget: dewpond.MustBudget("all", 64<<20)})
	a, b, c := p.Get(100), p.Get(100), p.Get(100) // 3 misses, one past the limit
	if _, err := p.TryGet(100); err == nil {
		t.Fatal("TryGet was not refused")
	}
	p.Put(a)
	p.Put(b) // dropped: full
	p.Put(p.Get(100))
	p.Put(make([]byte, 100)) // foreign
	large := p.Get(4 << 20)
	defer runtime.KeepAlive(&large) // it is charged until it is collected
	s, level, all := p.Stats(), pressure.Current(), series(t)
	for { // until nothing changes meanwhile: a collection gives something back, the machine's pressure rises
		after, levelAfter := p.Stats(), pressure.Current()
		if level == levelAfter && reflect.DeepEqual(s, after) {
			break
		}
		s, level, all = after, levelAfter, series(t)
	}
	var class dewpond.ClassStats // which Get hits is the engine's affair
	for _, c := range s.Classes {
		if c.Size == 128 {
			class = c
		}
	}
	for key, want := range map[string]float64{
		"gets_total[frames 128 hit]":               float64(class.Hits),
		"gets_total[frames 128 miss]":              float64(class.Misses),
		"puts_total[frames 128]":                   3,
		"blocks[frames 128 idle]":                  float64(class.Idle),
		"blocks[frames 128 used]":                  1,
		"gets_oversize_total[frames]":              1,
		"gets_refused_total[frames]":               1,
		"gets_past_limit_total[frames alloc_rate]": float64(s.OverAllocRate),
		"gets_past_limit_total[frames budget]":     float64(s.OverBudget),
		"puts_dropped_total[frames full]":          float64(s.Dropped.Full),
		"puts_dropped_total[frames foreign]":       1,
		"puts_dropped_total[frames double]":        0,
		"gets_minus_puts[frames]":                  1,
		"bytes[frames idle]":                       float64(s.IdleBytes),
		"bytes[frames used]":                       128,
		"overhead_bytes[frames]":                   float64(s.OverheadBytes),
		"violations_total[frames]":                 0,
		"budget_limit_bytes[all]":                  64 << 20,
		"budget_used_bytes[all]":                   float64(s.Budget.Used),
		"budget_over_bytes[all]":                   float64(s.Budget.Excess),
		"pressure_level[]":                         float64(level),
	} {
		if got, ok := all[key]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", key, got, ok, want)
		}
	}
	for key := range all {
		if strings.HasPrefix(key, "offheap_") || strings.Contains(key, "[frames 256") {
			t.Errorf("%s has nothing to say", key)
		}
	}
	runtime.KeepAlive(c)
}

// Each count of what was past a limit, dropped or released again has a label, or a name, of its own.
func TestLabels(t *testing.T) {
	all := seriesOf(t, metric.ReadOf(dewpond.Stats{
		Name: "p", OverAllocRate: 1, OverMaxOut: 2, OverBudget: 3, DoubleReleases: 4, Adopted: 5, Oversize: 6, Refused: 7, Recovered: 8,
		Dropped: dewpond.DropStats{Full: 11, Oversize: 12, ByKeep: 13, Foreign: 14, Double: 15, Fallback: 16, Closed: 17},
		OffHeap: dewpond.OffHeapStats{Fallback: 18}, Guard: dewpond.GuardStats{Samples: 19}, Waits: 20, Trimmed: 21, Violations: 22,
	}))
	for key, want := range map[string]float64{
		"gets_past_limit_total[p alloc_rate]": 1, "gets_past_limit_total[p max_out]": 2, "gets_past_limit_total[p budget]": 3,
		"double_releases_total[p]": 4, "puts_adopted_total[p]": 5, "gets_oversize_total[p]": 6, "gets_refused_total[p]": 7, "gets_recovered_total[p]": 8,
		"puts_dropped_total[p full]": 11, "puts_dropped_total[p oversize]": 12, "puts_dropped_total[p keep]": 13, "puts_dropped_total[p foreign]": 14,
		"puts_dropped_total[p double]": 15, "puts_dropped_total[p fallback]": 16, "puts_dropped_total[p closed]": 17,
		"gets_heap_fallback_total[p]": 18, "guard_samples_total[p]": 19, "waits_total[p]": 20, "trimmed_blocks_total[p]": 21, "violations_total[p]": 22,
	} {
		if got, ok := all[key]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", key, got, ok, want)
		}
	}
}

// A Budget is said once, however many pools it has, with a name or without.
func TestBudgets(t *testing.T) {
	shared, unnamed := dewpond.MustBudget("shared", 1<<20), dewpond.MustBudget("", 1<<21)
	pool(t, dewpond.BytePoolOptions{Name: "a", Budget: shared})
	pool(t, dewpond.BytePoolOptions{Name: "b", Budget: shared})
	pool(t, dewpond.BytePoolOptions{Name: "c", Budget: unnamed})
	pool(t, dewpond.BytePoolOptions{Name: "d", Budget: unnamed})
	var limits []string
	for key, v := range series(t) {
		if strings.HasPrefix(key, "budget_limit_bytes") {
			limits = append(limits, fmt.Sprint(key, " ", v))
		}
	}
	if len(limits) != 2 {
		t.Errorf("budgets: %q", limits)
	}
}

func TestOffHeap(t *testing.T) {
	p, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "mapped"})
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	p.Put(p.Get(100))
	all := series(t)
	st := p.Stats() // under the race detector nothing is reserved: the memory is the heap's
	for key, want := range map[string]int64{
		"offheap_reserved_bytes[mapped]":          st.OffHeap.Reserved,
		"offheap_committed_bytes[mapped]":         st.OffHeap.Committed,
		"offheap_decommitted_bytes_total[mapped]": st.OffHeap.Decommitted,
	} {
		if got, ok := all[key]; !ok || got != float64(want) || st.OffHeap.Committed == 0 {
			t.Errorf("%s is %v (there: %v), want %d", key, got, ok, want)
		}
	}
}

// Whoever stops reading gets no more.
func TestReadStops(t *testing.T) {
	p := pool(t, dewpond.BytePoolOptions{Name: "some", Budget: dewpond.MustBudget("b", 1<<20)})
	p.Put(p.Get(100))
	total := len(series(t))
	for n := 1; n < total; n++ {
		next, stop := iter.Pull(metric.Read())
		for range n {
			next()
		}
		stop()
	}
}

// Names follow the rules of both worlds, and no two metrics have one name.
func TestNames(t *testing.T) {
	names := map[string]bool{}
	for _, m := range append(metric.List(), metric.Shards()...) {
		for _, name := range []string{m.Name, "otel:" + m.OTel} {
			if names[name] {
				t.Errorf("two metrics are named %s", name)
			}
			names[name] = true
		}
		if !regexp.MustCompile(`^[a-z_]+$`).MatchString(m.Name) || !regexp.MustCompile(`^[a-z_.]+$`).MatchString(m.OTel) {
			t.Errorf("%s, %s: letters, and _ or . between them", m.Name, m.OTel)
		}
		if total := strings.HasSuffix(m.Name, "_total"); total != (m.Kind == metric.Counter) {
			t.Errorf("%s: a counter ends in _total, and nothing else does", m.Name)
		}
		if m.Unit == "bytes" || m.Unit == "seconds" {
			if name := strings.TrimSuffix(m.Name, "_total"); !strings.HasSuffix(name, m.Unit) {
				t.Errorf("%s: its unit is %s", m.Name, m.Unit)
			}
		}
	}
}

// Names that no exporter accepts are made some that all do, and different ones stay different.
func TestNamesAreUTF8(t *testing.T) {
	names := []string{"a\xffb", "a\xfeb", `a\xffb`, "a\uFFFDb"}
	for _, name := range names {
		pool(t, dewpond.BytePoolOptions{Name: name, Budget: dewpond.MustBudget(name, 1<<20)})
	}
	all := series(t)
	for _, name := range []string{`a\xffb`, `a\xfeb`, `a\xffb-2`, "a\uFFFDb"} {
		for _, key := range []string{"waits_total[" + name + "]", "budget_limit_bytes[" + name + "]"} {
			if _, ok := all[key]; !ok {
				t.Errorf("no %q", key)
			}
		}
	}
	for key := range all {
		if !utf8.ValidString(key) {
			t.Errorf("%q", key)
		}
	}
}

// Budgets of one name are told apart, and those without a name.
func TestBudgetsOfOneName(t *testing.T) {
	for _, name := range []string{"tenant", "tenant", "", ""} {
		budget := dewpond.MustBudget(name, 1<<20)
		for range 2 { // a Budget of several pools comes once
			pool(t, dewpond.BytePoolOptions{Name: "p", Budget: budget})
		}
	}
	all := series(t) // which fails if a series comes twice
	for _, name := range []string{"tenant", "tenant-2", "budget", "budget-2"} {
		if all["budget_limit_bytes["+name+"]"] != 1<<20 {
			t.Errorf("no Budget %q", name)
		}
	}
}

// A scrape takes as many steps for each pool, however many there are.
func TestReadIsLinear(t *testing.T) {
	synctest.Test(t, testReadIsLinear) // where no idle block becomes old meanwhile
}

func testReadIsLinear(t *testing.T) {
	steps := func() (n [5]float64) {
		s := metric.CountSteps()
		// The process allocates for others, too: the least of some runs is the reader's.
		allocated := math.Inf(1)
		for range 10 {
			allocated = min(allocated, testing.AllocsPerRun(1, func() {
				for range metric.Read() {
				}
			}))
		}
		return [...]float64{float64(s.Samples), float64(s.Names), float64(s.Stats), float64(s.Looks), allocated}
	}
	var each [][5]float64
	for _, more := range []int{10, 90, 900} {
		before := steps()
		for range more {
			p := pool(t, dewpond.BytePoolOptions{Name: "p", Budget: dewpond.MustBudget("b", 1<<20)})
			p.Put(p.Get(100))
		}
		after := steps()
		for i := range after {
			after[i] = (after[i] - before[i]) / float64(more)
		}
		each = append(each, after)
	}
	t.Logf("samples, names, reads of Stats, look-ups of Budgets and allocations for each of 10, 100 and 1000 pools: %.2f", each)
	for _, steps := range each {
		for i, n := range steps {
			if n > 1.5*each[0][i] {
				t.Fatal("a step for each pair of pools")
			}
		}
	}
	if n := each[0]; n[2] != 1 || n[3] != 1 {
		t.Errorf("%v reads of Stats and %v look-ups of Budgets for each pool, want 1", n[2], n[3])
	}
}

// A pool in checked mode has histograms, whose buckets are those of Stats, and no other pool has.
func TestSampled(t *testing.T) {
	pool(t, dewpond.BytePoolOptions{Name: "unchecked", Check: dewpond.CheckOff})
	p := pool(t, dewpond.BytePoolOptions{Name: "checked", Check: dewpond.CheckAll})
	for _, n := range []int{100, 1000, 1000, 1025} {
		p.Put(p.Get(n))
	}
	stats := p.Stats()
	seen := map[string]bool{}
	for s := range metric.Read() {
		if s.Kind != metric.Histogram {
			continue
		}
		if s.Of[0] != "checked" {
			t.Errorf("%s of pool %s", s.Name, s.Of[0])
		}
		seen[s.Name] = true
		h, unit := stats.Sampled.Out, 1e9
		switch s.Name {
		case "sampled_idle_seconds":
			h = stats.Sampled.Idle
		case "sampled_asked_bytes":
			h, unit = stats.Sampled.Asked, 1
			want := []metric.Bucket{{UpTo: 112, Count: 1}, {UpTo: 128, Count: 1}}
			if len(s.Buckets) != 15 || !slices.Equal(s.Buckets[:2], want) || s.Buckets[13] != (metric.Bucket{UpTo: 1024, Count: 3}) || s.Buckets[14] != (metric.Bucket{UpTo: 1280, Count: 4}) {
				t.Errorf("buckets %v", s.Buckets)
			}
			if label := s.Buckets[13].Label(); label != "1024" {
				t.Errorf("label %s", label)
			}
		}
		if s.Value != float64(h.Count()) || s.Sum != float64(h.Sum)/unit || h.Count() == 0 && s.Name != "sampled_idle_seconds" {
			t.Errorf("%s: %v values of sum %v, want %d of %d", s.Name, s.Value, s.Sum, h.Count(), h.Sum)
		}
		for i, b := range s.Buckets {
			if b.Count != h.AtMost(int64(math.Round(b.UpTo*unit))) || i > 0 && b.UpTo <= s.Buckets[i-1].UpTo {
				t.Errorf("%s: bucket %v", s.Name, b)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("seen %v", seen)
	}
}

// What each P has is said by ReadShards, and by nothing else.
func TestReadShards(t *testing.T) {
	p := pool(t, dewpond.BytePoolOptions{Name: "parts"})
	p.Put(p.Get(100))
	for key := range series(t) {
		if strings.HasPrefix(key, "shard_") {
			t.Errorf("Read says %s", key)
		}
	}
	stats := p.Stats()
	if len(stats.Shards) == 0 {
		t.Fatal("the pool has no shards")
	}
	got := seriesOf(t, metric.ReadShards())
	for id, of := range stats.Shards {
		if blocks, bytes := got[fmt.Sprintf("shard_blocks[parts %d]", id)], got[fmt.Sprintf("shard_bytes[parts %d]", id)]; blocks != float64(of.Idle) || bytes != float64(of.IdleBytes) {
			t.Errorf("shard %d has %v blocks of %v bytes, want %+v", id, blocks, bytes, of)
		}
	}
	if len(got) != 2*len(stats.Shards) {
		t.Errorf("%d samples of %d shards", len(got), len(stats.Shards))
	}
	for range metric.ReadShards() {
		break // whoever stops reading gets no more
	}
}

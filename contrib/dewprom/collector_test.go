package dewprom_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewprom"
	"github.com/dewpond/dewpond/misuse"
)

func pool(t testing.TB, o dewpond.BytePoolOptions) *dewpond.BytePool {
	t.Helper()
	p, err := dewpond.NewBytePool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// scrape gathers everything as a scrape of a pedantic registry does, which checks each metric
// against what Describe said.
func scrape(t testing.TB, r prometheus.Gatherer) (values map[string]float64, counters map[string]bool) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values, counters = map[string]float64{}, map[string]bool{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			key := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			if m.Counter != nil {
				values[key], counters[key] = m.Counter.GetValue(), true
			} else {
				values[key] = m.Gauge.GetValue()
			}
		}
	}
	return values, counters
}

func registry() *prometheus.Registry {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(dewprom.NewCollector())
	return r
}

// A forced number of misses shows exactly.
func TestMissesShowExactly(t *testing.T) {
	r := registry()
	p := pool(t, dewpond.BytePoolOptions{Name: "exact", MaxIdleBytes: dewpond.NoIdle, Check: dewpond.CheckOff})
	const misses = 1234
	for range misses {
		p.Put(p.Get(1000))
	}
	values, _ := scrape(t, r)
	if got := values["dewpond_gets_total{class=1024,pool=exact,result=miss}"]; got != misses {
		t.Errorf("%v misses, want %d", got, misses)
	}
	if got := values["dewpond_puts_dropped_total{pool=exact,reason=full}"]; got != misses {
		t.Errorf("%v dropped, want %d", got, misses)
	}
	if got := values["dewpond_gets_minus_puts{pool=exact}"]; got != 0 {
		t.Errorf("gets minus puts is %v", got)
	}
}

// promlint has nothing to say.
func TestLint(t *testing.T) {
	p := pool(t, dewpond.BytePoolOptions{Name: "linted", Budget: dewpond.MustBudget("b", 1<<20)})
	p.Put(p.Get(100))
	problems, err := testutil.GatherAndLint(registry())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// What checked mode has seen is in histograms, which promlint accepts.
func TestSampledHistograms(t *testing.T) {
	r := registry()
	p := pool(t, dewpond.BytePoolOptions{Name: "checked", Check: dewpond.CheckAll})
	for _, n := range []int{100, 1000, 1025} {
		p.Put(p.Get(n))
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.Metric {
			if m.Histogram == nil {
				continue
			}
			seen[f.GetName()] = m.Histogram.GetSampleCount()
			if f.GetName() == "dewpond_sampled_asked_bytes" && m.Histogram.GetSampleSum() != 2125 {
				t.Errorf("the sizes are %v together", m.Histogram.GetSampleSum())
			}
			for _, b := range m.Histogram.Bucket {
				if b.GetUpperBound() == 1024 && b.GetCumulativeCount() != 2 {
					t.Errorf("%d Gets of up to 1024 bytes", b.GetCumulativeCount())
				}
			}
		}
	}
	want := map[string]uint64{"dewpond_sampled_out_seconds": 3, "dewpond_sampled_idle_seconds": 0, "dewpond_sampled_asked_bytes": 3}
	if !maps.Equal(seen, want) {
		t.Errorf("%v, want %v", seen, want)
	}
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// A second Collector would say everything twice.
func TestSecondCollectorIsRefused(t *testing.T) {
	if err := registry().Register(dewprom.NewCollector()); err == nil {
		t.Error("a second Collector is registered")
	}
}

// Counters never go back and never vanish while their pool lives, whatever the pool does and
// however it is checked.
func TestCountersNeverGoBack(t *testing.T) {
	r := registry()
	var pools []*dewpond.BytePool
	budget := dewpond.MustBudget("shared", 4<<20)
	for i, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll} {
		pools = append(pools,
			pool(t, dewpond.BytePoolOptions{Name: fmt.Sprint("pool ", i), Check: check, MaxIdlePerClass: 50, OnViolation: func(misuse.Violation) {}}),
			pool(t, dewpond.BytePoolOptions{Name: fmt.Sprint("pool of a Budget ", i), Check: check, Budget: budget, OnViolation: func(misuse.Violation) {}}))
	}
	objects := dewpond.MustPool(dewpond.PoolOptions[[100]byte]{Name: "objects", MaxOut: 8})
	defer objects.Close()

	var stop atomic.Bool
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				p := pools[(g+i)%len(pools)]
				b := p.Get(64 << (i % 14))
				if c, err := p.TryGet(1000); err == nil {
					p.Put(c)
				}
				p.Put(b)
				if i%10 == 0 {
					p.Put(b) // some see that, and refuse or report it
					p.Put(make([]byte, 100))
				}
				if g == 0 && i%100 == 0 {
					p.Trim()
				}
				objects.Put(objects.Get())
			}
		})
	}
	scrapes := 150
	if testing.Short() {
		scrapes = 30
	}
	before := map[string]float64{}
	// On one processor the goroutines may not have had their turn after as many scrapes.
	for n := 0; n < scrapes || before["dewpond_gets_total{class=1024,pool=pool 0,result=hit}"] == 0; n++ {
		now, counters := scrape(t, r)
		for key := range counters {
			if now[key] < before[key] {
				t.Errorf("%s went from %v to %v", key, before[key], now[key])
			}
		}
		for key := range before {
			if _, ok := now[key]; !ok && strings.Contains(key, "_total") {
				t.Errorf("%s has vanished", key)
			}
		}
		before = now
	}
	stop.Store(true)
	wg.Wait()
}

// Scrapes while pools come and go find each pool's series once.
func TestPoolsComeAndGo(t *testing.T) {
	r := registry()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "short"}) // a second one is short-2
				p.Put(p.Get(100))
				p.Close()
			}
		})
	}
	for range 50 {
		scrape(t, r)
	}
	wg.Wait()
	values, _ := scrape(t, r)
	for key := range values {
		if strings.Contains(key, "pool=short") {
			t.Errorf("%s of a closed pool", key)
		}
	}
}

// Names that are not UTF-8, and names that are taken, do not take the page down.
func TestOddNames(t *testing.T) {
	r := registry()
	for _, name := range []string{"odd\xff", "odd\xfe", `odd\xff`, "odd\xff"} {
		pool(t, dewpond.BytePoolOptions{Name: name, Budget: dewpond.MustBudget(name, 1<<20)})
	}
	values, _ := scrape(t, r)
	for _, name := range []string{`odd\xff`, `odd\xfe`, `odd\xff-2`, `odd\xff-3`} {
		if values["dewpond_budget_limit_bytes{budget="+name+"}"] != 1<<20 {
			t.Errorf("no Budget %q", name)
		}
		if _, ok := values["dewpond_gets_minus_puts{pool="+name+"}"]; !ok {
			t.Errorf("no pool %q", name)
		}
	}
}

// What each P has is in a Collector of its own, which is silent until it is registered.
func TestShardCollector(t *testing.T) {
	p := pool(t, dewpond.BytePoolOptions{Name: "parts"})
	p.Put(p.Get(100))
	r := registry()
	without, _ := scrape(t, r)
	for key := range without {
		if strings.HasPrefix(key, "dewpond_shard_") {
			t.Errorf("%s comes unasked", key)
		}
	}
	r.MustRegister(dewprom.NewShardCollector())
	with, counters := scrape(t, r)
	shards := p.Stats().Shards
	for id, of := range shards {
		if v, ok := with[fmt.Sprintf("dewpond_shard_blocks{pool=parts,shard=%d}", id)]; !ok || v != float64(of.Idle) {
			t.Errorf("shard %d has %v blocks (there: %v), want %d", id, v, ok, of.Idle)
		}
	}
	if len(shards) == 0 || len(counters) == 0 || len(with) < len(without)+2*len(shards) {
		t.Errorf("%d series with those of %d shards, %d without", len(with), len(shards), len(without))
	}
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

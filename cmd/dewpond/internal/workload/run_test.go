package workload

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// spec is a short round of a scenario.
func spec(s Scenario, name string) Spec {
	sp := s.Defaults
	sp.Scenario, sp.Contender = s.Name, name
	sp.Duration = 30 * time.Millisecond
	if sp.Blocks > 1000 {
		sp.Blocks = 1000
	}
	return sp
}

// all are the scenarios of this package.
var all = []Scenario{Mixed, Micro, Burst, Beyond, Churn, Flood, Misuse, Window}

func scenario(name string) Scenario {
	return all[slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })]
}

// round runs a spec. On a busy machine a short round may get nothing done: then it runs again, for
// longer.
func round(t *testing.T, sp Spec) result.Round {
	t.Helper()
	for ; ; sp.Duration *= 2 { // if it never ends, the test runs into its timeout
		r, err := Run(context.Background(), scenario(sp.Scenario), sp)
		if err != nil {
			t.Fatal(err)
		}
		if r.Contender != sp.Contender || r.Seconds <= 0 || r.Cut {
			t.Fatalf("round is %+v", r)
		}
		if r.Ops > 0 {
			return r
		}
	}
}

func samples(t *testing.T, r result.Round, key string) int64 {
	t.Helper()
	h, err := hdrhistogram.Decode(r.Histograms[key])
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return h.TotalCount()
}

// With Written a block is written at its beginning and at both ends, and not between.
func TestMixedWrites(t *testing.T) {
	p := contender.All()[1].New(contender.Options{}) // make
	for written, between := range map[int64]byte{0: 255, 100: 0} {
		sp := spec(Mixed, "make")
		sp.Mix, sp.Written = Mix{{4096, 100}}, written
		w := &worker{crew: newCrew(&Job{Spec: sp, Pool: p})}
		b := make([]byte, 4096)
		w.use(b)
		if b[50] == 0 || b[4096-8] == 0 || b[2046] != between {
			t.Errorf("%d written: byte 50 is %d, byte 2046 %d and the mark at the end begins with %d, want the middle byte to be %d", written, b[50], b[2046], b[4096-8], between)
		}
	}
}

// A round has the memory limit of its spec, and the process has its own again afterward.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	for asked, want := range map[int64]int64{0: before, 3 << 30: 3 << 30} {
		var during int64
		s := Scenario{Drive: func(*Job) error { during = debug.SetMemoryLimit(-1); return nil }}
		if _, err := Run(context.Background(), s, Spec{Contender: "nop", MemoryLimit: asked}); err != nil {
			t.Fatal(err)
		}
		if during != want || debug.SetMemoryLimit(-1) != before {
			t.Errorf("MemoryLimit %d: the limit is %d during the round and %d after it, want %d and %d", asked, during, debug.SetMemoryLimit(-1), want, before)
		}
	}
}

func TestMixed(t *testing.T) {
	sp := spec(Mixed, "syncpool-class")
	sp.Sample = 4
	r := round(t, sp)
	if r.Verified != r.Ops {
		t.Errorf("verified %d of %d blocks", r.Verified, r.Ops)
	}
	get, put := samples(t, r, "get"), samples(t, r, "put")
	// Each goroutine that ran may be within one stride of its next sample.
	want, slack := int64(r.Ops)/4, int64(sp.Goroutines)
	if get != put || get < want-slack || get > want+slack {
		t.Errorf("%d and %d samples of %d operations, want one in 4", get, put, r.Ops)
	}
	if r.RecorderBytes == 0 {
		t.Error("the recorder does not say what it holds")
	}
}

// TestKnownMisses forces a known number of allocations, which the counts must show.
func TestKnownMisses(t *testing.T) {
	r := round(t, spec(Mixed, "make"))
	const drivers = 3000 // at most so many allocations by the driver: goroutines, timers, the runtime
	if r.Allocs < r.Ops || r.Allocs > r.Ops+drivers {
		t.Errorf("make allocates %d times in %d operations, want once in each", r.Allocs, r.Ops)
	}
	if per := float64(r.AllocBytes) / float64(r.Ops); per < 2300 || per > 2800 {
		t.Errorf("make allocates %.0f bytes an operation, want 0.7*128 + 0.3*8192 = 2547", per)
	}
	b := spec(Burst, "make")
	b.Blocks = 64
	if r := round(t, b); r.Figures["second_burst_misses"] != 64 {
		t.Errorf("make misses %v of 64", r.Figures["second_burst_misses"])
	}
	b.Contender = "channel"
	if r := round(t, b); r.Figures["second_burst_misses"] != 0 {
		t.Errorf("channel misses %v, though it keeps its blocks over collections", r.Figures["second_burst_misses"])
	}
}

func TestGarbageIsNotThePools(t *testing.T) {
	sp := spec(Mixed, "nop")
	sp.Goroutines, sp.Garbage, sp.Duration = 2, 200e6, 200*time.Millisecond
	r := round(t, sp)
	for ; r.GCCycles == 0; r = round(t, sp) { // if it never ends, the test runs into its timeout
		sp.Duration *= 2
	}
	// At least 40 MB of garbage were made. What is left is that of tickers, and of spans that
	// the runtime has not counted yet.
	if r.AllocBytes > 10e6 {
		t.Errorf("%d bytes of garbage count as the contender's", r.AllocBytes)
	}
}

func TestOpen(t *testing.T) {
	sp := spec(Mixed, "dewpond")
	sp.Open, sp.Rate, sp.Goroutines, sp.Sample = true, 20_000, 16, 1
	sp.Duration = 100 * time.Millisecond
	r := round(t, sp)
	arrivals, dropped := r.Figures["arrivals"], r.Figures["dropped_arrivals"]
	if arrivals < 1700 || arrivals > 2300 {
		t.Errorf("%v arrivals in 0.1 s at 20000 a second", arrivals)
	}
	if float64(r.Ops) != arrivals-dropped {
		t.Errorf("%d operations of %v arrivals, %v dropped", r.Ops, arrivals, dropped)
	}
	for _, key := range []string{"response", "service", "lag", "get", "put"} {
		if n := samples(t, r, key); n != int64(r.Ops) {
			t.Errorf("%d %s times of %d operations", n, key, r.Ops)
		}
	}
	again := round(t, sp)
	if again.Figures["arrivals"] != arrivals {
		t.Errorf("the same round saw %v arrivals, then %v", arrivals, again.Figures["arrivals"])
	}
}

// TestOpenDrops generates more arrivals than the goroutines can serve.
func TestOpenDrops(t *testing.T) {
	sp := spec(Mixed, "nop")
	sp.Open, sp.Rate, sp.Goroutines, sp.Sample = true, 50_000, 2, 1
	sp.Hold = Hold{Wait: 5 * time.Millisecond}
	r := round(t, sp)
	if r.Figures["dropped_arrivals"] < r.Figures["arrivals"]/2 {
		t.Errorf("only %v of %v arrivals were dropped", r.Figures["dropped_arrivals"], r.Figures["arrivals"])
	}
}

func TestMicro(t *testing.T) {
	for _, name := range []string{"nop", "bytebufferpool", "dewpond"} {
		r := round(t, spec(Micro, name))
		for _, key := range []string{"micro_128_1g_ns", "micro_128_par_ns", "micro_8192_1g_ns", "micro_8192_par_ns"} {
			if ns := r.Figures[key]; ns < 0.1 {
				t.Errorf("%s: %s is %v", name, key, ns)
			}
		}
	}
}

func TestBurstSeries(t *testing.T) {
	for name, tells := range map[string]bool{"dewpond": true, "dewpond-offheap": true, "syncpool-class": false} {
		sp := spec(Burst, name)
		sp.Blocks = 32
		const all = 32 * 64 << 10
		r := round(t, sp)
		if got := shape(r.Series["in_use_bytes"]); got != [3]float64{0, all, 0} {
			t.Errorf("%s: in use at the start, the peak, the end: %v, want all of the burst and nothing after", name, got)
		}
		idle := r.Series["idle_bytes"]
		if (len(idle) > 0) != tells {
			t.Errorf("%s: idle_bytes is %v", name, idle)
		}
		if got := shape(idle); tells && got != [3]float64{0, all, all} {
			t.Errorf("%s: idle at the start, the peak, the end: %v, want nothing and then all of the burst", name, got)
		}
		seen(t, r)
	}
}

// shape returns the first value of a series, the highest and the last.
func shape(points []result.Point) (s [3]float64) {
	if len(points) == 0 {
		return s
	}
	s[0], s[2] = points[0].Value, points[len(points)-1].Value
	for _, p := range points {
		s[1] = max(s[1], p.Value)
	}
	return s
}

// seen checks the series that every round must have.
func seen(t *testing.T, r result.Round) {
	t.Helper()
	if n := len(r.Series["rss_bytes"]); runtime.GOOS == "linux" && (n == 0 || r.Series["rss_bytes"][n-1].Value < 1<<20) {
		t.Errorf("%s: RSS over time is %v", r.Contender, r.Series["rss_bytes"])
	}
	if len(r.Series["collections"]) == 0 || r.Series["collections"][0].Value != 0 {
		t.Errorf("%s: collections do not begin at 0: %v", r.Contender, r.Series["collections"])
	}
	for name, points := range r.Series {
		if len(points) != len(r.Series["collections"]) {
			t.Errorf("%s: %s has %d points, collections %d", r.Contender, name, len(points), len(r.Series["collections"]))
		}
		for i := range points[1:] {
			if points[i+1].Seconds < points[i].Seconds || name == "collections" && points[i+1].Value < points[i].Value {
				t.Errorf("%s: %s goes back at point %d: %v", r.Contender, name, i+1, points)
			}
		}
	}
}

// churnSpec has two bursts beside slow traffic.
func churnSpec(name string) Spec {
	sp := spec(Churn, name)
	sp.Duration, sp.Every, sp.IdleTimeout = 80*time.Millisecond, 40*time.Millisecond, 100*time.Millisecond
	sp.Blocks, sp.Rate, sp.Live = 300, 50_000, 8<<20
	return sp
}

func TestChurn(t *testing.T) {
	for name, tells := range map[string]bool{"nop": false, "make": false, "syncpool-class": false, "dewpond": true, "dewpond-nodecay": true, "dewpond-offheap": true} {
		sp := churnSpec(name)
		sp.Mix = Mix{{4096, 100}} // one size, so that the bytes in use are known exactly
		r := round(t, sp)
		if get, put := samples(t, r, "get"), samples(t, r, "put"); get != put || uint64(get) != r.Ops || r.Verified != r.Ops {
			t.Errorf("%s: %d Gets and %d Puts timed and %d blocks verified of %d operations", name, get, put, r.Verified, r.Ops)
		}
		if most := sp.Rate * r.Seconds; float64(r.Ops) > most {
			t.Errorf("%s: %d operations in %v s at %v a second", name, r.Ops, r.Seconds, sp.Rate)
		}
		if r.Figures["burst_ns"] <= 0 || r.Figures["burst_return_ns"] <= 0 {
			t.Errorf("%s: bursts are not timed: %v", name, r.Figures)
		}
		if _, ok := r.Figures["burst_misses"]; ok != tells {
			t.Errorf("%s: burst_misses is there: %v, want %v", name, ok, tells)
		}
		if idle := r.Series["idle_bytes"]; (len(idle) > 0) != tells {
			t.Errorf("%s: idle_bytes is %v", name, idle)
		}
		const traffic, bursts = 4 * holds * 4096, 300 * 4096
		if use := shape(r.Series["in_use_bytes"]); use != [3]float64{traffic, traffic + bursts, traffic} {
			t.Errorf("%s: in use at the start, the peak, the end: %v, want the traffic's %d, with the burst's %d, and the traffic's", name, use, traffic, bursts)
		}
		seen(t, r)
	}
}

// TestChurnMisses checks that without decay the first burst finds nothing, and each later one finds
// what the one before put back.
func TestChurnMisses(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // otherwise its first burst finds only the blocks of its own processor
	sp := churnSpec("dewpond-nodecay")
	sp.Duration, sp.Rate = 40*time.Millisecond, 1000
	if r := round(t, sp); r.Figures["burst_misses"] < 200 {
		t.Errorf("%v of 300 blocks of the first burst were allocated", r.Figures["burst_misses"])
	}
	sp.Duration = 200 * time.Millisecond
	if r := round(t, sp); r.Figures["burst_misses"] > 100 {
		t.Errorf("%v of 300 blocks of the middle burst were allocated", r.Figures["burst_misses"])
	}
}

// TestSampler checks the number of points, and that their intervals are equal.
func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &Job{ctx: context.Background(), Pool: &broken{}}
		s := j.watchPool(10*time.Second, func() int64 { return 7 })
		time.Sleep(10*time.Second - time.Millisecond)
		s.Stop()
		use := j.Result.Series["in_use_bytes"]
		if len(use) != points+1 {
			t.Fatalf("%d points, want %d and a last one", len(use), points)
		}
		for i, p := range use[:points] {
			if want := 0.1 * float64(i); p.Value != 7 || p.Seconds < want-1e-6 || p.Seconds > want+1e-6 {
				t.Errorf("point %d is %+v, want 7 at %v s", i, p, want)
			}
		}
		if _, ok := j.Result.Series["idle_bytes"]; ok {
			t.Error("a pool that cannot tell what it holds has a series")
		}
	})
}

// TestWindow checks that no message is lost: each one is verified when it leaves the window, the first
// one too.
func TestWindow(t *testing.T) {
	r := round(t, spec(Window, "syncpool-class"))
	if r.Verified != r.Ops || samples(t, r, "push") != int64(r.Ops) {
		t.Errorf("%d pushes, %d verified, %d timed", r.Ops, r.Verified, samples(t, r, "push"))
	}
}

func TestCut(t *testing.T) {
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			sp := spec(s, "nop")
			sp.Duration = time.Hour
			sp.Goroutines = min(sp.Goroutines, 8)
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			r, err := Run(ctx, s, sp) // a round that ignores ctx runs into the test's timeout
			if err != nil || !r.Cut {
				t.Errorf("round is %+v, error %v; want a cut one", r, err)
			}
		})
	}
}

// TestTwoOwners gives every goroutine the same block, which the round must find out.
func TestTwoOwners(t *testing.T) {
	if raceEnabled {
		t.Skip("it races by design")
	}
	sp := spec(Mixed, "nop")
	sp.Hold = Hold{Yield: true}
	j := &Job{Spec: sp, ctx: context.Background(), Pool: &broken{}}
	err := error(nil)
	for err == nil { // two goroutines must meet; if they never do, the test runs into its timeout
		err = newCrew(j).warm()
	}
	if !strings.Contains(err.Error(), "two owners") {
		t.Errorf("a pool that gives one block to all passes: %v", err)
	}
	sp = churnSpec("nop")
	sp.Mix, sp.Blocks = Mix{{8192, 100}}, 10
	j = &Job{Spec: sp, ctx: context.Background(), Pool: &broken{}, recorders: map[string]*kit.Recorder{}, Result: result.Round{Figures: map[string]float64{}}}
	if err := runChurn(j); err == nil || !strings.Contains(err.Error(), "two owners") {
		t.Errorf("churn: a pool that gives one block to all passes: %v", err)
	}
}

type broken struct{ block [8192]byte }

func (p *broken) View() contender.View      { return p }
func (p *broken) Get(n int) contender.Block { return contender.Block{Bytes: p.block[:n]} }
func (p *broken) Put(contender.Block)       {}
func (p *broken) Loop(int, int)             {}

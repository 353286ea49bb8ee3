package soak

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/pressure"
)

// spec returns a short round that has new pools and every disturbance.
func spec(name string) workload.Spec {
	sp := Scenario.Defaults
	sp.Scenario, sp.Contender = Scenario.Name, name
	sp.Duration, sp.Every, sp.IdleTimeout = 400*time.Millisecond, 5*time.Millisecond, 100*time.Millisecond
	return sp
}

// round runs a spec. On a busy machine it runs it again, for longer, until something gets done.
func round(t *testing.T, sp workload.Spec) result.Round {
	t.Helper()
	for ; ; sp.Duration *= 2 { // if it never ends, the test runs into its timeout
		r, err := workload.Run(context.Background(), Scenario, sp)
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

func TestSoak(t *testing.T) {
	for name, accounts := range map[string]bool{"make": false, "syncpool-class": false, "dewpond": true, "dewpond-offheap": true} {
		procs, limit := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
		r := round(t, spec(name))
		if r.Verified+uint64(r.Figures["refused"]) != r.Ops {
			t.Errorf("%s: %d blocks verified and %v refused of %d operations", name, r.Verified, r.Figures["refused"], r.Ops)
		}
		if made := r.Figures["pools_made"]; made < standingPools+passingPools+1 {
			t.Errorf("%s: only %v pools were made", name, made)
		}
		if got := runtime.GOMAXPROCS(0); got != procs {
			t.Errorf("%s: GOMAXPROCS was %d and is %d", name, procs, got)
		}
		if got := debug.SetMemoryLimit(-1); got != limit {
			t.Errorf("%s: the memory limit was %d and is %d", name, limit, got)
		}
		nothing := []string{"goroutines_left"}
		if accounts {
			nothing = append(nothing, "stranded_bytes", "stranded_after_trim_bytes", "stranded_after_close_bytes", "in_use_at_rest_bytes", "budget_at_rest_bytes")
		}
		for _, key := range nothing {
			if v, ok := r.Figures[key]; !ok || v != 0 {
				t.Errorf("%s: %s is %v, seen: %v; want 0", name, key, v, ok)
			}
		}
		if _, ok := r.Figures["stranded_bytes"]; ok != accounts {
			t.Errorf("%s: accounts for what is stranded: %v, want %v", name, ok, accounts)
		}
		if _, ok := r.Series["idle_bytes"]; ok != accounts {
			t.Errorf("%s: idle_bytes is there: %v, want %v", name, ok, accounts)
		}
		for _, key := range []string{"goroutines", "pressure", "in_use_bytes", "collections"} {
			if len(r.Series[key]) == 0 {
				t.Errorf("%s: nothing of %s was seen over time: %v", name, key, r.Series)
			}
		}
	}
}

// A leaky pool keeps what it should not. It stands for all pools of a round, so its counts are those
// of all.
type leaky struct {
	*leaks
	closed bool
}

type leaks struct {
	idle, inUse, reserved int64
	goroutines            int // that Gets start and that do not end
	end                   chan struct{}
	started               atomic.Int64
}

func (p *leaky) View() contender.View { return p }
func (p *leaky) Get(n int) contender.Block {
	if p.started.Add(1) <= int64(p.goroutines) {
		go func() { <-p.end }()
	}
	return contender.Block{Bytes: make([]byte, n)}
}
func (p *leaky) TryGet(n int) (contender.Block, bool) { return p.Get(n), true }
func (p *leaky) Put(contender.Block)                  {}
func (p *leaky) Loop(int, int)                        {}
func (p *leaky) Trim() int64                          { return 0 }
func (p *leaky) Close() error                         { p.closed = true; return nil }
func (p *leaky) Held() (idle, inUse, reserved int64) {
	if p.closed {
		return 0, 0, p.reserved
	}
	return p.idle, p.inUse, 0
}

// A test waits so long for what stays, and for ever for what must go: until it runs into its timeout.
const (
	soon  = 300 * time.Millisecond
	never = time.Duration(1<<63 - 1)
)

// soaked returns the figures of a round of a pool.
func soaked(t *testing.T, patience time.Duration, fresh func(contender.Options) contender.Pool) (map[string]float64, error) {
	t.Helper()
	j := workload.NewJob(context.Background(), spec("leaky"), fresh)
	s := newSoaking(j)
	s.patience = patience
	err := s.run()
	return j.Result.Figures, err
}

// A round finds what stays behind, each thing under its own name, and nothing else.
func TestSoakFindsWhatStays(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	for name, l := range map[string]*leaks{
		"":                     {},
		"stranded_bytes":       {idle: 64},
		"in_use_at_rest_bytes": {inUse: 128},
		"stranded_after_close": {reserved: 4096},
		"goroutines_left":      {goroutines: 3},
	} {
		l.end = end
		patience := soon
		if name == "" {
			patience = never
		}
		f, err := soaked(t, patience, func(contender.Options) contender.Pool { return &leaky{leaks: l} })
		if err != nil {
			t.Fatal(err)
		}
		for key, v := range f {
			if !strings.HasPrefix(key, "stranded_") && key != "in_use_at_rest_bytes" && key != "goroutines_left" {
				continue
			}
			if key == "goroutines_left" && name != "" && name != key {
				continue // on a busy machine it may take longer than soon
			}
			found := v > 0
			// What neither decay nor Trim frees is stranded twice.
			wanted := name != "" && strings.HasPrefix(key, name) || name == "stranded_bytes" && key == "stranded_after_trim_bytes"
			if found != wanted {
				t.Errorf("a pool with %q: %s is %v", name, key, v)
			}
		}
	}
}

// A pool with a Budget that is never closed stays charged.
func TestSoakFindsBudget(t *testing.T) {
	var pools []*dewpond.BytePool
	var block []byte // out, and not lost: a lost one is charged until the collector has it
	f, err := soaked(t, soon, func(o contender.Options) contender.Pool {
		b := o.Budget
		if b != nil && pools == nil {
			p := dewpond.MustBytePool(dewpond.BytePoolOptions{Budget: b})
			block = p.Get(100)
			pools = append(pools, p)
		}
		return &leaky{leaks: &leaks{}}
	})
	if err != nil || f["budget_at_rest_bytes"] < 100 {
		t.Errorf("a block is out and the budget at rest is %v; error %v", f["budget_at_rest_bytes"], err)
	}
	runtime.KeepAlive(pools)
	runtime.KeepAlive(block)
}

// What a pool gives back to its Budget a moment after its Close is not left behind.
func TestSoakWaitsForBudget(t *testing.T) {
	f, err := soaked(t, never, func(o contender.Options) contender.Pool {
		b := o.Budget
		p := &lateToBudget{leaky: &leaky{leaks: &leaks{}}}
		if b != nil {
			p.pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Budget: b, MaxIdleBytes: dewpond.NoIdle})
			p.out = p.pool.Get(100)
		}
		return p
	})
	if err != nil || f["budget_at_rest_bytes"] != 0 {
		t.Errorf("all is given back and the budget at rest is %v; error %v", f["budget_at_rest_bytes"], err)
	}
}

type lateToBudget struct {
	*leaky
	pool *dewpond.BytePool
	out  []byte
}

func (p *lateToBudget) Close() error {
	if p.pool != nil {
		time.AfterFunc(time.Millisecond, func() { p.pool.Put(p.out); p.pool.Close() })
	}
	return p.leaky.Close()
}

// The limit goes down until the pressure has reached its target, stays there, and goes back. The next
// squeeze has the medium level for its target.
func TestDisturbance(t *testing.T) {
	const second, mib = time.Second, 1 << 20
	d := newDisturbance(2*squeezePeriod, func() int64 { return 512 * mib })
	defer d.restore()
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	step := func(at time.Duration, level pressure.Level, what string, ok func(before, after int64) bool) {
		t.Helper()
		before := limit()
		d.step(at, level)
		if after := limit(); !ok(before, after) {
			t.Errorf("at %v, pressure %v: the limit goes from %d to %d, want %s", at, level, before, after, what)
		}
	}
	down := func(before, after int64) bool { return after < before && after >= before/2 }
	same := func(before, after int64) bool { return after == before }
	step(14*second, 0, "as found", func(_, after int64) bool { return after == d.limit })
	step(15*second, 0, "above what is used", func(_, after int64) bool { return after > 1024*mib && after < d.limit })
	step(16*second, pressure.Low, "down", down)
	step(17*second, pressure.Medium, "down", down)
	step(18*second, pressure.High, "to stay", same)
	step(19*second, pressure.Medium, "down", down)
	step(30*second, pressure.High, "as found", func(_, after int64) bool { return after == d.limit })
	step(80*second, pressure.Low, "above what is used", func(_, after int64) bool { return after > 1024*mib && after < d.limit })
	step(81*second, pressure.Low, "down", down)
	step(82*second, pressure.Medium, "to stay", same)
	for range 100 {
		d.step(83*second, pressure.Low)
	}
	if limit() != leastLimit {
		t.Errorf("the limit comes down to %d, want %d", limit(), leastLimit)
	}
	if d.rises != 4 || d.peak != pressure.High {
		t.Errorf("%d rises up to %v were seen, want 4 up to high", d.rises, d.peak)
	}
	d.restore()
	if got := runtime.GOMAXPROCS(0); limit() != d.limit || got != d.procs {
		t.Errorf("the limit is %d and was %d, GOMAXPROCS is %d and was %d", limit(), d.limit, got, d.procs)
	}
	seen := map[int]bool{}
	for i := range 200 * d.procs {
		d.step(time.Duration(i)*5*second, pressure.Low)
		seen[runtime.GOMAXPROCS(0)] = true
	}
	if len(seen) != 2*d.procs {
		t.Errorf("GOMAXPROCS was %v, want all up to %d", seen, 2*d.procs)
	}
}

func TestPareto(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	below, above := 0, 0
	for range n {
		v := sizes.draw(random)
		if v < 64 || v > contender.Largest {
			t.Fatalf("drew %v", v)
		}
		if v < 202 {
			below++
		}
		if v > 64<<10 {
			above++
		}
	}
	// By the distribution function: half below 202, one in 79 above 64 KiB.
	if below < 0.49*n || below > 0.51*n || above < n/90 || above > n/70 {
		t.Errorf("%d of %d below 202 bytes and %d above 64 KiB", below, n, above)
	}
}

// A round that is interrupted ends with what it has.
func TestSoakCut(t *testing.T) {
	sp := spec("dewpond")
	sp.Duration = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	r, err := workload.Run(ctx, Scenario, sp) // a round that ignores ctx runs into the test's timeout
	if err != nil || !r.Cut {
		t.Errorf("round is %+v, error %v; want a cut one", r, err)
	}
}

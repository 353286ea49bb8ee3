package knee_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/knee"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// queue is a service with slots, exponential times and one queue, as an action: no network is
// between the generator and it, so that a testing/synctest bubble has the whole of it.
func queue(slots int, mean time.Duration) load.ActionFunc {
	free := make(chan struct{}, slots)
	for range slots {
		free <- struct{}{}
	}
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(1, 1))
	return func(ctx context.Context, _ *load.Call) error {
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		mu.Lock()
		d := time.Duration(r.ExpFloat64() * float64(mean))
		mu.Unlock()
		time.Sleep(d)
		free <- struct{}{}
		return nil
	}
}

func scenario(do load.Action) load.Scenario {
	return load.Scenario{
		Target: "http://127.0.0.1:1", Session: []load.Step{{Name: "call", Do: do}},
		Arrivals: load.Arrivals{Process: load.Poisson, Warmup: time.Second, Seed: 1},
	}
}

func find(t *testing.T, s load.Scenario, slo string, from float64, each time.Duration) load.Knee {
	t.Helper()
	o := knee.Options{From: from, Each: each, Run: func(ctx context.Context, s load.Scenario) (load.Result, error) {
		return load.Run(ctx, s, load.Options{})
	}}
	if slo != "" {
		threshold, err := load.ParseThreshold(slo)
		if err != nil {
			t.Fatal(err)
		}
		o.SLO = &threshold
	}
	r, err := knee.Find(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	want := r.Knee.Holds
	if want == 0 {
		want = from
	}
	if r.Rate != want || r.Offered == 0 {
		t.Errorf("the result is of %v/s, want %v/s", r.Rate, want)
	}
	return *r.Knee
}

// TestMM4 wants the rate at which Erlang C says that P99 is 100 ms, whatever the seed.
func TestMM4(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			s := scenario(queue(4, 10*time.Millisecond))
			s.Arrivals.Seed, s.Arrivals.Warmup = 1000*seed, 0 // as a URL has none
			f := find(t, s, "session p99 < 100ms", 100, 7*time.Second)
			q := queueing.Queue{Service: 10 * time.Millisecond, Slots: 4}
			want := q.RateFor(0.99, 100*time.Millisecond)
			if math.Abs(f.Holds-want) > 0.1*want {
				t.Errorf("%v/s holds, want %.0f: %s", f.Holds, want, f.Sentence)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
			if !strings.Contains(f.Sentence, "/s holds, ") || !strings.Contains(f.Sentence, "/s does not: p99 ") {
				t.Errorf("the sentence is %q", f.Sentence)
			}
			for _, r := range f.Rows {
				if r.Rate <= f.Fails && !r.Little {
					t.Errorf("the row of %v/s breaks Little's law: %+v", r.Rate, r)
				}
			}
		})
	}
}

// TestLucky has a target that holds 311/s, and more once for each rate: what was found by luck is
// not the answer, and neither is a rate far below.
func TestLucky(t *testing.T) {
	ran := map[float64]int{}
	lucky := func(_ context.Context, s load.Scenario) (load.Result, error) {
		rate := s.Arrivals.Rate
		ran[rate]++
		p99 := 5e7
		if rate > 311 && (rate > 340 || ran[rate] > 1) {
			p99 = 2e8
		}
		r := load.Result{Valid: true, Seconds: 1, Offered: 2000, Started: 2000, Finished: 2000, Session: load.Part{
			Response: &load.Times{P99: &p99, Samples: 2000}, Lag: &load.Times{}, FailedResponse: &load.Times{},
		}}
		r.Judge(s)
		return r, nil
	}
	slo, err := load.ParseThreshold("session p99 < 100ms")
	if err != nil {
		t.Fatal(err)
	}
	r, err := knee.Find(t.Context(), scenario(queue(1, 1)), knee.Options{SLO: &slo, From: 100, Each: time.Second, Run: lucky})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Knee; f.Holds < 311/1.05 || f.Holds > 311 || f.Fails < 311 || f.Fails > 1.06*f.Holds || ran[f.Holds] != 3 {
		t.Errorf("%v/s holds, %v/s does not, %d runs of the one: %s", f.Holds, f.Fails, ran[f.Holds], f.Sentence)
	}
}

// TestReached has a target that makes 400/s at most: what it ends after the last arrival is not
// what it reaches, and what began before the first that is measured is in its way.
func TestReached(t *testing.T) {
	for _, warmup := range []time.Duration{0, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := scenario(queue(4, 10*time.Millisecond))
			s.Arrivals.Warmup = warmup
			f := find(t, s, "session p99 < 100ms", 600, 4*time.Second)
			if r := f.Rows[0]; r.Achieved < 350 || r.Achieved > 450 {
				t.Errorf("%v/s were reached after %v of warm-up", r.Achieved, warmup)
			}
		})
	}
}

func TestWithoutSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := find(t, scenario(queue(4, 10*time.Millisecond)), "", 100, 4*time.Second)
		if !strings.HasPrefix(f.SLO, "session p99 < 1") || f.Holds < 300 || f.Holds > 400 || f.Generator {
			t.Errorf("%v/s holds %q: %s", f.Holds, f.SLO, f.Sentence)
		}
	})
}

func TestNotMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := find(t, scenario(queue(4, 10*time.Millisecond)), "session p99 < 1ms", 100, time.Second)
		if f.Holds != 0 || f.Generator || len(f.Rows) != 1 || !strings.HasPrefix(f.Sentence, "Not met at the lowest rate, 100/s: p99 ") {
			t.Errorf("%d rows: %s", len(f.Rows), f.Sentence)
		}
	})
}

// TestOverload has a rate that fills in_flight: the target is why it does not hold.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scenario(queue(4, 10*time.Millisecond))
		s.Limits.InFlight = 20
		f := find(t, s, "session p99 < 100ms", 800, 4*time.Second)
		if f.Holds != 0 || f.Generator || !strings.Contains(f.Sentence, "/s of 8") || !strings.Contains(f.Sentence, "in_flight filled") {
			t.Errorf("%+v", f)
		}
	})
}

// TestGenerator has a generator that is late from a rate on.
func TestGenerator(t *testing.T) {
	late := func(ctx context.Context, s load.Scenario) (load.Result, error) {
		ns := func(v float64) *float64 { return &v }
		r := load.Result{Valid: true, Seconds: 1, Offered: 1000, Started: 1000, Finished: 1000, Session: load.Part{
			Response: &load.Times{P99: ns(1e6), Samples: 1000}, Lag: &load.Times{P99: ns(1e5)}, FailedResponse: &load.Times{},
		}}
		if s.Arrivals.Rate > 5000 {
			r.Valid, r.Why = false, []string{"lag"}
			*r.Session.Lag.P99 = 9e5
		}
		return r, nil
	}
	r, err := knee.Find(t.Context(), scenario(queue(1, 1)), knee.Options{From: 1000, Each: time.Second, Run: late})
	if f := r.Knee; err != nil || f.Holds != 3375 || f.Sentence != "At least 3375/s: the generator is the limit." || !f.Generator {
		t.Errorf("%v: %+v", err, f)
	}
	r, err = knee.Find(t.Context(), scenario(queue(1, 1)), knee.Options{From: 6000, Each: time.Second, Run: late})
	if f := r.Knee; err != nil || f.Holds != 0 || !strings.HasPrefix(f.Sentence, "Nothing is known of the target: at the lowest rate, 6000/s, the generator is at fault: lag") || !f.Generator {
		t.Errorf("%v: %+v", err, f)
	}
}

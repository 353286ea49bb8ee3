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

	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/internal/knee"
	"github.com/dewpond/dewpond/load/queueing"
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
		return load.Run(ctx, s, load.Options{Sleep: time.Sleep})
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

// TestMM4 wants the rate at which Erlang C says that P99 is 100 ms.
func TestMM4(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		f := find(t, scenario(queue(4, 10*time.Millisecond)), "session p99 < 100ms", 100, 8*time.Second)
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
			if !r.Little {
				t.Errorf("the row of %v/s breaks Little's law: %+v", r.Rate, r)
			}
		}
	})
}

func TestWithoutSLO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := find(t, scenario(queue(4, 10*time.Millisecond)), "", 100, 4*time.Second)
		if !strings.HasPrefix(f.SLO, "session p99 < 1") || f.Holds < 300 || f.Holds > 400 {
			t.Errorf("%v/s holds %q: %s", f.Holds, f.SLO, f.Sentence)
		}
	})
}

func TestNotMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := find(t, scenario(queue(4, 10*time.Millisecond)), "session p99 < 1ms", 100, time.Second)
		if f.Holds != 0 || len(f.Rows) != 1 || !strings.HasPrefix(f.Sentence, "Not met at the lowest rate, 100/s: p99 ") {
			t.Errorf("%d rows: %s", len(f.Rows), f.Sentence)
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
	if f := r.Knee; err != nil || f.Holds != 3375 || f.Sentence != "At least 3375/s: the generator is the limit." {
		t.Errorf("%v: %+v", err, f)
	}
}

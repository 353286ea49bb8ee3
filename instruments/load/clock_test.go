package load_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/load"
)

// stalling does nothing for the first 200 ms of every 2 s, and otherwise answers after a time.
func stalling(after time.Duration) http.Handler {
	start := time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if at := time.Since(start) % (2 * time.Second); at < 200*time.Millisecond {
			time.Sleep(200*time.Millisecond - at)
		}
		time.Sleep(after)
		w.Write([]byte("ok"))
	})
}

func near(got *float64, want, within time.Duration) bool {
	return got != nil && (time.Duration(*got)-want).Abs() <= within
}

func shown(ns *float64) string {
	if ns == nil {
		return "nothing"
	}
	return time.Duration(*ns).String()
}

// TestStall has a known answer: a tenth of the arrivals wait, evenly up to 200 ms. So P95 is
// 100 ms and P99 is 180 ms, however few connections there are.
func TestStall(t *testing.T) {
	const interval = 2 * time.Millisecond
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		for _, connections := range []int{128, 8} {
			t.Run(fmt.Sprintf("%s on %d", protocol, connections), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := inBubble(t, stalling(0))
					s := get(t, bubbleURL, load.Arrivals{Rate: 500, Duration: 8 * time.Second})
					s.Protocols = []load.Share{{Protocol: protocol, Weight: 1}}
					s.Connections = connections
					r := run(t, s, o)
					if r.Offered != 4000 || r.Finished != 4000 || !r.Valid {
						t.Errorf("offered %d, finished %d, valid %v %v, errors %v", r.Offered, r.Finished, r.Valid, r.Why, r.Messages)
					}
					response := r.Session.Response
					if !near(response.P95, 100*time.Millisecond, interval) || !near(response.P99, 180*time.Millisecond, interval) {
						t.Errorf("P95 %v and P99 %v, want 100 and 180 ms", shown(response.P95), shown(response.P99))
					}
					if !near(response.P50, 0, 0) || !near(r.Session.Lag.P99, 0, 0) {
						t.Errorf("P50 %v and lag P99 %v, want 0", shown(response.P50), shown(r.Session.Lag.P99))
					}
					if waits := protocol == load.HTTP1 && connections == 8; waits != (r.Protocols[0].Waited > 0) {
						t.Errorf("%d requests waited for a connection: want some: %v", r.Protocols[0].Waited, waits)
					}
					if got := r.Protocols[0].Connections; got != uint64(connections) {
						t.Errorf("%d connections, want %d", got, connections)
					}
				})
			})
		}
	}
}

// TestStallClosed shows what a closed loop makes of the same target: its users ask no more while it
// stalls, so hardly any of their requests sees the stall.
func TestStallClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, stalling(5*time.Millisecond))
		s := get(t, bubbleURL, load.Arrivals{Users: 2, Duration: 8 * time.Second})
		r := run(t, s, o)
		if r.Mode != load.Closed || r.Digest != "" {
			t.Errorf("the mode is %q, the digest %q", r.Mode, r.Digest)
		}
		if p99 := r.Session.Response.P99; !near(p99, 5*time.Millisecond, time.Millisecond) {
			t.Errorf("P99 %v: a closed loop shows 5 ms here", shown(p99))
		}
	})
}

// TestLateWithFewSamples has too few sessions for a P99, and a generator that is late by much, or by
// what a busy machine may be.
func TestLateWithFewSamples(t *testing.T) {
	for late, valid := range map[time.Duration]bool{30 * time.Millisecond: true, 300 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: 4 * time.Second})
			r, err := load.RunLate(t.Context(), s, inBubble(t, stalling(0)), func(d time.Duration) { time.Sleep(d + late) })
			if err != nil {
				t.Fatal(err)
			}
			if r.Session.Lag.P99 != nil || r.Valid != valid || !valid && r.Why[0] != "lag is more than half of P95: the generator made it" {
				t.Errorf("late by %v: valid %v %q", late, r.Valid, r.Why)
			}
		})
	}
}

// TestSaturated has a target that cannot do what is asked: sessions are dropped at the bound. That
// is the target's overload, and the result is valid.
func TestSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }))
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: 4 * time.Second})
		s.Limits.InFlight = 50
		r := run(t, s, o)
		// 50 begin in each second but the last, and for each that ends another begins.
		if r.Offered != 400 || r.Dropped == 0 || !r.Valid || r.Started > 250 {
			t.Errorf("offered %d, started %d, dropped %d, valid %v %v", r.Offered, r.Started, r.Dropped, r.Valid, r.Why)
		}
		if want := fmt.Sprintf("takes %s of 100/s: in_flight filled", rates.Text(float64(r.Finished)/4)); r.Overload != want {
			t.Errorf("overload %q, want %q", r.Overload, want)
		}
	})
}

// TestStalledGenerator has a generator that is away for a while: of the sessions that were due then
// the most are dropped, and that is its own fault, however few of those that began were late.
func TestStalledGenerator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		away := func(d time.Duration) {
			time.Sleep(d)
			if since := time.Since(start); since > 2*time.Second && since < 2100*time.Millisecond {
				time.Sleep(200 * time.Millisecond)
			}
		}
		s := one(bubbleURL, load.ActionFunc(func(context.Context, *load.Call) error { time.Sleep(5 * time.Millisecond); return nil }))
		s.Arrivals = load.Arrivals{Rate: 1000, Duration: 10 * time.Second}
		s.Limits.InFlight = 10
		r, err := load.RunLate(t.Context(), s, load.Options{}, away)
		if err != nil {
			t.Fatal(err)
		}
		if lag := r.Session.Lag.P99; r.Dropped < 150 || r.Dropped > 250 || *lag > 1e6 {
			t.Errorf("dropped %d, lag P99 %v", r.Dropped, shown(lag))
		}
		if r.Valid || r.Overload != "" || len(r.Why) != 1 || !strings.Contains(r.Why[0], "late itself") {
			t.Errorf("valid %v %q, overload %q", r.Valid, r.Why, r.Overload)
		}
		if whole := load.Merge(r, r); whole.DroppedLag.Samples != 2*int64(r.Dropped) {
			t.Errorf("the lag of %d dropped sessions in the sum of two results, want %d", whole.DroppedLag.Samples, 2*r.Dropped)
		}
	})
}

// TestTimeout has a target that never answers for a while: the time of errors is kept apart.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := inBubble(t, http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			if time.Since(start) > time.Second {
				<-q.Context().Done()
			}
		}))
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: 2 * time.Second})
		s.Limits.Timeout = 500 * time.Millisecond
		s.Connections = 100
		r := run(t, s, o)
		if r.Finished < 100 || r.Failed < 98 || r.Errors[load.Timeout] != r.Failed || len(r.Errors) != 1 {
			t.Errorf("finished %d, failed %d, errors %v", r.Finished, r.Failed, r.Errors)
		}
		if r.Session.Response.Max != 0 || r.Session.FailedResponse.Samples != int64(r.Failed) {
			t.Errorf("an error is in the response: max %v", time.Duration(r.Session.Response.Max))
		}
		if !near(r.Session.FailedResponse.P50, 500*time.Millisecond, 5*time.Millisecond) {
			t.Errorf("errors took %v", shown(r.Session.FailedResponse.P50))
		}
	})
}

// TestWarmup wants what is in the warm-up to count nowhere.
func TestWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var late atomic.Int64
		o := inBubble(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if time.Since(start) < time.Second {
				time.Sleep(300 * time.Millisecond)
				late.Add(1)
			}
		}))
		s := get(t, bubbleURL, load.Arrivals{Rate: 10, Warmup: time.Second, Duration: time.Second})
		r := run(t, s, o)
		if r.Offered != 10 || r.Finished != 10 || r.Session.Response.Max > 1e6 || late.Load() != 10 || r.Seconds != 1 {
			t.Errorf("offered %d, finished %d in %v s, slowest %v, %d in the warm-up", r.Offered, r.Finished, r.Seconds, time.Duration(r.Session.Response.Max), late.Load())
		}
	})
}

// TestThinking wants a later step to be due when the step before has ended, plus the thinking: what
// a step takes is neither the next one's lag nor its response, and thinking is of the session alone.
func TestThinking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			time.Sleep(map[string]time.Duration{"/a": 10 * time.Millisecond, "/b": 20 * time.Millisecond}[r.URL.Path])
		}))
		s := load.Scenario{
			Target: bubbleURL[:len(bubbleURL)-1], Arrivals: load.Arrivals{Rate: 500, Duration: 4 * time.Second}, Connections: 200,
			Session: []load.Step{
				{Name: "a", Do: load.Request{URL: "/a"}},
				{Do: load.Think{Median: 100 * time.Millisecond, P95: 100 * time.Millisecond}},
				{Name: "b", Do: load.Request{URL: "/b"}},
			},
		}
		r := run(t, s, o)
		for want, times := range map[time.Duration]*load.Times{
			10 * time.Millisecond: r.Steps[0].Response, 20 * time.Millisecond: r.Steps[1].Response, 130 * time.Millisecond: r.Session.Response, 30 * time.Millisecond: r.Awake.Response,
		} {
			if !near(times.P50, want, want/100) || !near(times.P99, want, want/100) {
				t.Errorf("P50 %v and P99 %v, want %v", shown(times.P50), shown(times.P99), want)
			}
		}
		for _, p := range []load.Part{r.Session, *r.Awake, r.Steps[0], r.Steps[1]} {
			if !near(p.Lag.P99, 0, 0) {
				t.Errorf("%s: lag P99 %v, want 0", p.Name, shown(p.Lag.P99))
			}
		}
	})
}

// TestIdleConnection has a target that closes connections that nobody uses: the next request opens
// one, and is no error.
func TestIdleConnection(t *testing.T) {
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		synctest.Test(t, func(t *testing.T) {
			o := inBubble(t, http.NotFoundHandler(), func(s *http.Server) { s.IdleTimeout = 1500 * time.Millisecond })
			s := get(t, bubbleURL, load.Arrivals{Rate: 0.4, Duration: 10 * time.Second})
			s.Session[0].Do = load.Request{URL: "/", Expect: load.Expect{Status: 404}}
			s.Protocols = []load.Share{{Protocol: protocol, Weight: 1}}
			s.Connections = 1
			if r := run(t, s, o); r.Finished != 4 || r.Protocols[0].Connections != 4 {
				t.Errorf("%s: %d of 4 finished on %d connections: %v", protocol, r.Finished, r.Protocols[0].Connections, r.Messages)
			}
		})
	}
}

// TestInterrupted wants a run that ends early to report what it has, and to blame nobody for the
// sessions that it cut.
func TestInterrupted(t *testing.T) {
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		synctest.Test(t, func(t *testing.T) {
			o := inBubble(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(300 * time.Millisecond) }))
			s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: time.Minute})
			s.Protocols = []load.Share{{Protocol: protocol, Weight: 1}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			r, err := load.Run(ctx, s, o)
			if err != nil || !r.Interrupted || !r.Partial || r.Failed != 0 || r.Finished < 70 || r.Finished > 76 || r.Cut < 28 || r.Cut > 31 || r.Offered != r.Finished {
				t.Errorf("%s: %v, interrupted %v, finished %d, failed %d, cut %d, offered %d: %v", protocol, err, r.Interrupted, r.Finished, r.Failed, r.Cut, r.Offered, r.Messages)
			}
			if took := time.Since(began); took > 1100*time.Millisecond {
				t.Errorf("%s: it took %v to end", protocol, took)
			}
			time.Sleep(time.Second) // until the target's handlers have slept
		})
	}
}

// TestLateGenerator has a generator that oversleeps. What it is late by counts as response, is lag
// and no service, and spoils the result.
func TestLateGenerator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.NotFoundHandler())
		s := get(t, bubbleURL, load.Arrivals{Rate: 1000, Duration: 2 * time.Second})
		s.Session[0].Do = load.Request{URL: "/", Expect: load.Expect{Status: 404}}
		r, err := load.RunLate(t.Context(), s, o, func(d time.Duration) { time.Sleep(d + 30*time.Millisecond) })
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []load.Part{r.Session, r.Steps[0], r.Protocols[0].Part} {
			if !near(p.Response.P99, 30*time.Millisecond, time.Millisecond) || !near(p.Lag.P99, 30*time.Millisecond, time.Millisecond) || !near(p.Service.P99, 0, 0) {
				t.Errorf("%s: response P99 %v, lag P99 %v, service P99 %v", p.Name, shown(p.Response.P99), shown(p.Lag.P99), shown(p.Service.P99))
			}
			if !slices.Contains(p.Generator, "p99_ns") {
				t.Errorf("%s: the generator's percentiles are %v", p.Name, p.Generator)
			}
		}
		if r.Valid || len(r.Why) != 1 {
			t.Errorf("valid %v: %v", r.Valid, r.Why)
		}
	})
}

package load_test

import (
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// flooded answers in 5 ms, and in 300 ms while the flood of a run that begins now is there.
func flooded(from, to time.Duration) http.Handler {
	start := time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if at := time.Since(start); at >= from && at < to {
			time.Sleep(295 * time.Millisecond)
		}
		time.Sleep(5 * time.Millisecond)
	})
}

// TestStageParts wants a session to count in the stage in which it was due, one agent making all or
// five their parts, and also where a result is the sum of intervals.
func TestStageParts(t *testing.T) {
	for _, agents := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			o := inBubble(t, flooded(5*time.Second, 8*time.Second))
			s := get(t, bubbleURL, load.Arrivals{Warmup: time.Second, Stages: stages(t, "4s:100/s,3s:400/s:back,1s:200/s,2s:100/s")})
			s.Arrivals.Stages[1].Name, s.Connections = "peak", 400
			var intervals atomic.Int64
			o.Interval = func(load.Result) { intervals.Add(1) }
			results := make([]load.Result, agents)
			done := make(chan int)
			for i := range agents {
				go func() {
					o := o
					o.Part = load.Slice{Index: i, Of: agents}
					results[i] = run(t, s, o)
					done <- i
				}()
			}
			for range agents {
				<-done
			}
			r := load.Merge(results...)
			want := []load.StagePart{
				{Name: "stage 1", At: 1, Seconds: 4, From: 100, To: 100, Finished: 400},
				{Name: "peak", At: 5, Seconds: 3, From: 400, To: 400, Finished: 1200},
				{Name: "stage 3", At: 8, Seconds: 1, From: 100, To: 200, Finished: 150},
				{Name: "stage 4", At: 9, Seconds: 2, From: 200, To: 100, Finished: 300},
			}
			if len(r.Stages) != len(want) || r.Finished != 2050 || r.Rate != 205 || intervals.Load() < int64(11*agents) {
				t.Fatalf("%d stages, %d finished, a rate of %v, %d intervals", len(r.Stages), r.Finished, r.Rate, intervals.Load())
			}
			for i, w := range want {
				got := r.Stages[i]
				slow := 5 * time.Millisecond
				if w.Name == "peak" {
					slow = 300 * time.Millisecond
				}
				if !near(got.Response.P50, slow, 5*time.Millisecond) || got.Response.Samples != int64(got.Finished) || got.Lag.Max > 1e6 {
					t.Errorf("%s of %d agents: P50 %s of %d samples, want %v; lag %v", w.Name, agents, shown(got.Response.P50), got.Response.Samples, slow, got.Lag.Max)
				}
				got.Response, got.Lag, got.FailedResponse = nil, nil, nil
				if math.Abs(float64(got.Finished)-float64(w.Finished)) <= 1 { // even arrivals
					got.Finished = w.Finished
				}
				if got != w {
					t.Errorf("%d agents: a stage is %+v, want %+v", agents, got, w)
				}
			}
		})
	}
}

// TestStageOverload has a target that takes less than the flood offers, for so short a while that it is
// less than 1 % of all: the result is valid, and says in which stage.
func TestStageOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, flooded(4*time.Second, 5*time.Second))
		s := get(t, bubbleURL, load.Arrivals{Stages: stages(t, "4s:1000/s,1s:1100/s:back,20s:1000/s")})
		s.Limits.InFlight, s.Connections = 320, 400
		r := run(t, s, o)
		if r.Dropped == 0 || float64(r.Dropped) > 0.01*float64(r.Offered) {
			t.Fatalf("%d of %d sessions were dropped: want some, and less than 1 %%", r.Dropped, r.Offered)
		}
		if !r.Valid || !strings.HasSuffix(r.Overload, " of 1100/s in stage 2: in_flight filled") || r.Stages[1].Dropped == 0 || r.Stages[2].Dropped != 0 {
			t.Errorf("valid %v %v, overload %q, %d and %d dropped", r.Valid, r.Why, r.Overload, r.Stages[1].Dropped, r.Stages[2].Dropped)
		}
	})
}

// TestFloodAboveTheGenerator has a generator that stands still in a spike: the result is not valid, and
// says what was reached in which stage, and what to do.
func TestFloodAboveTheGenerator(t *testing.T) {
	for still, why := range map[time.Duration]string{
		3 * time.Second:      `the generator reached 100/s of 500/s in the stage "spike", and was late with 400 sessions until after its end: spread the load over more --agents, or ask for less`,
		5 * time.Millisecond: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := get(t, bubbleURL, load.Arrivals{Stages: stages(t, "2s:100/s,1s:500/s:back,97s:100/s")})
			s.Arrivals.Stages[1].Name = "spike"
			s.Limits.InFlight = 10_000
			began, stood := time.Now(), false
			sleep := func(d time.Duration) {
				if !stood && time.Since(began) >= 2198*time.Millisecond {
					d, stood = still, true
				}
				time.Sleep(d)
			}
			r, err := load.RunLate(t.Context(), s, inBubble(t, stalling(time.Millisecond)), sleep)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(r.Why, "; "); !stood || r.Valid != (why == "") || !strings.Contains(all, why) {
				t.Errorf("still for %v: valid %v: %s", still, r.Valid, all)
			}
		})
	}
}

package load_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestIntervalsAgree wants an interval's counts to be of the sessions whose times it has, however
// many end meanwhile: it can be the last that is heard of an agent.
func TestIntervalsAgree(t *testing.T) {
	s := load.Scenario{
		Target:   "http://127.0.0.1:1/", // never asked
		Arrivals: load.Arrivals{Rate: 1, Duration: time.Second},
		Session:  []load.Step{{Name: "nothing", Do: load.ActionFunc(func(context.Context, *load.Call) error { return nil })}},
	}
	r, err := load.Prepare(t.Context(), s, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.End()
	const users, each = 4, 20_000
	var running sync.WaitGroup
	for i := range users {
		running.Go(func() {
			for n := range each {
				r.Once(i*each + n)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	total, last := uint64(0), false
	for !last {
		select {
		case <-ended:
			last = true
		default:
		}
		one := r.Take()
		if uint64(one.Session.Response.Samples) != one.Finished {
			t.Fatalf("an interval has %d finished and %d samples", one.Finished, one.Session.Response.Samples)
		}
		total += one.Finished
	}
	if total != users*each {
		t.Errorf("the intervals have %d sessions of %d", total, users*each)
	}
}

// TestMergeOfNothing wants the sum of no results to be judged and written as any other.
func TestMergeOfNothing(t *testing.T) {
	for name, r := range map[string]load.Result{"nothing": load.Merge(), "results without a part": load.Merge(load.Result{}, load.Result{})} {
		r.Judge(load.Scenario{})
		if err := errors.Join(report.WriteText(io.Discard, &r), r.WriteJSON(io.Discard), report.WriteHTML(io.Discard, &r)); err != nil || r.Finished != 0 {
			t.Errorf("%s: %v, finished %d", name, err, r.Finished)
		}
	}
}

// TestParts wants runs of the parts of a schedule to be together what one run of all of it is: as
// many sessions, the same digest, and percentiles of one histogram with all samples.
func TestParts(t *testing.T) {
	one := func(part load.Slice, interval func(load.Result)) (r load.Result) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			o := inBubble(t, http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
				time.Sleep(time.Since(start) % (97 * time.Millisecond))
			}))
			o.Part, o.Interval = part, interval
			s := get(t, bubbleURL, load.Arrivals{Rate: 1000, Process: load.Poisson, Duration: 12 * time.Second, Seed: 3})
			s.Connections = 500
			r = run(t, s, o)
		})
		return r
	}
	all := one(load.Slice{}, nil)
	var intervals []load.Result
	again := one(load.Slice{}, func(r load.Result) { intervals = append(intervals, r) })
	merged := load.Merge(one(load.Slice{Index: 0, Of: 3}, nil), one(load.Slice{Index: 1, Of: 3}, nil), one(load.Slice{Index: 2, Of: 3}, nil))
	if len(intervals) < 12 {
		t.Errorf("%d intervals of 12 s", len(intervals))
	}
	if got := load.Merge(intervals[0], all).Environment.GOMAXPROCS; got != all.Environment.GOMAXPROCS {
		t.Errorf("an interval and the rest ran on %d processors, want %d", got, all.Environment.GOMAXPROCS)
	}
	for name, r := range map[string]load.Result{"three parts": merged, "the sum of intervals": again, "intervals": load.Merge(intervals...), "sums of intervals": load.Merge(load.Merge(intervals[:5]...), load.Merge(intervals[5:]...))} {
		if r.Offered != all.Offered || r.Finished != all.Finished || r.Digest != all.Digest {
			t.Errorf("%s: offered %d, finished %d, digest %s, want %d, %d, %s", name, r.Offered, r.Finished, r.Digest, all.Offered, all.Finished, all.Digest)
		}
		got, want := r.Session.Response, all.Session.Response
		if got.Samples != want.Samples || *got.P50 != *want.P50 || *got.P99 != *want.P99 || *got.P999 != *want.P999 || math.Abs(got.Max-want.Max) > 0.01*want.Max {
			t.Errorf("%s: P50 %v, P99 %v, P999 %v, max %v of %d, want %v, %v, %v, %v of %d", name, shown(got.P50), shown(got.P99), shown(got.P999), got.Max, got.Samples,
				shown(want.P50), shown(want.P99), shown(want.P999), want.Max, want.Samples)
		}
		if r.Protocols[0].Requests != all.Protocols[0].Requests || len(r.Steps) != 1 || r.Steps[0].Requests != all.Steps[0].Requests {
			t.Errorf("%s: %d requests, want %d", name, r.Protocols[0].Requests, all.Protocols[0].Requests)
		}
	}
}

package experiments

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// serve puts requests on a handler in this process and sets the figures of the answers: qps,
// mean_ns, p99_ns, collections, pause_ns. Arrivals without a span have that of the run.
//
// The client takes a part of the processors and of the garbage; it is the same for every case.
func serve(r *experiment.Run, h http.Handler, path string, a load.Arrivals, full time.Duration) error {
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that the end of the run cuts
	server.Start()
	defer server.Close()
	a.Duration = max(r.Span(full), 20*time.Millisecond)
	a.Warmup = a.Duration / 4
	a.Seed = uint64(r.Round)
	scenario := load.Scenario{
		Target: server.URL, Arrivals: a, Limits: load.Limits{Timeout: time.Minute},
		Session: []load.Step{{Name: "request", Do: load.Request{URL: path}}},
	}
	before := readPauses()
	got, err := load.Run(r.Context, scenario, load.Options{NoMark: true})
	// A test looks at the shape alone, and its span is too short for an answer where others work.
	for err == nil && r.Scale == experiment.Tiny && unanswered(got) {
		scenario.Arrivals.Duration *= 2
		scenario.Arrivals.Warmup *= 2
		before = readPauses()
		got, err = load.Run(r.Context, scenario, load.Options{NoMark: true})
	}
	if err != nil {
		return err
	}
	cycles, pause := readPauses().since(before)
	if got.Failed+got.Dropped > 0 && r.Scale != experiment.Tiny {
		return fmt.Errorf("%d requests failed and %d were dropped: %v", got.Failed, got.Dropped, got.Messages)
	}
	if unanswered(got) {
		return fmt.Errorf("no request was answered")
	}
	t := got.Session.Response
	qps := float64(got.Finished) / got.Seconds
	r.Set("qps_per_sec", qps)
	r.Set("mean_ns", t.Mean)
	if t.P99 != nil {
		r.Set("p99_ns", *t.P99)
	} else {
		r.Set("p99_ns", t.Max) // of too few answers
	}
	r.Set("collections", cycles)
	r.Set("collections_per_sec", cycles/(got.Seconds+scenario.Arrivals.Warmup.Seconds()))
	if cycles > 0 {
		r.Set("pause_ns", pause)
	}
	if a.Users > 0 {
		possible := 0.0
		if queueing.Little(float64(a.Users), qps, time.Duration(t.Mean), 0.2) {
			possible = 1
		}
		r.Set("little_holds", possible)
	}
	return nil
}

func unanswered(got load.Result) bool {
	return got.Session.Response == nil || got.Session.Response.Samples == 0
}

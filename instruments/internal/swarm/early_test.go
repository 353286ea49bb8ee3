package swarm

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// TestEarly ends one of two agents by hand in mid-run. It tells all that it has made: the other goes on,
// and the result says what was not made.
func TestEarly(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		ctx, end := context.WithCancel(t.Context())
		t.Cleanup(end)
		var requests atomic.Int64
		target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if requests.Add(1) == 75 {
				end()
			}
		}))
		t.Cleanup(target.Close)
		p := planOf(target.URL, 50, 3*time.Second)
		o := Options{came: func(index int) {
			if index == 0 {
				s.agents(t, 1, AgentOptions{Once: true})
			}
		}}
		ended := make(chan error, 1)
		go func() {
			ended <- Agent(ctx, s.url, AgentOptions{Once: true, Token: s.token, calls: s.calls, Grace: time.Hour})
		}()
		r, err := Run(t.Context(), p, o.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		<-ended
		short(t, p, r, 0)
		if r.Interrupted || r.Partial || r.Valid || r.Agents[0].LostAt != nil || !strings.Contains(strings.Join(r.Why, "; "), "ended before its time: context canceled: of") {
			t.Errorf("interrupted %v, valid %v: %v", r.Interrupted, r.Valid, r.Why)
		}
		if all := arrivalsOf(t, p, 1); r.Agents[1].Started != all {
			t.Errorf("the agent that was left started %d of its %d", r.Agents[1].Started, all)
		}
	})
}

// TestAbort has a target that fails, and a reason to abort in a flag, or in the file: the coordinator
// stops the agents.
func TestAbort(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
		t.Cleanup(target.Close)
		flag := planOf(target.URL, 50, time.Hour) // it does not end by itself
		flag.Abort = "errors > 20% for 1s"
		file := Plan{Name: "s.yaml", Text: fmt.Sprintf("target: %s\narrivals: {rate: 50, duration: 1h}\nabort: errors > 20%% for 1s\nsession: [{name: x, get: /}]", target.URL)}
		for _, p := range []Plan{flag, file} {
			s.agents(t, 2, AgentOptions{Once: true})
			var shown load.Progress
			r, err := Run(t.Context(), p, Options{Progress: func(p load.Progress) { shown = p }}.at(s, 2))
			if err != nil {
				t.Fatal(err)
			}
			if shown.Elapsed == 0 || shown.Failed == 0 || shown.Failed > r.Failed {
				t.Errorf("the progress is %+v, and %d failed", shown, r.Failed)
			}
			if !strings.HasPrefix(r.Aborted, "errors > 20% for 1s: 100.0 %") || r.Interrupted || !r.Partial || r.Failed == 0 || r.NotMade != 0 {
				t.Errorf("aborted %q, interrupted %v, %d failed, %d not made", r.Aborted, r.Interrupted, r.Failed, r.NotMade)
			}
		}
	})
}

// TestInterruptedBefore resumes a run whose agents a coordinator has told to end, or which ended by
// themselves: it is interrupted.
func TestInterruptedBefore(t *testing.T) {
	for _, early := range []string{"", "the coordinator says nothing for 30s"} {
		y, s := told(t, 2)
		for i := range 2 {
			last := report{Agent: i, Number: 1, Final: true, Early: early}
			last.Result.Interrupted, last.Result.Seconds = true, 1
			y.add(last, time.Now())
		}
		r, err := y.result(s)
		if err != nil || !r.Interrupted || !r.Partial || r.NotMade != 0 || r.Offered != 10 {
			t.Errorf("%v: interrupted %v, %d not made, %d offered", err, r.Interrupted, r.NotMade, r.Offered)
		}
		if why := strings.Join(r.Why, "; "); (early != "") != strings.Contains(why, "ended before its time: "+early) {
			t.Errorf("it is said: %s", why)
		}
	}
}

// told is a tally of agents that have told what they made in the first of ten seconds: 10 sessions in all.
func told(t *testing.T, agents int) (*tally, load.Scenario) {
	t.Helper()
	now := time.Now()
	y := newTally(&beginning{Agents: make([]string, agents), Start: now, Offsets: make([]time.Duration, agents)}, now)
	for i := range agents {
		n := uint64(10 / agents)
		y.add(report{Agent: i, Result: load.Result{Schema: load.Schema, Offered: n, Started: n, Finished: n}}, now)
	}
	return y, load.Scenario{Arrivals: load.Arrivals{Rate: 10, Duration: 10 * time.Second}}
}

// TestLongRun has an agent that tells 500 seconds: what is kept of them does not grow, and nothing is missing.
func TestLongRun(t *testing.T) {
	y, s := told(t, 1)
	for i := range 500 {
		one := load.Result{Schema: load.Schema, Offered: 3, Started: 3, Finished: 2, Failed: 1, Errors: map[load.Kind]uint64{load.Timeout: 1}}
		y.add(report{Number: i + 1, Result: one}, time.Now())
		if n := len(y.agents[0].results); n > 2*mostKept {
			t.Fatalf("%d results are kept", n)
		}
	}
	y.add(report{Number: 501, Final: true}, time.Now())
	r, err := y.result(s)
	if err != nil || r.Offered != 1510 || r.Finished != 1010 || r.Failed != 500 || r.Errors[load.Timeout] != 500 || r.Agents[0].Finished != 1010 {
		t.Errorf("%v: offered %d, finished %d, failed %d: %v, %+v", err, r.Offered, r.Finished, r.Failed, r.Errors, r.Agents)
	}
}

// TestEndedBeforeTheStart ends an agent that has its place and connects: the coordinator need not wait until
// it counts as lost.
func TestEndedBeforeTheStart(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		ctx, end := context.WithCancel(t.Context())
		t.Cleanup(end)
		ended := make(chan error, 1)
		go func() {
			ended <- Agent(ctx, s.url, AgentOptions{Token: s.token, calls: s.calls, Grace: time.Hour, Log: func(text string) {
				if strings.Contains(text, "takes part as agent 0") {
					end()
				}
			}})
		}()
		_, err := Run(t.Context(), planOf(mute(t), 10, time.Second), Options{}.at(s, 1))
		if err == nil || !strings.Contains(err.Error(), ": it was ended: context canceled") {
			t.Errorf("the error is %v", err)
		}
		<-ended
	})
}

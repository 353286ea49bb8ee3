package swarm

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// TestNobodyTells has two agents that are told to start and say nothing more: there is no result, and
// the error has both and why.
func TestNobodyTells(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, _ := counted(t)
		over := make(chan struct{})
		s.agents(t, 2, AgentOptions{Once: true, hold: func(int) { <-over }})
		t.Cleanup(func() { close(over) }) // before the agents are waited for
		// From the start on the coordinator's clock goes on by an hour whenever it is looked at.
		var started atomic.Bool
		var hours atomic.Int64
		o := Options{Silence: 2 * time.Hour, now: func() time.Time {
			if started.Load() {
				hours.Add(1)
			}
			return time.Now().Add(time.Duration(hours.Load()) * time.Hour)
		}}
		o.Log = func(text string) {
			if strings.Contains(text, "2 agents start") {
				started.Store(true)
			}
		}
		_, err := Run(t.Context(), planOf(target, 10, time.Second), o.at(s, 2))
		if err == nil || !strings.Contains(err.Error(), "no agent told a result: agent 0 (") || !strings.Contains(err.Error(), "; agent 1 (") ||
			!strings.Contains(err.Error(), "said nothing for 2h0m0s after its start") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestSomeTell has one agent that fails and one that is lost before they told anything, and a third
// whose results are not thrown away for that.
func TestSomeTell(t *testing.T) {
	now := time.Now()
	y := newTally(&beginning{Agents: []string{"a", "b", "c"}, Start: now, Offsets: make([]time.Duration, 3)}, now)
	y.lose(0, 10*time.Second)
	y.add(report{Agent: 1, Final: true, Error: "out of memory"}, now)
	y.add(report{Agent: 2, Result: load.Result{Schema: load.Schema, Offered: 5, Started: 5, Finished: 5}}, now)
	y.add(report{Agent: 2, Number: 1, Final: true}, now)
	r, err := y.result(load.Scenario{Arrivals: load.Arrivals{Rate: 15, Duration: time.Second}})
	why := strings.Join(r.Why, "; ")
	if err != nil || r.Finished != 5 || r.Valid || !strings.Contains(why, "agent 0 is lost") || !strings.Contains(why, "agent 1 (b) failed: out of memory: of the arrivals i with i mod 3 = 1, 5 of 5 were not made") || r.Offered != 15 {
		t.Errorf("%v: finished %d, valid %v: %s", err, r.Finished, r.Valid, why)
	}
}

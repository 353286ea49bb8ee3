package swarm

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// TestLateAgent holds an agent until the target has had what is due of the other one in two seconds.
// The schedule does not move: what the late agent should have made until then is late, and the report
// says so.
func TestLateAgent(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, 3*time.Second)
		process := string(load.Constant)
		p.Flags.Process = &process
		s.agents(t, 2, AgentOptions{Once: true, hold: func(index int) {
			for index == 1 && requests.Load() < 100 {
				time.Sleep(time.Millisecond)
			}
		}})
		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
		if late := time.Duration(r.Agents[1].First); late < time.Second {
			t.Errorf("the late agent began %v after the other", late)
		}
		if lag := time.Duration(r.Session.Lag.Max); lag < time.Second {
			t.Errorf("the longest lag is %v", lag)
		}
		if why := strings.Join(r.Why, "; "); r.Valid || !strings.Contains(why, "agent 1 began ") {
			t.Errorf("valid %v: %s", r.Valid, why)
		}
		// A second is told at its end, or later on a busy machine: less than half a second later, or it
		// would count as the next.
		if first := r.Series[0]; first.At == 1 && first.Started > 75 {
			t.Errorf("the first second has %d sessions, and half of them had not begun", first.Started)
		}
	})
}

// TestSeriesByTime has an agent whose first report is of a later second than that of the other.
func TestSeriesByTime(t *testing.T) {
	y := newTally(&beginning{Agents: []string{"a", "b"}, Offsets: make([]time.Duration, 2)}, time.Now())
	second := func(agent, number int, at float64, started uint64) {
		y.add(report{Agent: agent, Number: number, Result: load.Result{
			Schema: load.Schema, Series: []load.Second{{At: at, Started: started, Ended: started, InFlight: number + 1}},
		}}, time.Now())
	}
	second(0, 0, 1.004, 50)
	second(0, 1, 2.01, 50)
	second(0, 2, 3, 50)
	second(1, 0, 2.6, 120) // for it was stopped
	second(1, 1, 3, 30)
	got := y.series()
	if len(got) != 3 || got[0].Started != 50 || got[1].Started != 50 || got[2].Started != 200 || got[0].At != 1 || got[2].At != 3 {
		t.Errorf("the series is %+v", got)
	}
	if got[2].InFlight != 3+2 || got[2].Ended != 200 {
		t.Errorf("the last second is %+v", got[2])
	}
}

// TestConnectingIsNoSilence has a target that does not answer until the agent has said for longer than
// --silence that it connects.
func TestConnectingIsNoSilence(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		answers := make(chan struct{})
		target := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		target.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			<-answers
			return nil, nil
		}}
		target.StartTLS()
		t.Cleanup(target.Close)
		p := planOf(target.URL, 20, time.Second)
		few := "4"
		p.Flags.Insecure, p.Flags.Connections = true, &few
		s.agents(t, 1, AgentOptions{Once: true})

		// The coordinator's clock goes on by an hour with all news.
		var mu sync.Mutex
		hours, began := 0, time.Now()
		o := Options{Silence: 90 * time.Minute}
		o.told = func(n news) {
			mu.Lock()
			defer mu.Unlock()
			if hours++; hours == 3 {
				if n.Ready {
					t.Error("the agent is ready, and no connection is open")
				}
				close(answers)
			}
			if hours > 3 {
				hours = 3
			}
		}
		o.now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return began.Add(time.Duration(hours) * time.Hour)
		}
		r, err := Run(t.Context(), p, o.at(s, 1))
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := due(t, p); r.Finished != uint64(n) {
			t.Errorf("%d of %d finished: %v", r.Finished, n, r.Messages)
		}
	})
}

// TestCannotConnect has a target that refuses: the coordinator says so, and which agents cannot.
func TestCannotConnect(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target := httptest.NewServer(nil)
		target.Close()
		ctx := t.Context()
		s.agents(t, 2, AgentOptions{})
		_, err := Run(ctx, planOf(target.URL, 20, time.Second), Options{}.at(s, 2))
		if err == nil || !strings.Contains(err.Error(), "agent ") || !strings.Contains(err.Error(), "cannot connect to "+target.URL) {
			t.Errorf("the error is %v", err)
		}
	})
}

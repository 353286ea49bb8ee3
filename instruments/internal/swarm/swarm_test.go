package swarm

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/command"
)

// A meeting is where the agents and the coordinator of one test meet. Others may use the server, so
// they have calls of their own.
type meeting struct {
	url, calls string
	token      string
	within     bool // is NATS in this process
}

// servers runs a test against the NATS within, and against a real one where it listens.
func servers(t *testing.T, test func(t *testing.T, s meeting)) {
	t.Parallel()
	calls := "dewload.test." + rand.Text()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		s, err := Serve()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, meeting{s.URL, calls, s.Token, true})
	})
	const real = "127.0.0.1:4222"
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		c, err := net.Dial("tcp", real)
		if err != nil {
			t.Skip("no NATS at " + real)
		}
		c.Close()
		test(t, meeting{"nats://" + real, calls + ".real", "", false})
	})
}

// A counted target counts its requests.
func counted(t *testing.T) (url string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// planOf is a URL for a while.
func planOf(url string, rate float64, d time.Duration) Plan {
	process, flight, timeout := string(load.Poisson), 100_000, time.Minute // for a busy machine
	return Plan{Name: url, Flags: command.ScenarioFlags{Rate: (*command.Rate)(&rate), Duration: &d, Process: &process, InFlight: &flight, Timeout: &timeout}}
}

// agents starts some, and ends them at the end of the test.
func (s meeting) agents(t *testing.T, n int, o AgentOptions) {
	t.Helper()
	o.Grace = cmp.Or(o.Grace, time.Hour) // the coordinator is only slow
	o.calls, o.Token = s.calls, s.token
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	for range n {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		running.Go(func() {
			if err := Agent(ctx, s.url, o); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
}

func (o Options) at(s meeting, n int) Options {
	o.URL, o.Token, o.calls, o.Agents, o.Within = s.url, s.token, s.calls, n, s.within
	if o.Join == 0 {
		o.Join = time.Hour // the test's timeout is the limit
	}
	if o.Silence == 0 {
		o.Silence = time.Hour // nobody is lost who is only slow
	}
	return o
}

// due counts the arrivals of a plan.
func due(t *testing.T, p Plan) (n int64, digest string) {
	t.Helper()
	s, _, err := p.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	for range s.Arrivals.Times() {
		n++
	}
	return n, s.Arrivals.Digest()
}

// add wants the result to count each arrival once: as many as the target had.
func add(t *testing.T, p Plan, r load.Result, requests *atomic.Int64, agents int) {
	t.Helper()
	n, digest := due(t, p)
	sum := uint64(0)
	for _, a := range r.Agents {
		sum += a.Finished
		if a.LostAt != nil || a.Finished == 0 {
			t.Errorf("an agent is %+v", a)
		}
	}
	if r.Offered != uint64(n) || r.Finished != uint64(n) || requests.Load() != n || sum != r.Finished || r.Session.Response.Samples != n || r.Digest != digest || len(r.Agents) != agents {
		t.Errorf("offered %d, finished %d, by the agents %d, %d samples, the target had %d: want %d; digest %s, want %s; %d agents; %v", r.Offered, r.Finished, sum, r.Session.Response.Samples, requests.Load(), n, r.Digest, digest, len(r.Agents), r.Messages)
	}
}

// TestAgents wants one, two and three agents to make the same arrivals, each of them once, also
// where everything is published three times.
func TestAgents(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		for n := 1; n <= 3; n++ {
			target, requests := counted(t)
			p := planOf(target, 200, 2500*time.Millisecond)
			s.agents(t, n, AgentOptions{Once: true, times: 3})
			r, err := Run(t.Context(), p, Options{}.at(s, n))
			if err != nil {
				t.Fatal(err)
			}
			add(t, p, r, requests, n)
			// How many seconds are told is up to the machine; TestSeriesByTime has what they are.
			told, before := uint64(0), 0.0
			for _, second := range r.Series {
				if second.At <= before {
					t.Errorf("second %v is after %v", second.At, before)
				}
				told, before = told+second.Started, second.At
			}
			if told > r.Started {
				t.Errorf("the series has %d sessions of %d", told, r.Started)
			}
		}
	})
}

// A cut is a proxy whose connections can be cut.
type cut struct {
	net.Listener
	to   string
	mu   sync.Mutex
	open map[net.Conn]bool
	shut bool
}

func newCut(t *testing.T, url string) *cut {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cut{Listener: l, to: strings.TrimPrefix(url, "nats://"), open: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); c.set(true) })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go c.pass(in)
		}
	}()
	return c
}

func (c *cut) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer out.Close()
	c.mu.Lock()
	if c.shut {
		c.mu.Unlock()
		return
	}
	c.open[in] = true
	c.mu.Unlock()
	go func() {
		io.Copy(out, in)
		out.Close()
	}()
	io.Copy(in, out)
}

// set cuts all connections and takes no more, or takes them again.
func (c *cut) set(shut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = shut
	if shut {
		for conn := range c.open {
			conn.Close()
		}
		clear(c.open)
	}
}

// TestCut cuts the connection of an agent in mid-run, for as long as 500 of 700 arrivals take. It goes on, and publishes later.
func TestCut(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, 7*time.Second)
		proxy := newCut(t, s.url)
		meeting{"nats://" + proxy.Addr().String(), s.calls, s.token, s.within}.agents(t, 1, AgentOptions{Once: true})
		s.agents(t, 1, AgentOptions{Once: true})
		go func() {
			for requests.Load() < 100 {
				time.Sleep(time.Millisecond)
			}
			proxy.set(true)
			for requests.Load() < 600 {
				time.Sleep(time.Millisecond)
			}
			proxy.set(false)
		}()
		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
	})
}

// TestTooFew wants an error that has those who came.
func TestTooFew(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		s.agents(t, 1, AgentOptions{})
		_, err := Run(t.Context(), planOf(target, 10, time.Second), Options{Join: 2 * time.Second}.at(s, 2))
		if err == nil || !strings.Contains(err.Error(), "of 2 agents came") || requests.Load() != 0 {
			t.Errorf("%v, %d requests", err, requests.Load())
		}
	})
}

// TestLost has a coordinator's clock of its own: who says nothing is lost, and what comes later is
// counted apart.
func TestLost(t *testing.T) {
	now := time.Now()
	y := newTally(&beginning{Agents: []string{"a", "b"}, Start: now, Offsets: make([]time.Duration, 2)}, now)
	for i := range y.agents {
		y.agents[i].heard = now
	}
	second := func(agent, number int, started uint64) report {
		return report{Agent: agent, Number: number, Result: load.Result{Schema: load.Schema, Offered: started, Started: started, Finished: started}}
	}
	y.add(second(0, 0, 5), now.Add(time.Second))
	y.add(second(0, 0, 5), now.Add(time.Second)) // once more
	y.add(second(1, 0, 7), now.Add(time.Second))
	y.add(second(0, 1, 5), now.Add(9*time.Second))
	if lost := y.silent(now.Add(11*time.Second), 10*time.Second); len(lost) != 0 {
		t.Errorf("lost after exactly as long as one may be silent: %v", lost)
	}
	lost := y.silent(now.Add(12*time.Second), 10*time.Second)
	if fmt.Sprint(lost) != "[1]" {
		t.Fatalf("lost are %v", lost)
	}
	y.lose(1, 10*time.Second)
	y.add(second(1, 1, 7), now.Add(13*time.Second))
	last := second(0, 2, 1)
	last.Final = true
	if y.complete() {
		t.Error("complete without the last report")
	}
	y.add(last, now.Add(14*time.Second))
	if !y.complete() {
		t.Error("not complete")
	}
	r, err := y.result(load.Scenario{Arrivals: load.Arrivals{Rate: 10, Warmup: time.Second, Duration: 5 * time.Second}})
	if err != nil || r.Finished != 18 || r.Valid || len(r.Why) != 1 || !strings.Contains(r.Why[0], "agent 1 is lost from 1.0 s on: of the arrivals i with i mod 2 = 1, 18 of 25 were not made, or not told of") {
		t.Errorf("%v: finished %d, %v", err, r.Finished, r.Why)
	}
	if r.NotMade != 25-7 || r.Agents[1].NotMade != r.NotMade || r.Offered != 18+r.NotMade || r.Interrupted {
		t.Errorf("%d not made, %d offered, interrupted %v", r.NotMade, r.Offered, r.Interrupted)
	}
	if a := r.Agents[1]; a.LostAt == nil || *a.LostAt != 1 || a.Late != 1 || a.Finished != 7 || r.Agents[0].LostAt != nil {
		t.Errorf("agents: %+v", r.Agents)
	}
}

// TestAllow wants an agent to ask loopback and what it was allowed, whatever the plan says.
func TestAllow(t *testing.T) {
	dial := dialer([]string{"192.0.2.1:80"})
	if _, err := dial(t.Context(), "tcp", "192.0.2.2:80"); err == nil || !strings.Contains(err.Error(), "--allow 192.0.2.2:80") {
		t.Errorf("an address that was not allowed: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ended, "tcp", "192.0.2.1:80"); err == nil || strings.Contains(err.Error(), "--allow") {
		t.Errorf("an address that was allowed: %v", err)
	}
	for _, f := range []command.ScenarioFlags{{Body: "@/etc/passwd"}, {CA: "/etc/passwd"}, {Capture: "/tmp"}} {
		p := planOf("http://127.0.0.1:1/", 1, time.Second)
		p.Flags.Body, p.Flags.CA, p.Flags.Capture = f.Body, f.CA, f.Capture
		if _, _, err := p.Scenario(); err == nil {
			t.Errorf("a plan reads the agent's files: %+v", f)
		}
	}
	p := Plan{Name: "s.yaml", Text: "target: http://127.0.0.1:1\narrivals: {rate: 1, duration: 1s}\ndata: {a: {lines: /etc/passwd}}\nsession: [{name: x, get: \"/${a}\"}]"}
	if _, _, err := p.Scenario(); err == nil || !strings.Contains(err.Error(), "did not come with the scenario") {
		t.Errorf("a plan reads the agent's files: %v", err)
	}
	p.Files = map[string][]byte{"/etc/passwd": []byte("b\n")}
	if _, _, err := p.Scenario(); err != nil {
		t.Error(err)
	}
}

package swarm

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/leaks"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/load"
)

// asAgent in the environment makes the test binary an agent of the NATS at that URL, which follows
// agentCalls, and asCoordinator a coordinator of the plan that is the argument.
const (
	asAgent       = "DEWLOAD_TEST_AGENT"
	agentCalls    = "DEWLOAD_TEST_CALLS"
	agentToken    = "DEWLOAD_TEST_TOKEN"
	agentGrace    = "DEWLOAD_TEST_GRACE" // of an agent that takes part in one run after the other
	asCoordinator = "DEWLOAD_TEST_COORDINATOR"
)

func TestMain(m *testing.M) {
	var err error
	switch agent, coordinator := os.Getenv(asAgent), os.Getenv(asCoordinator); {
	case agent != "":
		go endWithTest()
		o := AgentOptions{Once: true, Grace: time.Hour, Token: os.Getenv(agentToken), calls: os.Getenv(agentCalls)}
		if grace, err := time.ParseDuration(os.Getenv(agentGrace)); err == nil {
			o.Once, o.Grace, o.Log = false, grace, func(s string) { fmt.Println(s) }
		}
		ctx, end := interrupt.Context()
		err = Agent(ctx, agent, o)
		end()
	case os.Getenv(asNATS) != "":
		go endWithTest()
		err = serveNATS(os.Getenv(asNATS))
	case os.Getenv(asTarget) != "":
		go endWithTest()
		err = serveTarget(os.Getenv(asTarget))
	case coordinator != "":
		go endWithTest()
		err = coordinate(coordinator)
	default:
		flag.Parse()
		flag.Set("test.parallel", "8") // they wait for their arrivals, and hardly compute
		os.Exit(leaks.Run(m.Run))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// endWithTest ends a process when the test has ended that started it, however that ends.
func endWithTest() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// A process is an agent that can be killed and stopped.
type process struct {
	*exec.Cmd
	t *testing.T
}

func startAgent(t *testing.T, s meeting) *process {
	p := &process{exec.Command(os.Args[0]), t}
	p.Env = append(os.Environ(), asAgent+"="+s.url, agentCalls+"="+s.calls, agentToken+"="+s.token)
	p.Stderr = os.Stderr
	if _, err := p.StdinPipe(); err != nil { // see endWithTest
		t.Error(err)
	}
	if err := p.Start(); err != nil {
		t.Error(err)
		return p
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	return p
}

// startsProcesses skips a test that starts agents or a coordinator, where -short leaves such tests
// out.
func startsProcesses(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
}

// two are two agents of which the second starts when the first has its place: the first is agent 0.
func (o Options) two(t *testing.T, s meeting) (first *process, with Options) {
	t.Helper()
	o.came = func(index int) {
		if index == 0 {
			startAgent(t, s)
		}
	}
	return startAgent(t, s), o.at(s, 2)
}

// at returns the URL of a target that does something when it has had so many requests, before it
// answers any more: so an agent cannot be at its end by then.
func at(t *testing.T, n int64, do func()) (url string) {
	var requests atomic.Int64
	var once sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) >= n {
			once.Do(do)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// signal sends STOP or CONT.
func (p *process) signal(name string) {
	if out, err := exec.Command("sh", "-c", "kill -"+name+" "+strconv.Itoa(p.Process.Pid)).CombinedOutput(); err != nil {
		p.t.Errorf("kill -%s: %v: %s", name, err, out)
	}
}

// A steadyClock is a coordinator's clock that goes on by a second with each report of agent 1, and
// with each look when that has given its last one. Nobody is silent by it because the machine is
// slow.
type steadyClock struct {
	began time.Time

	mu    sync.Mutex
	at    time.Duration
	final bool
	heard func(report)
}

func (c *steadyClock) report(r report) {
	if c.heard != nil {
		c.heard(r)
	}
	if r.Agent != 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at += time.Second
	c.final = c.final || r.Final
}

func (c *steadyClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final {
		c.at += time.Second
	}
	return c.began.Add(c.at)
}

// by gives the clock to a coordinator.
func (o Options) by(c *steadyClock) Options {
	c.began = time.Now()
	o.now, o.heard, o.Silence = c.now, c.report, 2*time.Second
	return o
}

// arrivalsOf counts the arrivals of one of two agents.
func arrivalsOf(t *testing.T, p Plan, index int) (n uint64) {
	t.Helper()
	s, _, err := p.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Arrivals.Times() {
		if i%2 == index {
			n++
		}
	}
	return n
}

// short wants the result to say of one of two agents how many of its arrivals are lacking, and to offer
// all that was planned.
func short(t *testing.T, p Plan, r load.Result, index int) {
	t.Helper()
	all, offered := arrivalsOf(t, p, index), r.Agents[0].Started+r.Agents[1].Started
	if lacks := all - r.Agents[index].Started - r.Cut; r.Agents[index].NotMade != lacks || r.NotMade != lacks || lacks == 0 || r.Offered != offered+lacks {
		t.Errorf("%d of its %d were not made, want %d; %d of all; %d offered", r.Agents[index].NotMade, all, lacks, r.NotMade, r.Offered)
	}
	if why := strings.Join(r.Why, "; "); !strings.Contains(why, fmt.Sprintf("of the arrivals i with i mod 2 = %d, %d of %d were not made", index, r.NotMade, all)) {
		t.Errorf("it is said: %s", why)
	}
}

// lost wants agent 0 to be lost, and what both told until then to count once.
func lost(t *testing.T, r load.Result) {
	t.Helper()
	if len(r.Agents) != 2 || r.Agents[0].LostAt == nil || r.Agents[1].LostAt != nil {
		t.Fatalf("the agents are %+v", r.Agents)
	}
	if r.Valid || !strings.Contains(strings.Join(r.Why, "; "), "agent 0 is lost from ") || !strings.Contains(strings.Join(r.Why, "; "), "were not made, or not told of") {
		t.Errorf("valid %v: %v", r.Valid, r.Why)
	}
	if sum := r.Agents[0].Started + r.Agents[1].Started; r.Started != sum || uint64(r.Session.Response.Samples) != r.Finished {
		t.Errorf("started %d, by the agents %d; finished %d, %d samples", r.Started, sum, r.Finished, r.Session.Response.Samples)
	}
}

// TestKilled kills an agent's process in mid-run.
func TestKilled(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		victim, o := Options{}.by(&steadyClock{}).two(t, s)
		p := planOf(at(t, 75, func() { victim.Process.Kill() }), 50, 3*time.Second)
		r, err := Run(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		lost(t, r)
		short(t, p, r, 0)
		if r.Aborted != "" || r.Agents[0].Late != 0 {
			t.Errorf("aborted %q, %d late results", r.Aborted, r.Agents[0].Late)
		}
		if all := arrivalsOf(t, p, 0); r.Agents[0].Started >= all {
			t.Errorf("the agent that was lost started all of its %d", all)
		}
		if all := arrivalsOf(t, p, 1); r.Agents[1].Started != all {
			t.Errorf("the agent that was left started %d of its %d", r.Agents[1].Started, all)
		}
	})
}

// TestStopped stops an agent's process, and wakes it when it was given up: its late results are
// kept out and counted. The run is ended when they have come.
func TestStopped(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		var sleeper *process
		p := planOf(at(t, 75, func() { sleeper.signal("STOP") }), 50, time.Hour)
		var given atomic.Bool // up
		ctx, end := context.WithCancel(t.Context())
		clock := &steadyClock{heard: func(r report) {
			if r.Agent == 0 && given.Load() {
				end()
			}
		}}
		o := Options{Log: func(s string) {
			if strings.Contains(s, "agent 0 says nothing") {
				given.Store(true)
				sleeper.signal("CONT")
			}
		}}
		sleeper, o = o.by(clock).two(t, s)
		r, err := Run(ctx, p, o)
		if err != nil {
			t.Fatal(err)
		}
		lost(t, r)
		if r.Agents[0].Late == 0 {
			t.Errorf("no late results: %+v", r.Agents)
		}
	})
}

// TestLossAborts wants a run to end when an agent is lost, if that was asked for.
func TestLossAborts(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		victim, o := Options{AbortOnLoss: true}.by(&steadyClock{}).two(t, s)
		p := planOf(at(t, 75, func() { victim.Process.Kill() }), 50, time.Hour) // it does not end by itself
		r, err := Run(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Aborted != "agent 0 was lost" || r.Interrupted || r.Agents[0].LostAt == nil || r.Agents[1].LostAt != nil || r.Agents[1].Finished == 0 {
			t.Errorf("aborted %q, interrupted %v, agents %+v", r.Aborted, r.Interrupted, r.Agents)
		}
	})
}

// TestClocks has agents whose clocks are wrong: they start together all the same.
func TestClocks(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, time.Second)
		for _, skew := range []time.Duration{time.Hour, -time.Hour} {
			s.agents(t, 1, AgentOptions{Once: true, skew: skew})
		}
		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
		ahead, behind := r.Agents[0].Offset, r.Agents[1].Offset
		if ahead < behind {
			ahead, behind = behind, ahead
		}
		if half := float64(time.Hour / 2); ahead < half || behind > -half {
			t.Errorf("clocks are off by %v and %v", time.Duration(ahead), time.Duration(behind))
		}
	})
}

package swarm

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// A journal has what agents say to people.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// count returns how many lines have the text.
func (j *journal) count(text string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// TestAgentsComeBack ends runs that have an agent's promise and do not begin. The next run finds all
// agents as they are.
func TestAgentsComeBack(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, time.Second)
		var said journal
		s.agents(t, 2, AgentOptions{Log: said.add})

		// One that has two of three agents when the time in which they may come is over.
		var hours, came atomic.Int64
		three := Options{now: func() time.Time { return time.Now().Add(time.Duration(hours.Load()) * time.Hour) }, Silence: 1000 * time.Hour}
		three.came = func(int) {
			if came.Add(1) == 2 {
				hours.Store(2)
			}
		}
		if _, err := Run(t.Context(), p, three.at(s, 3)); err == nil || !strings.Contains(err.Error(), "2 of 3 agents came within 1h") {
			t.Errorf("a run that lacks an agent: %v", err)
		}

		// One that is interrupted meanwhile.
		ctx, interrupt := context.WithCancel(t.Context())
		three = Options{came: func(index int) {
			if index == 1 {
				interrupt()
			}
		}}
		if _, err := Run(ctx, p, three.at(s, 3)); !errors.Is(err, context.Canceled) {
			t.Errorf("a run that is interrupted: %v", err)
		}

		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
		// An agent that was told to end before it had the answer says nothing of the run.
		for said.count(": over") < 2 || said.count("waits for the next run") != said.count("takes part as agent ") {
			time.Sleep(time.Millisecond)
		}
		if n := said.count("waits for a run at " + s.url); n != 2 {
			t.Errorf("%d agents said that they wait", n)
		}
		if early, all := said.count("ends early: the coordinator ended the run"), said.count("takes part as agent "); early != all-2 {
			t.Errorf("agents took part %d times, and said %d times that they end early", all, early)
		}
	})
}

// mute is the URL of a target that takes connections and says nothing, so that agents do not get ready.
func mute(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var taken sync.WaitGroup
	t.Cleanup(taken.Wait)
	t.Cleanup(func() { l.Close() })
	taken.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken.Go(func() {
				io.Copy(io.Discard, c)
				c.Close()
			})
		}
	})
	return "https://" + l.Addr().String()
}

// orphans are a clock of agents by which an hour goes by at each look while the coordinator is dead.
func orphans() (dead *atomic.Bool, now func() time.Time) {
	dead = new(atomic.Bool)
	var hours atomic.Int64
	return dead, func() time.Time {
		if dead.Load() {
			hours.Add(1)
		}
		return time.Now().Add(time.Duration(hours.Load()) * time.Hour)
	}
}

// TestPlacedAgentsComeBack kills the coordinator's process when two agents have their places and connect.
// By their clock an hour goes by whenever it does not answer.
func TestPlacedAgentsComeBack(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		var said journal
		dead, now := orphans()
		s.agents(t, 2, AgentOptions{Log: said.add, now: now})
		coordinator := startCoordinator(t, s, planOf(mute(t), 100, time.Second))
		for said.count("takes part as agent ") < 2 {
			time.Sleep(time.Millisecond)
		}
		coordinator.Process.Kill()
		coordinator.Wait()
		dead.Store(true)
		for said.count("the coordinator says nothing for 10s, and had not begun") < 2 {
			time.Sleep(time.Millisecond)
		}
		target, requests := counted(t)
		p := planOf(target, 100, time.Second)
		dead.Store(false)
		r, err := Run(t.Context(), p, Options{}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
	})
}

// startCoordinator starts a coordinator of two agents as a process of its own.
func startCoordinator(t *testing.T, s meeting, p Plan) *exec.Cmd {
	t.Helper()
	c := coordinatorOf(s, p)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c
}

// TestProgress wants each second to be shown once, in order, when all agents have told it that have more
// to tell, or when others are far ahead.
func TestProgress(t *testing.T) {
	now := time.Now()
	y := newTally(&beginning{Agents: []string{"a", "b", "c"}, Start: now, Offsets: make([]time.Duration, 3)}, now)
	told := func(agent, number int, started uint64) {
		y.add(report{Agent: agent, Number: number, Result: load.Result{
			Schema: load.Schema, Series: []load.Second{{At: float64(number + 1), Started: started, Failed: 1, InFlight: agent}},
		}}, now)
	}
	shown := func() (out []load.Progress) {
		for {
			_, p, ok := y.next()
			if !ok {
				return out
			}
			out = append(out, p)
		}
	}
	told(0, 0, 10)
	told(1, 0, 20)
	if got := shown(); got != nil {
		t.Errorf("before all have told it: %v", got)
	}
	told(2, 0, 30)
	if got := shown(); len(got) != 1 || got[0].Elapsed != time.Second || got[0].Rate != 60 || got[0].Failed != 3 || got[0].InFlight != 3 {
		t.Errorf("the first second is %v", got)
	}
	told(0, 1, 10)
	told(1, 1, 20)
	y.lose(2, time.Second)
	if got := shown(); len(got) != 1 || got[0].Rate != 30 || got[0].Failed != 5 {
		t.Errorf("without the lost one it is %v", got)
	}
	for number := 2; number < 6; number++ {
		told(0, number, 10)
	}
	if got := shown(); len(got) != 1 || got[0].Elapsed != 3*time.Second || got[0].Rate != 10 {
		t.Errorf("where one is 4 seconds behind it is %v", got)
	}
	y.add(report{Agent: 1, Number: 9, Final: true}, now)
	if got := shown(); len(got) != 3 || got[2].Elapsed != 6*time.Second || got[2].Failed != 9 {
		t.Errorf("at the end it is %v", got)
	}
}

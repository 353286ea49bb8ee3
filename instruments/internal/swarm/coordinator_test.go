package swarm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// coordinate runs a coordinator as a process of its own: it prints the run when that has begun.
func coordinate(text string) error {
	var given struct {
		URL, Calls, Token string
		Within            bool
		Plan              Plan
		Silence           time.Duration
		Tell              bool // who came, and at the end the result or the error
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return err
	}
	o := Options{Silence: given.Silence, Log: func(s string) { fmt.Println(s) }}
	if given.Tell {
		o.came = func(index int) { fmt.Printf("agent %d came\n", index) }
	}
	r, err := Run(context.Background(), given.Plan, o.at(meeting{given.URL, given.Calls, given.Token, given.Within}, 2))
	switch {
	case !given.Tell:
		return err
	case err != nil:
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", "; "))
	default:
		fmt.Printf("result %s\n", encoded(r))
	}
	return nil
}

// coordinatorOf is a process of its own that coordinates two agents.
func coordinatorOf(s meeting, p Plan) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), asCoordinator+"="+string(encoded(map[string]any{"URL": s.url, "Calls": s.calls, "Token": s.token, "Within": s.within, "Plan": p})))
	c.Stderr = os.Stderr
	if _, err := c.StdinPipe(); err != nil { // see endWithTest
		panic(err)
	}
	return c
}

// killedCoordinator kills a coordinator's process when the target has had so many requests, and returns
// its run.
func killedCoordinator(t *testing.T, s meeting, p Plan, requests *atomic.Int64, n int64) (run string) {
	t.Helper()
	c := coordinatorOf(s, p)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n') // that it waits for agents
	if err != nil {
		t.Fatal(err)
	}
	for requests.Load() < n {
		time.Sleep(time.Millisecond)
	}
	return strings.TrimSuffix(strings.Fields(line)[1], ":")
}

// TestResume kills the coordinator's process in mid-run, and lets another one go on.
func TestResume(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, 3*time.Second)
		s.agents(t, 2, AgentOptions{Once: true})
		run := killedCoordinator(t, s, p, requests, 150)
		o := Options{Resume: run}.at(s, 2)
		r, err := Run(t.Context(), Plan{}, o)
		if err != nil {
			t.Fatal(err)
		}
		add(t, p, r, requests, 2)
		if _, err := Run(t.Context(), Plan{}, o); err == nil || !strings.Contains(err.Error(), "no run") {
			t.Errorf("a run that is over was resumed: %v", err)
		}
	})
}

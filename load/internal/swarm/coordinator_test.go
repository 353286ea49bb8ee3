package swarm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// coordinate runs a coordinator as a process of its own: it prints the run when that has begun.
func coordinate(text string) error {
	var given struct {
		URL, Calls string
		Plan       Plan
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return err
	}
	_, err := Run(context.Background(), given.Plan, Options{Log: func(s string) { fmt.Println(s) }}.at(meeting{given.URL, given.Calls}, 2))
	return err
}

// TestResume kills the coordinator's process in mid-run, and lets another one go on.
func TestResume(t *testing.T) {
	startsProcesses(t)
	servers(t, func(t *testing.T, s meeting) {
		target, requests := counted(t)
		p := planOf(target, 100, 3*time.Second)
		s.agents(t, 2, AgentOptions{Once: true})
		first := exec.Command(os.Args[0])
		first.Env = append(os.Environ(), asCoordinator+"="+string(encoded(map[string]any{"URL": s.url, "Calls": s.calls, "Plan": p})))
		first.Stderr = os.Stderr
		out, err := first.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		run := strings.TrimSuffix(strings.Fields(line)[1], ":")
		for requests.Load() < 150 {
			time.Sleep(time.Millisecond)
		}
		first.Process.Kill()
		first.Wait()
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

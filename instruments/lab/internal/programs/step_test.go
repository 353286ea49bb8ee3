package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const said = `=== RUN   TestA
--- PASS: TestA (0.00s)
    --- PASS: TestA/sub (0.00s)
--- FAIL: TestB (0.00s)
    --- FAIL: TestB/sub (0.00s)
    b_test.go:1: secret
log: dewpond: double put to pool "secret"
dewpond: leak: 2 objects of pool "secret"
dewpond: nothing of the kind
DEWPOND_LOAD {"ops":3,"seconds":1.5,"figures":{"cpu_time_ns":7}}
`

func TestEnding(t *testing.T) {
	var e Ending
	e.read([]byte(said))
	if e.Passed != 2 || !slices.Equal(e.Failures, []string{"TestB"}) || e.Reports != 2 {
		t.Errorf("%+v", e)
	}
	if l := e.Load; l == nil || l.Ops != 3 || l.Seconds != 1.5 || l.Figures[cpu] != 7 {
		t.Errorf("the load is %+v", e.Load)
	}
}

// Of what a program says under checks nothing but counts comes back.
func TestReportsAreWithheld(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a shell; the run without -short does")
	}
	for _, check := range []string{"DEWPOND_CHECK=off", checked} {
		e, err := Step{Dir: ".", Args: []string{"sh", "-c", "echo \"$SAID\"; echo secret >&2; exit 1"}, Env: []string{"SAID=" + said, check}}.Do(t.Context())
		if err != nil || !e.Failed || e.Reports != 2 {
			t.Fatalf("%s: %+v, %v", check, e, err)
		}
		if shown := strings.Contains(fmt.Sprint(e, e.must("it failed")), "secret"); shown != (check != checked) {
			t.Errorf("%s: it says %q", check, e.Said)
		}
		if named := slices.Equal(e.Failures, []string{"TestB"}); named != (check != checked) || len(e.Failures) != 1 {
			t.Errorf("%s: %q fail", check, e.Failures)
		}
	}
	t.Setenv("GOFLAGS", "-overlay=some")
	if e, err := (Step{Dir: ".", Args: []string{"sh", "-c", "echo \"$GOFLAGS\"; exit 1"}}).Do(t.Context()); err != nil || e.Said != "-overlay=some -mod=mod -buildvcs=false\n" {
		t.Errorf("the flags of the Go tool are %q, %v", e.Said, err)
	}
	if _, err := (Step{Dir: ".", Args: []string{"there-is-no-such-program"}}).Do(t.Context()); err == nil {
		t.Error("a program that cannot be started is no error")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	cancel(ended)
	if _, err := (Step{Dir: ".", Args: []string{"sleep", "1000"}}).Do(ctx); !errors.Is(err, ended) && !errors.Is(err, context.Canceled) {
		t.Errorf("a step whose context has ended: %v", err)
	}
}

// What a step has started ends with it.
func TestStepEndsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a shell; the run without -short does")
	}
	if runtime.GOOS != "linux" {
		t.Skip("looks for a process in /proc")
	}
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := Step{Dir: ".", Args: []string{"sh", "-c", "sleep 100000 & echo $! >" + file + "; wait"}}.Do(ctx)
		ended <- err
	}()
	var pid string
	for ; !strings.HasSuffix(pid, "\n"); time.Sleep(time.Millisecond) {
		data, _ := os.ReadFile(file)
		pid = string(data)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the step ended with %v", err)
	}
	for { // if it goes on, the test runs into its timeout
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(pid), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

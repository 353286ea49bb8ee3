package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dewpond/dewpond/load/internal/matchmaker"
)

// TestMain lets scripts run this test binary under the name dewload.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dewload": main})
}

// TestScripts runs the scripts, each with a target of its own at $TARGET.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "interrupts": interrupts},
		Setup: func(env *testscript.Env) error {
			target := matchmaker.Start(false)
			env.Defer(target.Close)
			env.Setenv("TARGET", target.URL)
			env.Values["target"] = target
			return nil
		},
	})
}

// interrupts is a script command: interrupts CODE PROGRAM ARGS... starts the program, interrupts it
// when the target has had ten requests, and wants that exit code of it. With one connection all of
// them but the last were answered.
func interrupts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupts CODE PROGRAM ARGS...")
	}
	// testscript puts its own programs first.
	path := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[1])
	program := exec.Command(path, args[2:]...)
	program.Dir = ts.Getenv("WORK")
	var out strings.Builder
	program.Stdout, program.Stderr = &out, &out
	ts.Check(program.Start())
	target := ts.Value("target").(*matchmaker.Target)
	for target.Requests() < 10 {
		time.Sleep(time.Millisecond)
	}
	ts.Check(program.Process.Signal(os.Interrupt))
	program.Wait()
	if got := strconv.Itoa(program.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s: %s", got, args[0], out.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("interrupted.txt"), []byte(out.String()), 0o644))
}

// exits is a script command: exits CODE PROGRAM ARGS... runs the program and wants that exit code
// of it.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

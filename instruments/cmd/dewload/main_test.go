package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/internal/swarm"
)

// TestMain lets scripts run this test binary under the name dewload.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dewload": func() {
		endWithTest()
		main()
	}})
}

// TestScripts runs the scripts, each with a target of its own at $TARGET.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "interrupts": stops("INT"), "terminates": stops("TERM"), "private": private, "listens": listens},
		Setup: func(env *testscript.Env) error {
			target := matchmaker.Start(false)
			env.Defer(target.Close)
			env.Setenv("TARGET", target.URL)
			env.Setenv("HOST", strings.TrimPrefix(target.URL, "http://"))
			env.Values["target"] = target
			return nil
		},
	})
}

// stops is the script commands interrupts and terminates: interrupts CODE PROGRAM ARGS... starts the program,
// sends it the signal when the target has had ten requests, and wants that exit code of it. With one connection all of
// them but the last were answered.
func stops(signal string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) { stop(ts, neg, args, signal) }
}

func stop(ts *testscript.TestScript, neg bool, args []string, signal string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupts or terminates CODE PROGRAM ARGS...")
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
	ts.Check(exec.Command("kill", "-"+signal, strconv.Itoa(program.Process.Pid)).Run())
	program.Wait()
	if got := strconv.Itoa(program.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s: %s", got, args[0], out.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("interrupted.txt"), []byte(out.String()), 0o644))
}

// private is a script command: private FILE... wants files that only their owner may read.
func private(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if mode := info.Mode().Perm(); neg || runtime.GOOS != "windows" && mode != 0o600 {
			ts.Fatalf("%s has the permissions %o", name, mode)
		}
	}
}

// listens is a script command: listens NATS TOKEN starts a NATS that asks for a token, and puts its
// URL and the token into the environment under these names.
func listens(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: listens NATS TOKEN")
	}
	s, err := swarm.Listen("127.0.0.1:0")
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL)
	ts.Setenv(args[1], s.Token)
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

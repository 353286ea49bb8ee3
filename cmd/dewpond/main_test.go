package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden help texts and packages")

// TestMain lets scripts run this test binary under the name dewpond.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dewpond": main})
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	pages := httptest.NewServer(http.FileServer(http.Dir("testdata/pages")))
	t.Cleanup(pages.Close) // the scripts run beside each other, once this function has returned
	testscript.Run(t, testscript.Params{
		Setup: func(e *testscript.Env) error {
			e.Setenv("PAGES", pages.URL) // of the programs that top looks at
			return nil
		},
		Dir:                 "testdata/script",
		Condition:           condition,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// condition has the conditions of the scripts: race holds under the race detector.
func condition(name string) (bool, error) {
	if name != "race" {
		return false, fmt.Errorf("no condition %q", name)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false, errors.New("the test binary has no build information")
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}), nil
}

// exits is a script command: exits CODE PROGRAM ARGS... runs the program, and fails unless its exit
// code is CODE.
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

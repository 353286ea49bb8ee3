package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fakeGo makes a go command that prints a version, or fails unless the environment names
// a toolchain, whose version it prints then, and that it downloads it.
func fakeGo(t *testing.T, dir, name, version string) string {
	path := filepath.Join(dir, name)
	script := fmt.Sprintf("#!/bin/sh\nif [ -n \"$GOTOOLCHAIN\" ]; then echo 'go: downloading it' >&2; echo \"$GOTOOLCHAIN\"; else echo %s; fi\n", version)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNextGo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the go commands of this test are scripts of a shell")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("HOME", dir)
	t.Setenv("DEWPOND_LAB_GO127", "")
	t.Setenv("GOTOOLCHAIN", "")
	want := func(what, command string, env ...string) {
		t.Helper()
		if c, e, err := nextGo(t.Context()); err != nil || c != command || !slices.Equal(e, env) {
			t.Errorf("%s: %q %q %v, want %q %q", what, c, e, err, command, env)
		}
	}
	if c, _, err := nextGo(t.Context()); err == nil || !strings.Contains(err.Error(), "DEWPOND_LAB_GO127") {
		t.Errorf("without any go command: %q, %v, which should name DEWPOND_LAB_GO127", c, err)
	}
	fakeGo(t, dir, "go", "go1.26.8")
	want("this go with another toolchain", "go", "GOTOOLCHAIN="+nextToolchain)
	if err := os.MkdirAll(filepath.Join(dir, "sdk", "go1.27.1", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	want("one of sdk", fakeGo(t, filepath.Join(dir, "sdk", "go1.27.1", "bin"), "go", "go1.27.1"))
	fakeGo(t, dir, "go1.27", "go1.270.1")
	want("one that only begins alike", filepath.Join(dir, "sdk", "go1.27.1", "bin", "go"))
	want("one in the path", fakeGo(t, dir, "gotip", "go1.27rc1"))
	own := fakeGo(t, dir, "mine", "go1.27.3")
	t.Setenv("DEWPOND_LAB_GO127", own)
	want("one that is named", own)
	t.Setenv("DEWPOND_LAB_GO127", fakeGo(t, dir, "old", "go1.26.8"))
	if c, _, err := nextGo(t.Context()); err == nil {
		t.Errorf("%s is taken, though it is Go 1.26", c)
	}
}

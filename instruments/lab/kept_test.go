package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/kept"
)

// The lab has what was the service's, so its commands are looked at together.
func TestFlagsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	service := filepath.Join(t.TempDir(), "matchmaker")
	if out, err := exec.Command("go", "build", "-o", service, "github.com/dewpond/dewpond/examples/matchmaker").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var now []string
	for _, program := range []string{"lab", service} {
		names, err := kept.Flags(program)
		if err != nil {
			t.Fatal(err)
		}
		now = append(now, names...)
	}
	kept.Test(t, "testdata/kept/flags.txt", now, "../../CHANGELOG.md")
}

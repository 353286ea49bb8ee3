package main

import (
	"os"
	"os/exec"
	"testing"
)

const goldenHelp = "testdata/help.golden"

// The help says what it said. go test -run Help -update writes it.
func TestHelp(t *testing.T) {
	startsProcesses(t)
	c := exec.Command(os.Args[0], "serve", "--help")
	c.Env = append(os.Environ(), asService+"=1", "COLUMNS=80")
	got, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(goldenHelp, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenHelp)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v; the help is\n%s\nwant\n%s", err, got, want)
	}
}

package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Of other modules the command links the packages of the golden file, and no more: at its first
// run all of them are downloaded and compiled. The test cache cannot
// serve a stale answer, because this test binary links the same packages.
func TestLinkedPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	const golden = "testdata/packages.txt"
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=", "CGO_ENABLED=1")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool {
		return strings.HasPrefix(p+"/", "github.com/dewpond/dewpond/")
	})
	slices.Sort(packages)
	got := strings.Join(packages, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the command links other packages than %s (go test -run LinkedPackages -update rewrites it):\n%s", golden, got)
	}
}

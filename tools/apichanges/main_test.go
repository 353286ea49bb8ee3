package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"
)

// A change of a public name is reported until it is listed, a change of an internal one never.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	changes := func(flags ...string) (string, error) {
		var out strings.Builder
		err := run(append([]string{"-C", dir}, flags...), &out)
		return out.String(), err
	}
	write("go.work", "go 1.26.0\n\nuse .\n")
	write("go.mod", "module example.com/pond\n\ngo 1.26.0\n")
	write("pond.go", "package pond\n\nfunc Get(n int) []byte { return make([]byte, n) }\n")
	write("internal/engine/engine.go", "package engine\n\nfunc Pop() {}\n")
	if out, err := changes("-baseline"); out != "" || err != nil {
		t.Fatalf("-baseline says %q, %v", out, err)
	}
	write("internal/engine/engine.go", "package engine\n\nfunc Pop() int { return 0 }\n")
	if out, err := changes(); out != "" || err != nil {
		t.Errorf("after a change of an internal package: %q, %v", out, err)
	}
	write("pond.go", "package pond\n\nfunc Get(n uint) []byte { return make([]byte, n) }\n\nfunc Put([]byte) {}\n")
	out, err := changes()
	if err == nil || !strings.Contains(err.Error(), "-update") {
		t.Errorf("changes that are not listed: %v", err)
	}
	for _, want := range []string{"example.com/pond\n", "Incompatible changes:", "Get: changed from func(int) []byte to func(uint) []byte", "Compatible changes:", "Put: added"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if _, err := changes("-update"); err != nil {
		t.Fatal(err)
	}
	if again, err := changes(); again != out || err != nil {
		t.Errorf("changes that are listed: %v\n%s", err, again)
	}
	if _, err := changes("v1.2.3"); err == nil {
		t.Error("an argument passes")
	}
}

// The list says each change once and in one order, whatever the order in which they were found.
func TestChangesAreInOrder(t *testing.T) {
	got := ordered(apidiff.Report{Changes: []apidiff.Change{
		{Message: "Put: added", Compatible: true},
		{Message: "Trim: removed"},
		{Message: "Get: added", Compatible: true},
		{Message: "Put: added", Compatible: true},
	}}).String()
	const want = "Incompatible changes:\n- Trim: removed\nCompatible changes:\n- Get: added\n- Put: added\n"
	if got != want {
		t.Errorf("the list is\n%swant\n%s", got, want)
	}
}

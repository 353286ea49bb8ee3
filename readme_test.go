package dewpond_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The README's program compiles and prints what it says.
func TestReadmeProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program; the run without -short does")
	}
	t.Parallel() // it only waits
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README has no Go program")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod := "module readme\n\ngo 1.26\n\nrequire github.com/dewpond/dewpond v0.0.0\n\nreplace github.com/dewpond/dewpond => " + root + "\n"
	for name, text := range map[string]string{"main.go": program, "go.mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "1536" {
		t.Errorf("%v\n%s", err, out)
	}
}

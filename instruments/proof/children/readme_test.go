package children

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's program compiles and prints what it says.
func TestReadmeProgram(t *testing.T) {
	t.Parallel() // it only waits
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README has no Go program")
	}
	root, err := filepath.Abs("../../..")
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
	// The numbers depend on whether the scheduler moves the program's goroutine.
	said, number := "", regexp.MustCompile(`[0-9.]+`)
	for line := range strings.Lines(program) {
		if comment, ok := strings.CutPrefix(line, "\t// "); ok {
			said = comment
		}
	}
	if err != nil || number.ReplaceAllString(string(out), "N") != number.ReplaceAllString(said, "N") {
		t.Errorf("%v\nprints %s\nsays   %s", err, out, said)
	}
}

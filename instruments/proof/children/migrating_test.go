package children

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What docs/migrating.md tells you to write compiles, and go vet has nothing to say of
// it: the lines of each diff but those that it takes away are a package of their own. A diff that
// names its file is of a module, and .ci/nightly programs compiles it.
func TestMigratingCompiles(t *testing.T) {
	t.Parallel() // it only waits
	doc, err := os.ReadFile("../../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	after := newSides(string(doc))
	if len(after) < 7 {
		t.Fatalf("%d diffs were found: not all were seen", len(after))
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module migrating\n\ngo 1.26\n\nrequire github.com/dewpond/dewpond v0.0.0\n\nreplace github.com/dewpond/dewpond => " + root + "\n",
	}
	for i, code := range after {
		files[fmt.Sprintf("diff%d/diff.go", i+1)] = withImports(code)
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "vet", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// newSides are the new sides of a document's diffs.
func newSides(doc string) []string {
	var all []string
	for _, rest := range strings.Split(doc, "```diff\n")[1:] {
		diff, _, _ := strings.Cut(rest, "```")
		if strings.HasPrefix(diff, "--- a/") {
			continue
		}
		var code strings.Builder
		for line := range strings.Lines(diff) {
			if kind := line[0]; kind == '+' || kind == ' ' {
				code.WriteString(line[1:])
			} else if kind != '-' {
				code.WriteString(line)
			}
		}
		all = append(all, code.String())
	}
	return all
}

var qualifier = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)

// withImports makes a file of declarations: it imports what they name.
func withImports(code string) string {
	paths := map[string]string{
		"dewpond": "github.com/dewpond/dewpond",
		"bytes":   "bytes", "context": "context", "fmt": "fmt", "io": "io",
	}
	var imports []string
	for _, m := range qualifier.FindAllStringSubmatch(code, -1) {
		if p, ok := paths[m[1]]; ok {
			imports = append(imports, fmt.Sprintf("import %q\n", p))
		}
	}
	slices.Sort(imports)
	return "package diff\n\n" + strings.Join(slices.Compact(imports), "") + "\n" + code
}

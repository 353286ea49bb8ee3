package repocheck

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// The repository that this file is in keeps its rules. Unpacked from a module zip it is
// the root module alone, and the test checks what is there.
func TestThisRepository(t *testing.T) {
	root := rootDir(t)
	found, err := Check(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// The rules check the right files: a walk that finds nothing breaks no rule.
func TestThisRepositoryIsSeen(t *testing.T) {
	r, err := read(os.DirFS(rootDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range r.sources {
		seen[s.path] = true
	}
	for _, want := range []string{"bytepool.go", linknameAddresses[0], "internal/repocheck/repository_test.go"} {
		if !seen[want] {
			t.Errorf("%s is not among the %d Go files that were seen", want, len(seen))
		}
	}
	if m := r.moduleOf("internal/repocheck"); m == nil || m.dir != "." {
		t.Errorf("internal/repocheck is in module %+v, want the root", m)
	}
}

// rootDir returns the nearest directory above whose go.mod is the root module's. In a
// clone it has go.work; in a module zip it exists too.
func rootDir(t *testing.T) string {
	t.Helper()
	dir := "."
	for range 10 {
		data, err := os.ReadFile(dir + "/go.mod")
		if err == nil {
			for _, words := range modLines(data) {
				if words[0] == "module" && words[1] == modulePath {
					return dir
				}
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		dir = path.Join("..", dir)
	}
	t.Fatalf("no go.mod of %s above", modulePath)
	return ""
}

func TestUnreadable(t *testing.T) {
	_, err := Check(tree("-- bytepool.go --\npackage dewpond\nfunc {\n"))
	if err == nil || !strings.Contains(err.Error(), "bytepool.go:2") {
		t.Errorf("a file that does not parse: error %v, want one that names bytepool.go:2", err)
	}
}

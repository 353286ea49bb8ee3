package repocheck

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
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

// The tables allow nothing to what is not there, and nothing that nobody does, for such a row
// would allow it later without anybody's notice. Public packages anybody may import.
func TestTablesSayWhatIsThere(t *testing.T) {
	r, err := read(os.DirFS(rootDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.files, func(f *file) bool { return f.path == "go.work" }) {
		t.Skip("a module zip lacks the nested modules")
	}
	imported := map[string][]string{} // by the row that allows it
	for _, s := range r.sources {
		l, _ := layerOf(s.dir)
		imported[l.pkg] = append(imported[l.pkg], s.dir)
		for p := range s.imports() {
			if dir, ok := within(p); ok {
				imported[l.pkg] = append(imported[l.pkg], dir)
			}
		}
	}
	for _, l := range layers {
		if imported[l.pkg] == nil {
			t.Errorf("the table of layers has a row for %s, which is not there", l.pkg)
		}
		for _, may := range l.may {
			if may != ownModule && !slices.Contains([]string{".", "offheap", "dewtest", "dewsync", "pressure", "misuse"}, may) && !slices.ContainsFunc(imported[l.pkg], func(dir string) bool { return matches(may, dir) }) {
				t.Errorf("the table of layers allows %s to import %s, and nobody does", l.pkg, may)
			}
		}
	}
	for name, addresses := range map[string][]string{
		"unsafe": unsafeAddresses, "linkname": linknameAddresses, "start": startAddresses, "assembly": assemblyAddresses, "syscall": syscallAddresses,
		"raw atomics": rawAtomicAddresses, "explored": exploredAddresses, "unexplored": unexploredAddresses,
	} {
		for _, a := range addresses {
			if !slices.ContainsFunc(r.sources, func(s *source) bool { return s.isAt([]string{a}) }) {
				t.Errorf("the addresses of %s have %s, which is not there", name, a)
			}
		}
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

package programs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// page is docs/migrating.md.
func page(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// fixture is a copy of a module of ours.
func fixture(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/fixture")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The recipe of the page changes each file that has a pool, and no file that only talks of one.
func TestRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a shell; the run without -short does")
	}
	dir := fixture(t)
	if err := (Recipe{"."}).apply(t.Context(), dir, page(t)); err != nil {
		t.Fatal(err)
	}
	was := read(t, "testdata/fixture", "pool.go")
	want := strings.NewReplacer("\t\"sync\"\n", "\t\"github.com/dewpond/dewpond/dewsync\"\n", "sync.Pool", "dewsync.Pool").Replace(was)
	if got := read(t, dir, "pool.go"); got != want {
		t.Errorf("pool.go is now\n%s", got)
	}
	if got := read(t, dir, "once.go"); got != read(t, "testdata/fixture", "once.go") {
		t.Errorf("once.go is now\n%s", got)
	}
	n, err := changed("testdata/fixture", dir)
	if want := (Lines{2, 2}); err != nil || n != want {
		t.Errorf("%+v lines have changed, want %+v (%v)", n, want, err)
	}
	if err := (Recipe{"."}).apply(t.Context(), dir, "no recipe"); err == nil {
		t.Error("a page without the recipe is no error")
	}
}

// A copy without a go.mod gets one, and another keeps its own.
func TestBeModule(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"example.com/first", "example.com/second"} {
		if err := (copies{Program: Program{Module: name}}).beModule(dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, "go.mod"); got != "module example.com/first\n" {
		t.Errorf("go.mod is %q", got)
	}
	if err := (copies{}).beModule(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// What a rule does not find as often as it says is an error: the program is not the one that the
// rule was written for.
func TestRules(t *testing.T) {
	dir := fixture(t)
	for _, c := range []struct {
		edit Edit
		want string // what pool.go has then, or the error
	}{
		{Rule{"pool.go", "pages", "all", 2}, "has 3 times, and not 2: pages"},
		{Rule{"none.go", "pages", "all", 2}, "none.go"},
		{Rule{"pool.go", "pages", "all", 3}, "b := all.Get()"},
		{Import{"pool.go", "example.com/a"}, "import (\n\t\"example.com/a\"\n\t\"bytes\"\n"},
		{Import{"once.go", "example.com/a"}, "has 0 times"},
	} {
		err := c.edit.apply(t.Context(), dir, "")
		got := read(t, dir, "pool.go")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: got %s, want %s", c.edit, got, c.want)
		}
	}
}

func TestPageDiff(t *testing.T) {
	const diff = "\nours/fixture 1, from nothing:\n\n```diff\n--- a/pool.go\n+++ b/pool.go\n@@ -8 +8,2 @@\n\n-var pages = sync.Pool{New: func() any { return new(bytes.Buffer) }}\n+// Pages.\n+var pages = sync.Pool{}\n```\n"
	dir := fixture(t)
	edit := PageDiff{"ours/fixture 1", "pool.go"}
	if err := edit.apply(t.Context(), dir, diff); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "pool.go"); !strings.Contains(got, ")\n\n// Pages.\nvar pages = sync.Pool{}\n\n") {
		t.Errorf("pool.go is now\n%s", got)
	}
	for _, text := range []string{diff /* again */, "", strings.Replace(diff, "@@", "@", 1)} {
		if err := edit.apply(t.Context(), dir, text); err == nil {
			t.Errorf("no error of %q", text)
		}
	}
}

// The page has each diff that a program names, and what the diff adds is a pool.
func TestPageHasDiffs(t *testing.T) {
	diffs := 0
	for _, p := range All() {
		for _, edit := range p.Edits {
			d, ok := edit.(PageDiff)
			if !ok {
				continue
			}
			diffs++
			hunks, err := d.hunks(page(t))
			if err != nil {
				t.Error(err)
			}
			added := ""
			for _, h := range hunks {
				added += h[1]
				if h[0] == "" || h[0] == h[1] {
					t.Errorf("%s: a hunk edits nothing: %q", d.File, h)
				}
			}
			if !strings.Contains(added, "dewpond.MustPool(") {
				t.Errorf("%s: the diff adds no pool:\n%s", d.File, added)
			}
		}
	}
	if diffs != strings.Count(page(t), "\n--- a/") {
		t.Errorf("%d diffs of the page's %d are applied", diffs, strings.Count(page(t), "\n--- a/"))
	}
}

// A load's file has the load, and no two of a package are in different files, for both would have
// the map of loads.
func TestLoadsAreThere(t *testing.T) {
	for _, p := range All() {
		files := map[string]string{}
		for _, l := range p.Loads {
			if text := read(t, "_loads", l.File); !strings.Contains(text, "\t\""+l.Name+"\": ") {
				t.Errorf("%s has no load %q", l.File, l.Name)
			}
			if other := files[l.Package]; other != "" && other != l.File {
				t.Errorf("%s: %s and %s are of one package", p.Name, l.File, other)
			}
			files[l.Package] = l.File
		}
	}
}

package programs

import (
	"os"
	"os/exec"
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

// shapes are files that the recipe changes in code and nowhere else, or leaves as they are. $$ stands for a
// backquote.
var shapes = map[string]struct {
	changed bool
	text    string
}{
	"comment.go":  {true, "import \"sync\"\n\nvar comment = sync.Pool{}\n\n// No sync.Mutex is held, and this is no sync.Pool.\nfunc _() { comment.Get() }\n"},
	"block.go":    {true, "import (\n\t\"fmt\"\n\t\"sync\"\n)\n\n/*\nsync.Mutex\n*/\nvar block = &sync.Pool{}\n\nfunc _() { fmt.Print(block.Get()) }\n"},
	"text.go":     {true, "import \"sync\"\n\nvar text sync.Pool\n\nconst says = \"a sync.Mutex and a sync.Pool\"\n"},
	"alias.go":    {true, "import (\n\tsync \"sync\"\n)\n\nvar alias struct{ *sync.Pool }\n"},
	"alsoused.go": {true, "import (\n\tsync \"sync\"\n\t\"time\"\n)\n\nvar alsoUsed struct {\n\tsync.Mutex\n\tpool sync.Pool\n\ttime time.Time\n}\n"},
	"why.go":      {true, "import (\n\t\"bytes\"\n\t\"sync\" // for its Pool and Once\n)\n\nvar why = sync.Pool{New: func() any { return new(bytes.Buffer) }}\n\nvar once sync.Once\n"},
	"oneline.go":  {true, "import (\"fmt\"; \"sync\")\n\nvar oneLine = sync.Pool{New: func() any { return fmt.Sprint() }}\n"},
	"several.go":  {true, "import \"fmt\"\nimport \"sync\"\nimport \"sync/atomic\"\n\nvar several sync.Pool\n\nfunc _() { fmt.Print(atomic.Int32{}) }\n"},
	"writes.go":   {true, "import \"sync\"\n\nvar writes sync.Pool\n\nconst source = $$package p\nimport (\n\t\"sync\"\n)\nvar p sync.Pool\n$$\n"},

	"talks.go":     {false, "import \"sync\"\n\n/*\nsync.Pool\n*/\nvar talks  sync.Once\n"},
	"says.go":      {false, "const saysOnly = $$\nimport (\n\t\"sync\"\n)\nvar p sync.Pool\n$$\n"},
	"dot.go":       {false, "import . \"sync\"\n\nvar dot Pool // a sync.Pool\n"},
	"renamed.go":   {false, "import pools \"sync\"\n\nvar renamed pools.Pool // a sync.Pool\n"},
	"other.go":     {false, "import \"example.com/shapes/sync\"\n\nvar other sync.Pool\n"},
	"field.go":     {false, "var field struct{ sync struct{ Pool int } }\n\nvar inner = field.sync.Pool\n"},
	"generated.go": {false, "import \"sync\"\n\nvar generated sync.Pool\n"},

	"sync/sync.go":       {false, "type Pool int // no sync.Pool\n"},
	"testdata/data.go":   {false, "import \"sync\"\n\nvar data sync.Pool\n"},
	"vendor/x/vendor.go": {false, "import \"sync\"\n\nvar vendor sync.Pool\n"},
}

// What the recipe makes of a program compiles, is as gofmt has it, and is what it was when it is changed back.
func TestRecipeShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a shell and the Go tool; the run without -short does")
	}
	there, back, err := recipes(page(t))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(command string) string {
		bash := exec.CommandContext(t.Context(), "bash", "-c", command)
		bash.Dir, bash.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := bash.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
		return string(out)
	}
	write("go.mod", "module example.com/shapes\n\ngo 1.26\n\nrequire "+dewpond+" v0.0.0\n\nreplace "+dewpond+" => "+root+"\n")
	was, formatted := map[string]string{}, map[string]string{}
	for name, s := range shapes {
		text := "package " + filepath.Base(filepath.Dir("shapes/"+name)) + "\n\n" + strings.ReplaceAll(s.text, "$$", "`")
		if name == "generated.go" {
			text = "// Code generated by hand. DO NOT EDIT.\n\n" + text
		}
		write(name, text)
		was[name], formatted[name] = text, text
		if s.changed {
			formatted[name] = must("gofmt " + name)
		}
	}
	must("go vet ./...")

	for range 2 { // a second time it changes nothing
		if err := shell(t.Context(), dir, there); err != nil {
			t.Fatal(err)
		}
		for name, s := range shapes {
			got := read(t, dir, name)
			if !s.changed && got != was[name] || s.changed && (strings.Count(got, "dewsync.Pool") != 1 || strings.Count(got, `/dewsync"`) != 1) {
				t.Errorf("%s is now\n%s", name, got)
			}
			if unformatted := must("gofmt -l " + name); s.changed && unformatted != "" {
				t.Errorf("%s is not as gofmt has it\n%s", name, got)
			}
		}
		must("go vet ./...")
	}
	if err := shell(t.Context(), dir, back); err != nil {
		t.Fatal(err)
	}
	for name := range shapes {
		want := strings.ReplaceAll(formatted[name], "sync \"sync\"", "\"sync\"") // if it went, it comes back without its name
		if got := strings.ReplaceAll(read(t, dir, name), "sync \"sync\"", "\"sync\""); got != want {
			t.Errorf("%s, changed back, is\n%s", name, got)
		}
	}
	must("go vet ./...")
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

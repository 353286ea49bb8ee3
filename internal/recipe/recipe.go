// Package recipe does what a recipe of HACKING.md says, so that a test sees whether the
// recipe is whole, and names nothing needless. Only tests import it.
//
// A recipe is done in a file named recipe.txtar, in testdata of the module that the recipe is
// of. internal/repocheck compares the files there with those that HACKING.md names.
package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Recipe is one that has been done once.
type Recipe struct {
	Heading string // HACKING.md's
	Name    string // what stands there as NAME
	edits   []edit
}

// An edit is a new file, or lines that an old one gets behind another line. Without lines the
// file is one that a command rewrites.
type edit struct {
	path, after, text string
}

// Parse reads a file. Its first line is "# HEADING: NAME". An edit begins with "-- PATH --", or
// with "-- PATH after LINE --", where a line of the file contains LINE.
func Parse(data []byte) (Recipe, error) {
	var r Recipe
	first, rest, _ := strings.Cut(string(data), "\n")
	heading, name, ok := strings.Cut(strings.TrimPrefix(first, "# "), ": ")
	if !ok {
		return r, fmt.Errorf("%q is not # HEADING: NAME", first)
	}
	r.Heading, r.Name = heading, name
	for line := range strings.Lines(rest) {
		if title, ok := strings.CutPrefix(line, "-- "); ok {
			path, after, _ := strings.Cut(strings.TrimSuffix(title, " --\n"), " after ")
			r.edits = append(r.edits, edit{path: path, after: after})
		} else if last := len(r.edits) - 1; last >= 0 {
			r.edits[last].text += line
		}
	}
	return r, nil
}

// Paths returns the files that are edited, each once, in order.
func (r Recipe) Paths() []string {
	var all []string
	for _, e := range r.edits {
		all = append(all, e.path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// files returns the contents of the files that are edited, by path. One file may be left out:
// then it is as it was, and a new one or one that a command rewrites is not among them.
func (r Recipe) files(repository fs.FS, without string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range r.edits {
		old, err := fs.ReadFile(repository, e.path)
		switch isNew := e.after == "" && e.text != ""; {
		case isNew && err == nil:
			return nil, fmt.Errorf("%s is there already", e.path)
		case !isNew && err != nil:
			return nil, err
		case e.path == without && e.after == "":
			continue
		case files[e.path] == nil:
			files[e.path] = old
		}
		if e.path == without {
			continue
		}
		before, behind, ok := bytes.Cut(files[e.path], []byte(e.after))
		line, rest, _ := bytes.Cut(behind, []byte("\n"))
		switch {
		case e.after == "":
			files[e.path] = append(files[e.path], e.text...)
		case !ok:
			return nil, fmt.Errorf("no line of %s has %q", e.path, e.after)
		default:
			files[e.path] = slices.Concat(before, []byte(e.after), line, []byte("\n"), []byte(e.text), rest)
		}
	}
	return files, nil
}

// A T is a *testing.T.
type T interface {
	Helper()
	TempDir() string
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Hold fails the test unless the recipe of testdata/recipe.txtar is whole and has nothing
// needless: works gets the files that it edits, and returns an error if what was added does not
// work. It must return one if any of the files is left out. The directory is for [Compile].
func Hold(t T, root string, works func(dir string, files map[string][]byte) error) {
	t.Helper()
	data, err := os.ReadFile("testdata/recipe.txtar")
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := Parse(data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r.hold(t, os.DirFS(root), works)
}

func (r Recipe) hold(t T, repository fs.FS, works func(dir string, files map[string][]byte) error) {
	t.Helper()
	for _, without := range append([]string{""}, r.Paths()...) {
		files, err := r.files(repository, without)
		if err != nil {
			t.Fatalf("%v", err)
		}
		switch err := works(t.TempDir(), files); {
		case without == "" && err != nil:
			t.Fatalf("the recipe is done, and something lacks: %v", err)
		case without != "" && err == nil:
			t.Errorf("it works without %s, so HACKING.md need not name it", without)
		}
	}
}

// Tests are those of a package, compiled.
type Tests struct{ program, dir string }

// Compile compiles the tests of a package of the repository at root as they are with these
// files. The directory becomes a tree of what the tests read: these files, and testdata.
func Compile(root, pkg, dir string, files map[string][]byte) (*Tests, error) {
	t := &Tests{filepath.Join(dir, "tests.exe"), filepath.Join(dir, pkg)}
	if err := os.MkdirAll(t.dir, 0o777); err != nil {
		return nil, err
	}
	if testdata := filepath.Join(root, pkg, "testdata"); isDir(testdata) {
		if err := os.CopyFS(filepath.Join(t.dir, "testdata"), os.DirFS(testdata)); err != nil {
			return nil, err
		}
	}
	replace := map[string]string{}
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return nil, err
		}
		replace[filepath.Join(root, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		return nil, err
	}
	c := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+file, "-o", t.program, "./"+pkg)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", c, err, out)
	}
	return t, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Run runs the tests, and returns what they print. The error has it too.
func (t *Tests) Run(args ...string) (string, error) {
	c := exec.Command(t.program, args...)
	c.Dir = t.dir
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", c, err, out)
	}
	return string(out), err
}

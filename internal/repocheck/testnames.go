package repocheck

import (
	"path"
	"slices"
	"strings"
)

// techniques begin the names of test files that test a package as a whole, or serve other
// tests.
var techniques = []string{"example", "export", "fuzz", "kit", "main", "model", "stress"}

// namedModules are the modules whose test files are named after what they test.
var namedModules = []string{".", "internal/measure"}

// checkTestNames requires that the name of a test file begins with what it tests, so that
// it is found by its thing: a source file of its package, the package, or a technique. In
// the root it may also be an internal package that the root wires, or a document. A
// package of tests alone has nothing to name them after.
func checkTestNames(r *repository, report reporter) {
	subjects := map[string][]string{".": r.rootSubjects()} // by directory
	for _, s := range r.sources {
		name := path.Base(s.path)
		if !s.test && (name != "doc.go" || s.dir == ".") {
			subjects[s.dir] = append(subjects[s.dir], strings.TrimSuffix(name, ".go"))
		}
	}
	for _, s := range r.sources {
		of := subjects[s.dir]
		if !s.test || of == nil || s.module == nil || !slices.Contains(namedModules, s.module.dir) {
			continue
		}
		stem := strings.TrimSuffix(path.Base(s.path), "_test.go")
		named := func(subject string) bool { return stem == subject || strings.HasPrefix(stem, subject+"_") }
		switch {
		case slices.ContainsFunc(of, named), slices.ContainsFunc(techniques, named), s.dir != "." && named(path.Base(s.dir)):
		case s.dir == ".":
			report(s.path, 0, "begin its name with the source file, internal package or document that it tests, or with one of %s", strings.Join(techniques, ", "))
		default:
			report(s.path, 0, "begin its name with the source file that it tests, with %s for the whole package, or with one of %s", path.Base(s.dir), strings.Join(techniques, ", "))
		}
	}
}

// rootSubjects returns what tests of the root may be named after beside its source files.
func (r *repository) rootSubjects() (subjects []string) {
	for _, f := range r.files {
		dir, name := path.Split(f.path)
		if stem, ok := strings.CutSuffix(name, ".md"); ok && (dir == "" || dir == "docs/") {
			subjects = append(subjects, strings.ReplaceAll(strings.ToLower(stem), "-", ""))
		}
	}
	for _, dir := range r.dirs {
		if path.Dir(dir) == "internal" {
			subjects = append(subjects, path.Base(dir))
		}
	}
	return subjects
}

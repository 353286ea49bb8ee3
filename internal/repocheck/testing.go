package repocheck

import "strings"

// checkTesting: a package that imports testing brings its flags into every program
// that is built with it. dewtest is made to be imported by tests.
func checkTesting(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.test || s.dir == "dewtest" {
			continue
		}
		for p, spec := range s.imports() {
			if p == "testing" || strings.HasPrefix(p, "testing/") {
				report(s.path, r.line(spec.Pos()), "%s outside a file named _test.go", p)
			}
		}
	}
}

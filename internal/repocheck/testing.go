package repocheck

import "strings"

// checkTesting forbids packages that import testing: they bring its flags into every
// program that is built with them. dewtest is made to be imported by tests.
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

package repocheck

import (
	"regexp"
	"slices"
	"strings"
)

// starters are the packages by which a test starts a process.
var starters = []string{"os/exec", "github.com/rogpeppe/go-internal/testscript"}

// tableOfProcesses is the document whose table names the packages with tests that start
// processes, each as the first cell of a row.
const tableOfProcesses = "CONTRIBUTING.md"

var firstCell = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// checkProcesses requires that the root module starts processes at its addresses alone, and
// that a package with tests that may start some is in the table. That -short leaves them out
// is for .ci/run to see.
func checkProcesses(r *repository, report reporter) {
	var named []string
	for _, f := range r.files {
		if f.path == tableOfProcesses {
			for _, m := range firstCell.FindAllStringSubmatch(string(f.data), -1) {
				named = append(named, m[1])
				if !slices.Contains(r.dirs, m[1]) {
					report(f.path, 0, "there is no package %s", m[1])
				}
			}
		}
	}
	for _, s := range r.sources {
		for p, spec := range s.imports() {
			switch line := r.line(spec.Pos()); {
			case !slices.Contains(starters, p):
			case s.module != nil && s.module.dir == ".":
				if !s.isAt(processAddresses) {
					report(s.path, line, "%s: the root module starts no process, so that go test ./... is quick and needs nothing: move the test to instruments/proof/children", p)
				}
			case s.test && s.module != nil && !strings.HasPrefix(s.dir, "tools/") && !slices.Contains(named, s.dir):
				report(s.path, line, "%s: name %s in the table of %s, and leave out with -short what starts a process", p, s.dir, tableOfProcesses)
			}
		}
	}
}

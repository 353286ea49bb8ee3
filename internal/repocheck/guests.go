package repocheck

import "strings"

// A guest is a module, or a tree of packages, that one package alone of a tree imports, so that
// the rest of the tree can do without it.
type guest struct {
	path string // the import path, and everything below it
	tree string // the directories for which this holds
	host string // who imports it there, tests included
}

var guests = []guest{
	{"github.com/nats-io", "load/...", "load/internal/swarm"},
	{"golang.org/x/exp/trace", "load/...", "load/internal/target"}, // it promises no compatibility
	{"github.com/prometheus/common", "load/...", "load/internal/target"},
}

func checkGuests(r *repository, report reporter) {
	for _, s := range r.sources {
		for p, spec := range s.imports() {
			for _, g := range guests {
				if below(p, g.path) && matches(g.tree, s.dir) && s.dir != g.host {
					report(s.path, r.line(spec.Pos()), "%s: only %s imports it (see the table in internal/repocheck/guests.go)", p, g.host)
				}
			}
		}
	}
}

// below reports whether an import path is that of a tree of packages, or in it.
func below(importPath, tree string) bool {
	return importPath == tree || strings.HasPrefix(importPath, tree+"/")
}

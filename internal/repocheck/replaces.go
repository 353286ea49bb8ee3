package repocheck

import (
	"path"
	"strings"
)

// unreleased is the version at which modules of this repository require each other
// until tools/release sets a real one.
const unreleased = "v0.0.0"

// checkReplaces requires that a nested module that depends on others of this repository
// replaces each of them by its directory, including those that only they require: a
// replace does not carry over to modules that require the module. What go.work does for
// a whole clone the replaces do for one module alone, as go mod tidy and GOWORK=off see
// it. A released module has real versions and no replace, or it could not be installed.
func checkReplaces(r *repository, report reporter) {
	ours := map[string]*module{}
	for _, m := range r.modules {
		ours[m.path] = m
	}
	for _, m := range r.modules {
		file := path.Join(m.dir, "go.mod")
		needed := map[string]bool{}
		for _, required := range m.requires {
			other, here := ours[required.path]
			switch {
			case here && required.version == unreleased:
				addModules(needed, other, ours)
			case !here && matches(modulePath+"/...", required.path):
				report(file, required.line, "no module of this repository is %s", required.path)
			}
		}
		delete(needed, m.path)
		for _, replaced := range m.replaces {
			other, here := ours[replaced.path]
			switch {
			case !here:
			case !needed[replaced.path]:
				report(file, replaced.line, "replaces %s, which it does not require at %s", replaced.path, unreleased)
			case replaced.by != directory(m, other):
				report(file, replaced.line, "%s is in %s", replaced.path, directory(m, other))
			}
			delete(needed, replaced.path)
		}
		for missing := range needed {
			report(file, 0, "lacks replace %s => %s: it is in the graph of modules", missing, directory(m, ours[missing]))
		}
	}
}

// addModules adds a module and all modules of this repository that it requires.
func addModules(to map[string]bool, m *module, ours map[string]*module) {
	if to[m.path] {
		return
	}
	to[m.path] = true
	for _, required := range m.requires {
		if other, here := ours[required.path]; here {
			addModules(to, other, ours)
		}
	}
}

// directory returns the directory of one module relative to another, as a replace has
// it.
func directory(from, to *module) string {
	up := "."
	if from.dir != "." {
		up = strings.Repeat("../", strings.Count(from.dir, "/")) + ".."
	}
	if below, ok := strings.CutPrefix(to.dir, from.dir+"/"); ok {
		return "./" + below
	}
	by := path.Join(up, to.dir)
	if !strings.HasPrefix(by, "..") {
		by = "./" + by
	}
	return by
}

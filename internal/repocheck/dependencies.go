package repocheck

import (
	"path"
	"strings"
)

// allowedDependency is the only module that the library may bring into its users'
// builds.
const allowedDependency = "golang.org/x/sys"

// checkDependencies allows the root module the standard library and allowedDependency
// only, in its tests too, because a module that requires it gets its tests'
// requirements as well.
func checkDependencies(r *repository, report reporter) {
	for _, m := range r.modules {
		if m.dir != "." {
			continue
		}
		for _, required := range m.requires {
			if required.path != allowedDependency {
				report(path.Join(m.dir, "go.mod"), required.line,
					"the root module requires %s: only %s is allowed; a package that needs more goes into a module of its own", required.path, allowedDependency)
			}
		}
	}
	for _, s := range r.sources {
		if s.module == nil || s.module.dir != "." {
			continue
		}
		for p, spec := range s.imports() {
			if _, ours := within(p); !ours && !isStandard(p) && !isAllowedDependency(p) {
				report(s.path, r.line(spec.Pos()),
					"the root module imports %s: only the standard library and %s are allowed", p, allowedDependency)
			}
		}
	}
}

func isAllowedDependency(p string) bool {
	return p == allowedDependency || strings.HasPrefix(p, allowedDependency+"/")
}

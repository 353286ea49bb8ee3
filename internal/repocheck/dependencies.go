package repocheck

import "path"

// checkDependencies allows the root module nothing but the standard library, in its tests
// too, because a module that requires it gets its tests' requirements as well.
func checkDependencies(r *repository, report reporter) {
	const instead = "it has the standard library only; a package that needs more goes into a module of its own"
	for _, m := range r.modules {
		if m.dir != "." {
			continue
		}
		for _, required := range m.requires {
			report(path.Join(m.dir, "go.mod"), required.line, "the root module requires %s: %s", required.path, instead)
		}
	}
	for _, s := range r.sources {
		if s.module == nil || s.module.dir != "." {
			continue
		}
		for p, spec := range s.imports() {
			if _, ours := within(p); !ours && !isStandard(p) {
				report(s.path, r.line(spec.Pos()), "the root module imports %s: %s", p, instead)
			}
		}
	}
}

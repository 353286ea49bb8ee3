package repocheck

import (
	"path"
	"slices"
)

// compiled are the endings of files that are not Go and that the go command compiles into
// a package, or links to it.
var compiled = []string{
	".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
	".s", ".S", ".sx", ".swig", ".swigcxx", ".syso",
}

// checkAssembly forbids code that is not Go: the other rules cannot see what it does.
func checkAssembly(r *repository, report reporter) {
	for _, f := range r.files {
		ext := path.Ext(f.path)
		if !slices.Contains(compiled, ext) || ignoredByGo(f.path) {
			continue
		}
		if ext == ".s" && slices.Contains(assemblyAddresses, path.Dir(f.path)) {
			continue
		}
		report(f.path, 0, "%s: all code here must be Go, which the rules can check", ext)
	}
}

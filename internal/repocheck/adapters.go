package repocheck

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const changelog = "CHANGELOG.md"

// exporters are the modules of contrib that show pools, and are no adapters.
var exporters = []string{"dewexpvar", "dewotel", "dewprom", "dewstatsviz"}

// checkAdapters requires that who has a library finds its adapter, and what it costs: it has
// an example and a benchmark, and is in the map, the results and the changelog.
func checkAdapters(r *repository, report reporter) {
	documents := map[string][]byte{docsMap: nil, results: nil, changelog: nil}
	for _, f := range r.files {
		if _, ok := documents[f.path]; ok {
			documents[f.path] = f.data
		}
	}
	if documents[docsMap] == nil {
		return // a module zip
	}
	for _, m := range r.modules {
		dir, name := path.Split(m.dir)
		if dir != "contrib/" || slices.Contains(exporters, name) {
			continue
		}
		file := path.Join(m.dir, "go.mod")
		for _, kind := range []string{"Example", "Benchmark"} {
			if !r.hasTest(m, kind) {
				report(file, 0, "the adapter has no %s", kind)
			}
		}
		for _, d := range []struct{ file, pattern, what string }{
			{docsMap, `(?m)^\|.*\b%.*\(`, "row that says how to use it"},
			{results, `(?m)^\|[^|]*\b%\b[^|]*\|`, "row with its benchmark's figures"},
			{changelog, "`contrib/%`", "line that says there is one"},
		} {
			if !regexp.MustCompile(strings.ReplaceAll(d.pattern, "%", name)).Match(documents[d.file]) {
				report(file, 0, "%s has no %s", d.file, d.what)
			}
		}
	}
}

// hasTest reports whether a module has a test of that kind, which its name begins with.
func (r *repository) hasTest(m *module, kind string) bool {
	return slices.ContainsFunc(r.sources, func(s *source) bool {
		return s.module == m && s.test && slices.ContainsFunc(s.syntax.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && strings.HasPrefix(f.Name.Name, kind)
		})
	})
}

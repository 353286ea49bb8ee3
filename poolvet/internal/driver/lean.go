package driver

import (
	"bytes"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/types/objectpath"
)

// lean replaces the types of a package that others import by what its export data has: the scopes of all function
// bodies, which are most of a package's memory, are not in it. The facts go with their objects; those of objects that
// no other package can name are forgotten. A package that does not compile stays as it is.
func (l *loader) lean(p *Package) {
	if len(p.Errors) > 0 || p.broken != "" || p.Types == nil {
		return
	}
	var data bytes.Buffer
	if gcexportdata.Write(&data, p.Fset, p.Types) != nil {
		return
	}
	imports := map[string]*types.Package{}
	p.addImports(imports)
	delete(imports, p.Types.Path()) // a test's variant of a package imports that of the same path
	types, err := gcexportdata.Read(&data, l.fset, imports, p.Types.Path())
	if err != nil {
		return
	}
	var paths objectpath.Encoder
	facts := map[factKey]analysis.Fact{}
	for key, fact := range p.facts {
		if path, err := paths.For(key.obj); err == nil {
			if obj, err := objectpath.Object(types, path); err == nil {
				facts[factKey{obj, key.t}] = fact
			}
		}
	}
	p.Types, p.facts, p.Fset = types, facts, l.fset
}

// addImports adds all packages that a package imports, by path.
func (p *Package) addImports(all map[string]*types.Package) {
	for path, dep := range p.imported {
		if _, ok := all[path]; !ok && dep.Types != nil {
			all[path] = dep.Types
			dep.addImports(all)
		}
	}
}

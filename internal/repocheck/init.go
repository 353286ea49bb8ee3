package repocheck

import "go/ast"

// checkInit forbids that an import starts goroutines, but at startAddresses. It follows plain calls within the
// package, so that it finds a goroutine one function further away too; it does not
// follow calls into other packages.
func checkInit(r *repository, report reporter) {
	functions := map[string]map[string]*ast.FuncDecl{} // by package, by name
	for _, s := range r.sources {
		if functions[s.dir] == nil {
			functions[s.dir] = map[string]*ast.FuncDecl{}
		}
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name != "init" {
				functions[s.dir][f.Name.Name] = f
			}
		}
	}
	for _, s := range r.sources {
		if s.isAt(startAddresses) {
			continue
		}
		for _, d := range s.syntax.Decls {
			for _, root := range runsAtInit(d) {
				if starts(root, functions[s.dir], map[string]bool{}) {
					report(s.path, r.line(root.Pos()), "a goroutine is started when the package is imported")
				}
			}
		}
	}
}

// runsAtInit returns the parts of a declaration that run before main: the body of an
// init function, the values of package variables.
func runsAtInit(d ast.Decl) []ast.Node {
	var roots []ast.Node
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" && d.Body != nil {
			roots = append(roots, d.Body)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, value := range v.Values {
					roots = append(roots, value)
				}
			}
		}
	}
	return roots
}

// starts reports whether running n starts a goroutine: by a go statement, by a method
// Go, or by a timer. A function literal counts only if it is called: one that is kept
// runs later, if ever.
func starts(n ast.Node, functions map[string]*ast.FuncDecl, seen map[string]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			switch called := n.Fun.(type) {
			case *ast.FuncLit:
				found = found || starts(called.Body, functions, seen)
			case *ast.SelectorExpr:
				found = found || called.Sel.Name == "Go" || called.Sel.Name == "AfterFunc"
			case *ast.Ident:
				if f := functions[called.Name]; f != nil && f.Body != nil && !seen[called.Name] {
					seen[called.Name] = true
					found = found || starts(f.Body, functions, seen)
				}
			}
		}
		return !found
	})
	return found
}

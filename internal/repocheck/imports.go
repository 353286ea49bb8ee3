package repocheck

import (
	"go/ast"
	"iter"
	"strconv"
	"strings"
)

// imports yields the paths that a file imports, and where.
func (s *source) imports() iter.Seq2[string, *ast.ImportSpec] {
	return func(yield func(string, *ast.ImportSpec) bool) {
		for _, spec := range s.syntax.Imports {
			// The parser accepts no import that cannot be unquoted.
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && !yield(p, spec) {
				return
			}
		}
	}
}

// within returns the directory in the repository of an import path: "." is the root
// package. ok is false for a package of any other module.
func within(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// isStandard applies the go command's own rule: the first element of any other path has
// a dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// matches reports whether pattern names dir. "x/..." is x and everything below it,
// "..." is everything.
func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == tree || strings.HasPrefix(dir, tree+"/")
	}
	return pattern == dir
}

// uses yields each use of a name of the package at importPath, such as AddInt64 of
// sync/atomic, whatever the file calls the package.
func (s *source) uses(importPath string) iter.Seq2[string, *ast.SelectorExpr] {
	return func(yield func(string, *ast.SelectorExpr) bool) {
		local := s.nameOf(importPath)
		if local == "" {
			return
		}
		for n := range ast.Preorder(s.syntax) {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == local && !yield(selector.Sel.Name, selector) {
				return
			}
		}
	}
}

// nameOf returns the file's name for the package, or "" if it does not import it.
func (s *source) nameOf(importPath string) string {
	for p, spec := range s.imports() {
		if p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return p[strings.LastIndex(p, "/")+1:]
	}
	return ""
}

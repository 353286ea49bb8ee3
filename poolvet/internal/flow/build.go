package flow

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// tooLarge is the number of syntax nodes from which on a function is given up on. The
// largest that people write by hand have a third of it; generated interpreters have more.
const tooLarge = 15_000

// build makes the SSA form of the pass's package, without the functions of which left says why
// they are not looked at. x/tools' buildssa is not used: it wants the control flow of every
// dependency, the standard library included, and has no bound on what a function may cost.
func build(pass *analysis.Pass) (pkg *ssa.Package, left []leftOut) {
	prog := ssa.NewProgram(pass.Fset, 0)
	prog.SetNoReturn(neverReturns)
	for _, p := range pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	info, files := pass.TypesInfo, make([]*ast.File, len(pass.Files))
	cgo := slices.ContainsFunc(pass.Files, ImportsC)
	if cgo {
		info = initializable(info)
	}
	for i, file := range pass.Files {
		var more []leftOut
		files[i], more = without(file, func(f *ast.FuncDecl) string {
			switch n := size(f.Body); {
			case n > tooLarge:
				return fmt.Sprintf("has %d nodes of syntax, which is too large: it was not looked at", n)
			case cgo && Typeless(info, f):
				return "uses C, of which go vet -vettool alone has the types: it was not looked at"
			}
			return ""
		})
		left = append(left, more...)
	}
	pkg = prog.CreatePackage(pass.Pkg, files, info, false)
	pkg.Build()
	return pkg, left
}

// A leftOut is a function that is not looked at, and why.
type leftOut struct {
	f   *ast.FuncDecl
	why string
}

// without returns the file with functions that leave has a reason for as if they were written in
// assembly.
func without(file *ast.File, leave func(*ast.FuncDecl) string) (*ast.File, []leftOut) {
	var left []leftOut
	for i, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		why := leave(f)
		if why == "" {
			continue
		}
		if left == nil {
			changed := *file
			changed.Decls = slices.Clone(file.Decls)
			file = &changed
		}
		left = append(left, leftOut{f, why})
		bare := *f
		bare.Body = nil
		file.Decls[i] = &bare
	}
	return file, left
}

func size(body *ast.BlockStmt) int {
	n := 0
	ast.Inspect(body, func(x ast.Node) bool {
		if x != nil {
			n++
		}
		return true
	})
	return n
}

// ImportsC reports whether a file imports "C". A driver that does not run cgo knows no type of
// what comes from there.
func ImportsC(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// initializable returns the types without the initial values of variables that have none: the SSA
// form cannot be made of them.
func initializable(info *types.Info) *types.Info {
	changed := *info
	changed.InitOrder = slices.DeleteFunc(slices.Clone(info.InitOrder), func(i *types.Initializer) bool { return Typeless(info, i.Rhs) })
	return &changed
}

// Typeless reports whether a part of the syntax is without a type.
func Typeless(info *types.Info, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			switch obj := info.ObjectOf(id).(type) {
			case nil, *types.Builtin, *types.Label: // these never have one
			case *types.PkgName:
				found = found || obj.Imported().Path() == "C"
			default:
				found = found || untyped(obj.Type())
			}
		}
		if e, ok := n.(ast.Expr); ok {
			tv := info.Types[e]
			found = found || !tv.IsBuiltin() && untyped(tv.Type)
		}
		return !found
	})
	return found
}

// untyped reports whether t, or what it is made of without names, is unknown.
func untyped(t types.Type) bool {
	switch x := types.Unalias(t).(type) {
	case *types.Basic:
		return x.Kind() == types.Invalid
	case *types.Named:
		return x.Underlying() == types.Typ[types.Invalid]
	case *types.Pointer:
		return untyped(x.Elem())
	case *types.Slice:
		return untyped(x.Elem())
	case *types.Array:
		return untyped(x.Elem())
	case *types.Chan:
		return untyped(x.Elem())
	case *types.Map:
		return untyped(x.Key()) || untyped(x.Elem())
	case *types.Tuple:
		for v := range x.Variables() {
			if untyped(v.Type()) {
				return true
			}
		}
	case *types.Signature:
		return untyped(x.Params()) || untyped(x.Results()) || x.Recv() != nil && untyped(x.Recv().Type())
	}
	return false
}

// neverReturns reports whether a function of the standard library ends the goroutine.
func neverReturns(f *types.Func) bool {
	switch name := fullName(f); name {
	case "os.Exit", "runtime.Goexit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln",
		"log.Logger.Fatal", "log.Logger.Fatalf", "log.Logger.Fatalln", "log.Logger.Panic", "log.Logger.Panicf", "log.Logger.Panicln":
		return true
	default:
		return strings.HasPrefix(name, "testing.common.Fatal") || strings.HasPrefix(name, "testing.common.Skip") ||
			name == "testing.common.FailNow"
	}
}

// functions lists every function of the package with a body, also the literals in the
// initial values of package variables, each before those inside it.
func functions(pkg *ssa.Package) []*ssa.Function {
	seen := map[*ssa.Function]bool{}
	var all []*ssa.Function
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		if f == nil || seen[f] || f.Pkg != pkg {
			return
		}
		seen[f] = true
		if f.Blocks != nil {
			all = append(all, f)
		}
		for _, anon := range f.AnonFuncs {
			add(anon)
		}
	}
	names := make([]string, 0, len(pkg.Members))
	for name := range pkg.Members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch m := pkg.Members[name].(type) {
		case *ssa.Function:
			add(m)
		case *ssa.Type:
			named, ok := types.Unalias(m.Type()).(*types.Named)
			if !ok || named.Obj().Pkg() != pkg.Pkg {
				continue
			}
			for method := range named.Methods() {
				add(pkg.Prog.FuncValue(method))
			}
		}
	}
	return all
}

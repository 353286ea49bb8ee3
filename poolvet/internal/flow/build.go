package flow

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// tooLarge is the number of syntax nodes from which on a function is given up on. The
// largest that people write by hand have a third of it; generated interpreters have more.
const tooLarge = 30_000

// build makes the SSA form of the pass's package. x/tools' buildssa is not used: it wants
// the control flow of every dependency, the standard library included, and has no bound on
// what a function may cost.
func build(pass *analysis.Pass) (pkg *ssa.Package, givenUp []*ast.FuncDecl) {
	prog := ssa.NewProgram(pass.Fset, 0)
	prog.SetNoReturn(neverReturns)
	for _, p := range pass.Pkg.Imports() {
		prog.CreatePackage(p, nil, nil, true)
	}
	files := make([]*ast.File, len(pass.Files))
	for i, file := range pass.Files {
		var large []*ast.FuncDecl
		files[i], large = withoutLarge(file)
		givenUp = append(givenUp, large...)
	}
	pkg = prog.CreatePackage(pass.Pkg, files, pass.TypesInfo, false)
	pkg.Build()
	return pkg, givenUp
}

// withoutLarge returns the file with functions that are too large as if they were
// written in assembly.
func withoutLarge(file *ast.File) (*ast.File, []*ast.FuncDecl) {
	var large []*ast.FuncDecl
	for i, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || size(f.Body) <= tooLarge {
			continue
		}
		if large == nil {
			changed := *file
			changed.Decls = slices.Clone(file.Decls)
			file = &changed
		}
		large = append(large, f)
		bare := *f
		bare.Body = nil
		file.Decls[i] = &bare
	}
	return file, large
}

func size(body *ast.BlockStmt) int {
	n := 0
	ast.Inspect(body, func(ast.Node) bool { n++; return true })
	return n
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

// Command ends runs poolvet over code that was written to be hard on such programs, and fails
// unless it comes to an end on all of it without a panic.
//
//	go run ./internal/ends            Go's own packages and commands with their tests, and x/tools' testdata, in poolvet/
//	go run ./internal/ends x/tools    one of the two: src or x/tools
//
// Of x/tools' testdata it takes the Go files of each directory and of each text archive. What does
// not compile is counted and left out, as poolvet does.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/internal/driver"
	"github.com/dewpond/dewpond/poolvet/internal/flow"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/txtar"
)

func main() {
	os.Setenv("POOLVET_PANIC", "1") // with its stack, and as the end of this program
	what := os.Args[1:]
	if len(what) == 0 {
		what = []string{"x/tools", "src"}
	}
	for _, name := range what {
		counts, err := count{}, error(nil)
		switch name {
		case "src":
			counts, err = source()
		case "x/tools":
			counts, err = tools()
		default:
			err = errors.New("not src or x/tools")
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "ends: %s: %v\n", name, err)
			os.Exit(2)
		}
		fmt.Printf("%s: %v\n", name, counts)
	}
}

// A count is what was looked at.
type count struct{ packages, broken, functions, puts, findings, givenUp int }

func (c count) String() string {
	return fmt.Sprintf("%d packages, of which %d do not compile by themselves, %d functions, %d Puts, %d findings, %d functions given up on",
		c.packages, c.broken, c.functions, c.puts, c.findings, c.givenUp)
}

func (c *count) add(files []*ast.File, r *flow.Result) {
	c.packages++
	if r == nil {
		c.broken++
		return
	}
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				c.functions++
			}
		}
	}
	c.puts += len(r.Puts)
	c.givenUp += len(r.GivenUp)
}

// source looks at Go's own packages and commands, with their tests.
func source() (c count, err error) {
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return c, err
	}
	for _, pattern := range []string{"std", "cmd"} { // one by one: each takes gigabytes
		found, pkgs, err := driver.Run(driver.Config{Syntax: true, Dir: filepath.Join(root, "src"), Patterns: []string{pattern}, Tests: true, Env: []string{"GOWORK=off"}}, poolvet.Analyzers())
		if err != nil {
			return c, err
		}
		for _, p := range pkgs {
			c.add(p.Files, p.Result)
			if len(p.Errors) > 0 {
				fmt.Printf("  %s: %v\n", p.Path, p.Errors[0])
			}
		}
		for _, f := range found {
			fmt.Printf("  %v: %s\n", f.Position, f.Diagnostic.Message)
		}
		c.findings += len(found)
	}
	return c, nil
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return string(bytes.TrimSpace(out)), err
}

// tools looks at the testdata of x/tools.
func tools() (c count, err error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/tools")
	if err != nil {
		return c, err
	}
	build.Default.CgoEnabled = false // the importer would run cgo
	l := &loader{fset: token.NewFileSet(), facts: map[factKey]analysis.Fact{}}
	l.std = importer.ForCompiler(l.fset, "source", nil)
	trees, err := l.trees(root)
	if err != nil {
		return c, err
	}
	for _, t := range trees {
		for _, name := range slices.Sorted(maps.Keys(t)) {
			for _, p := range t[name] {
				l.check(t, p)
				c.add(p.files, p.result)
				if p.result != nil {
					c.findings += len(p.result.Findings)
				}
			}
		}
	}
	return c, nil
}

// A tree is packages that import each other, by path. Files of one directory that do not make one
// package, as several programs do, make several.
type tree map[string][]*pkg

type pkg struct {
	path   string
	files  []*ast.File
	types  *types.Package
	result *flow.Result // nil: it does not compile
	begun  bool
}

// add adds a file to the first package at a path that it goes with.
func (t tree) add(at string, file *ast.File) {
	program := declares(file, "main") && file.Name.Name == "main"
	for _, p := range t[at] {
		if p.files[0].Name.Name == file.Name.Name && !(program && slices.ContainsFunc(p.files, func(f *ast.File) bool { return declares(f, "main") })) {
			p.files = append(p.files, file)
			return
		}
	}
	t[at] = append(t[at], &pkg{path: cmp.Or(at, "top"), files: []*ast.File{file}})
}

func declares(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == name
	})
}

type loader struct {
	fset  *token.FileSet
	std   types.Importer
	facts map[factKey]analysis.Fact
}

type factKey struct {
	obj types.Object
	t   reflect.Type
}

// trees reads what is in directories named testdata below root.
func (l *loader) trees(root string) (all []tree, err error) {
	dirs := map[string]tree{} // by the directory that import paths begin below
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		slash := filepath.ToSlash(name)
		_, below, ok := strings.Cut(slash, "/testdata/")
		if !ok {
			return nil
		}
		switch path.Ext(slash) {
		case ".txtar":
			archive, err := txtar.ParseFile(name)
			if err != nil {
				return err
			}
			all = append(all, l.unpacked(name, archive))
		case ".go":
			if ok, err := build.Default.MatchFile(filepath.Split(name)); err != nil || !ok {
				return nil
			}
			top, at := slash[:len(slash)-len(below)], path.Dir(below)
			if i := strings.LastIndex(slash, "/testdata/src/"); i >= 0 {
				top = slash[:i+len("/testdata/src/")]
				at = path.Dir(slash[len(top):])
			}
			if dirs[top] == nil {
				dirs[top] = tree{}
				all = append(all, dirs[top])
			}
			l.parse(dirs[top], at, name, nil)
		}
		return nil
	})
	return all, err
}

func (l *loader) unpacked(name string, archive *txtar.Archive) tree {
	module := ""
	for _, f := range archive.Files {
		if f.Name == "go.mod" {
			if words := strings.Fields(string(f.Data)); len(words) > 1 {
				module = words[1]
			}
		}
	}
	t := tree{}
	for _, f := range archive.Files {
		if path.Ext(f.Name) == ".go" {
			l.parse(t, path.Join(module, path.Dir(f.Name)), name+"/"+f.Name, f.Data)
		}
	}
	return t
}

func (l *loader) parse(t tree, at, name string, src []byte) {
	var from any
	if src != nil {
		from = src
	}
	file, err := parser.ParseFile(l.fset, name, from, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		file = &ast.File{Name: ast.NewIdent("broken"), FileStart: token.NoPos}
	}
	t.add(at, file)
}

// check type-checks a package once those that it imports are, and runs the flow on it.
func (l *loader) check(t tree, p *pkg) {
	if p.begun {
		return
	}
	p.begun = true
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	if p.files[0].Name.Name == "broken" {
		return
	}
	sizes := types.SizesFor("gc", build.Default.GOARCH)
	config := types.Config{Importer: importing{l, t}, FakeImportC: true, Sizes: sizes}
	pkg, err := config.Check(p.path, l.fset, p.files, info)
	p.types = pkg
	if err != nil {
		return
	}
	result, err := flow.Analyzer.Run(&analysis.Pass{
		Analyzer: flow.Analyzer, Fset: l.fset, Files: p.files, Pkg: pkg, TypesInfo: info, TypesSizes: sizes,
		ReadFile: os.ReadFile,
		ImportObjectFact: func(obj types.Object, fact analysis.Fact) bool {
			got, ok := l.facts[factKey{obj, reflect.TypeOf(fact)}]
			if ok {
				reflect.ValueOf(fact).Elem().Set(reflect.ValueOf(got).Elem())
			}
			return ok
		},
		ExportObjectFact: func(obj types.Object, fact analysis.Fact) { l.facts[factKey{obj, reflect.TypeOf(fact)}] = fact },
	})
	if err == nil {
		p.result = result.(*flow.Result)
	}
}

type importing struct {
	*loader
	tree
}

func (i importing) Import(name string) (*types.Package, error) {
	if pkgs := i.tree[name]; len(pkgs) > 0 {
		i.loader.check(i.tree, pkgs[0])
		if pkgs[0].types != nil {
			return pkgs[0].types, nil
		}
	}
	return i.std.Import(name)
}

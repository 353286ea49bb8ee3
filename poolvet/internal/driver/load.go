package driver

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/dewpond/dewpond/poolvet/internal/flow"
)

// A Config says what to load, and how deep.
type Config struct {
	Dir      string // where the go command runs; "": here
	Patterns []string
	Tests    bool
	Shallow  bool // functions of other modules have no bodies, so they give no facts
	Syntax   bool // the packages keep their syntax and its types, which take most of the memory
	Env      []string
}

// A Package is type-checked, and has what the flow found. Files and Info are for a Config with Syntax.
type Package struct {
	Path     string
	Fset     *token.FileSet
	Files    []*ast.File
	Types    *types.Package
	Info     *types.Info
	Sizes    types.Sizes
	Module   *packages.Module
	Result   *flow.Result
	Errors   []error
	Note     string // why it was not looked at, where that is no fault of the package
	Initial  bool
	broken   string // the package that does not compile: this, or one that it imports
	listed   *packages.Package
	imported map[string]*Package
	facts    map[factKey]analysis.Fact // of its own objects
	done     chan struct{}
	loader   *loader
}

// load lists packages with the go command and type-checks them and all that they import,
// from source: nothing is compiled. What Go's own packages do inside is left out.
func load(c Config) ([]*Package, error) {
	listed, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedTypesSizes | packages.NeedForTest,
		Dir:   c.Dir,
		Tests: c.Tests,
		Env:   append(append(os.Environ(), "CGO_ENABLED=1"), c.Env...),
	}, c.Patterns...)
	if err != nil {
		return nil, err
	}
	l := &loader{config: c, fset: token.NewFileSet(), all: map[string]*Package{}, owners: map[*types.Package]*Package{}, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	var initial []*Package
	own := map[string]bool{}
	for _, p := range listed {
		if p.Module != nil {
			own[p.Module.Path] = true
		}
	}
	for _, p := range listed {
		q := l.add(p, own)
		q.Initial = true
		initial = append(initial, q)
	}
	for _, q := range l.all {
		go l.check(q)
	}
	for _, q := range l.all {
		<-q.done
	}
	return withoutTwins(initial), nil
}

// withoutTwins drops a package where its test variant has all of its files as well, and the
// mains that go test generates.
func withoutTwins(pkgs []*Package) []*Package {
	tested := map[string]bool{}
	for _, p := range pkgs {
		if p.listed.ForTest != "" && p.listed.PkgPath == p.listed.ForTest {
			tested[p.listed.ForTest] = true
		}
	}
	var kept []*Package
	for _, p := range pkgs {
		if strings.HasSuffix(p.listed.ID, ".test") || p.listed.ForTest == "" && tested[p.Path] {
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

type loader struct {
	config Config
	fset   *token.FileSet
	all    map[string]*Package
	slots  chan struct{}
	mu     sync.Mutex
	owners map[*types.Package]*Package
}

type factKey struct {
	obj types.Object
	t   reflect.Type
}

func (l *loader) add(p *packages.Package, own map[string]bool) *Package {
	if q := l.all[p.ID]; q != nil {
		return q
	}
	q := &Package{Path: p.PkgPath, Fset: l.fset, Module: p.Module, Sizes: p.TypesSizes, listed: p, imported: map[string]*Package{}, done: make(chan struct{}), loader: l}
	q.Initial = p.Module != nil && own[p.Module.Path]
	l.all[p.ID] = q
	for path, dep := range p.Imports {
		q.imported[path] = l.add(dep, own)
	}
	return q
}

// check type-checks one package, once those that it imports are, and runs the flow on it.
func (l *loader) check(p *Package) {
	defer close(p.done)
	for _, dep := range p.imported {
		<-dep.done
	}
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	if p.Path == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	for _, e := range p.listed.Errors {
		p.Errors = append(p.Errors, e)
	}
	if !p.Initial {
		p.Fset = token.NewFileSet() // what lean leaves is in the loader's
	}
	for _, name := range p.listed.GoFiles {
		p.parse(name, nil)
	}
	l.typeCheck(p)
	if !p.Initial || !l.config.Syntax {
		p.Files, p.Info = nil, nil
		l.lean(p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owners[p.Types] = p
}

// parse adds a file, read from the disk if src is nil.
func (p *Package) parse(name string, src any) {
	file, err := parser.ParseFile(p.Fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		p.Errors = append(p.Errors, err)
	}
	if file != nil {
		p.Files = append(p.Files, file)
	}
}

// With returns a package, which has kept its syntax, with other texts of some of its files, by name, type-checked and
// followed anew. Packages that import it stay as they are.
func (p *Package) With(texts map[string][]byte) *Package {
	q := *p
	q.Files, q.Types, q.Info, q.Result, q.Errors = nil, nil, nil, nil, nil
	for _, file := range p.Files {
		name := p.Fset.Position(file.FileStart).Filename
		if text, ok := texts[name]; ok {
			q.parse(name, text)
		} else {
			q.Files = append(q.Files, file)
		}
	}
	p.loader.typeCheck(&q)
	return &q
}

// typeCheck type-checks a package that has been parsed, and runs the flow on it.
func (l *loader) typeCheck(p *Package) {
	bodies := p.Initial || p.Module != nil && !l.config.Shallow
	p.Info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	config := types.Config{
		Importer:         importer(p.imported),
		IgnoreFuncBodies: !bodies,
		FakeImportC:      true,
		Sizes:            p.Sizes,
		Error:            func(err error) { p.Errors = append(p.Errors, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	before := len(p.Errors)
	p.Types, _ = config.Check(p.Path, p.Fset, p.Files, p.Info)
	if len(p.Errors) > before && slices.ContainsFunc(p.Files, flow.ImportsC) {
		// What comes from C has no type here, so where it is used need not make sense.
		errs := slices.DeleteFunc(p.Errors[before:], func(err error) bool { return p.leftOut(err) })
		if p.Errors = p.Errors[:before]; len(errs) > 0 {
			p.Note = fmt.Sprintf("%s uses C in a way that wants its types, which go vet -vettool alone has: it was not looked at (%v)", p.Path, errs[0])
			return
		}
	}
	for _, dep := range p.imported {
		if dep.broken != "" {
			p.broken = dep.broken
		}
	}
	if len(p.Errors) > 0 {
		p.broken = p.Path
	} else if bodies {
		l.flow(p)
	}
}

// leftOut reports whether an error is in a declaration that the flow leaves out for what it has
// of C.
func (p *Package) leftOut(err error) bool {
	e, ok := err.(types.Error)
	return ok && slices.ContainsFunc(p.Files, func(file *ast.File) bool {
		return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
			return d.Pos() <= e.Pos && e.Pos < d.End() && flow.Typeless(p.Info, d)
		})
	})
}

// flow runs the flow's analyzer.
func (l *loader) flow(p *Package) {
	p.facts = map[factKey]analysis.Fact{}
	result, err := flow.Analyzer.Run(l.pass(flow.Analyzer, p, nil))
	if err != nil && p.broken != "" { // a type that it uses has no meaning
		p.Note = fmt.Sprintf("%s was not checked: it imports %s, which does not compile", p.Path, p.broken)
		return
	}
	if err != nil {
		p.Errors = append(p.Errors, err)
		return
	}
	if p.Initial {
		p.Result = result.(*flow.Result)
	}
}

func (l *loader) pass(a *analysis.Analyzer, p *Package, report func(analysis.Diagnostic)) *analysis.Pass {
	return &analysis.Pass{
		Analyzer: a, Fset: p.Fset, Files: p.Files, Pkg: p.Types, TypesInfo: p.Info, TypesSizes: p.Sizes,
		ResultOf: map[*analysis.Analyzer]any{flow.Analyzer: p.Result},
		Report:   report,
		ReadFile: os.ReadFile,
		ImportObjectFact: func(obj types.Object, fact analysis.Fact) bool {
			of := p
			if obj.Pkg() != p.Types {
				l.mu.Lock()
				of = l.owners[obj.Pkg()]
				l.mu.Unlock()
			}
			if of == nil { // error's method is of no package
				return false
			}
			got, ok := of.facts[factKey{obj, reflect.TypeOf(fact)}]
			if ok {
				reflect.ValueOf(fact).Elem().Set(reflect.ValueOf(got).Elem())
			}
			return ok
		},
		ExportObjectFact: func(obj types.Object, fact analysis.Fact) {
			p.facts[factKey{obj, reflect.TypeOf(fact)}] = fact
		},
	}
}

type importer map[string]*Package

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := i[path]
	if p == nil || p.Types == nil {
		return nil, fmt.Errorf("no package %s", path)
	}
	return p.Types, nil
}

// Run loads packages and returns what the analyzers report in them.
func Run(c Config, analyzers []*analysis.Analyzer) ([]Finding, []*Package, error) {
	pkgs, err := load(c)
	if err != nil {
		return nil, nil, err
	}
	var all []Finding
	seen := map[string]bool{}
	for _, p := range pkgs {
		found, err := p.Findings(analyzers)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range found {
			if at := f.Position.String() + f.Check; !seen[at] {
				seen[at] = true
				all = append(all, f)
			}
		}
	}
	return all, pkgs, nil
}

// Findings is what the analyzers report in one package: nothing if it does not compile.
func (p *Package) Findings(analyzers []*analysis.Analyzer) (all []Finding, err error) {
	if p.Result == nil {
		return nil, nil
	}
	for _, a := range analyzers {
		pass := p.loader.pass(a, p, func(d analysis.Diagnostic) {
			all = append(all, Finding{Package: p.Path, Check: a.Name, Position: p.Fset.Position(d.Pos), Diagnostic: d, fset: p.Fset})
		})
		if _, err := a.Run(pass); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// A Finding is what one analyzer reports in one place.
type Finding struct {
	Package    string
	Check      string
	Position   token.Position
	Diagnostic analysis.Diagnostic
	fset       *token.FileSet
}

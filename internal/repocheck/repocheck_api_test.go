package repocheck

import (
	"flag"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/api.golden from what the sources say")

// publicPackages are the directories of the packages that users import.
var publicPackages = []string{".", "offheap", "dewtest", "dewsync", "pressure"}

// TestAPI shows every change of a public name or signature, but none of comments. A
// change may be right: look at the difference, and
//
//	go test ./internal/repocheck -run API -update
func TestAPI(t *testing.T) {
	const golden = "testdata/api.golden"
	var got strings.Builder
	imp := newSourceImporter("../..")
	for _, dir := range publicPackages {
		p, err := imp.Import(modulePath + strings.TrimSuffix("/"+dir, "/."))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range listing(p) {
			got.WriteString(line + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")) {
		t.Error(d)
	}
}

// differences returns the lines that only one of two listings has.
func differences(before, after []string) []string {
	var all []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			all = append(all, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			all = append(all, "+ "+line)
		}
	}
	return all
}

func TestDifferences(t *testing.T) {
	got := differences([]string{"func A()", "func B()", "func C(int)"}, []string{"func C(string)", "func B()"})
	want := []string{"- func A()", "- func C(int)", "+ func C(string)"}
	if !slices.Equal(got, want) {
		t.Errorf("the differences are %q, want %q", got, want)
	}
}

// The listing has the names that a user can use, and their types, and nothing else.
func TestListing(t *testing.T) {
	const source = `package p

import "io"

// Comments are not in it.
const C, c = 1 << 3, 2

type K uint8

const (
	K0 K = iota
	K1
)

var Err, err error

type S[T any] struct {
	Field, field []T
	io.Reader
	hidden
}

type hidden struct{ Deep int }

func (hidden) Promoted() {}

func (s *S[T]) Method(t T, more ...string) (n int, err error) { return }
func (s S[T]) Value() *S[T]                                   { return nil }
func (s *S[T]) method()                                       {}

type I interface {
	io.Closer
	Do(func(w io.Writer) K)
	do()
}

type A = S[int]

func F[T ~int | ~string](s ...S[T]) {}
func f()              {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: newSourceImporter("../..")}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"p: const C untyped int = 8",
		"p: const K0 K = 0",
		"p: const K1 K = 1",
		"p: func F[T ~int | ~string](s ...S[T])",
		"p: type A = S[int]",
		"p: type I interface",
		"p: type I, method Close() error",
		"p: type I, method Do(func(w io.Writer) K)",
		"p: type I, methods that are not exported",
		"p: type K uint8",
		"p: type S[T any] struct",
		"p: type S[T any], field Field []T",
		"p: type S[T any], field Reader io.Reader, embedded",
		"p: type S[T any], method (*) Method(t T, more ...string) (n int, err error)",
		"p: type S[T any], method Promoted()",
		"p: type S[T any], method Read(p []byte) (n int, err error)",
		"p: type S[T any], method Value() *S[T]",
		"p: var Err error",
	}
	if got := listing(p); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// listing returns a line for each exported name of a package.
func listing(p *types.Package) (lines []string) {
	name := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	add := func(format string, args ...any) { lines = append(lines, p.Name()+": "+fmt.Sprintf(format, args...)) }
	for _, id := range p.Scope().Names() {
		object := p.Scope().Lookup(id)
		if !object.Exported() {
			continue
		}
		text := types.TypeString(object.Type(), name)
		switch object := object.(type) {
		case *types.Const:
			add("const %s %s = %s", id, text, object.Val())
		case *types.Var:
			add("var %s %s", id, text)
		case *types.Func:
			add("func %s%s", id, strings.TrimPrefix(text, "func"))
		case *types.TypeName:
			listType(object, name, add)
		}
	}
	slices.Sort(lines)
	return lines
}

func listType(object *types.TypeName, name types.Qualifier, add func(format string, args ...any)) {
	if object.IsAlias() {
		add("type %s = %s", object.Name(), types.TypeString(types.Unalias(object.Type()), name))
		return
	}
	named := object.Type().(*types.Named)
	full := object.Name()
	if p := named.TypeParams(); p.Len() > 0 {
		var all []string
		for p := range p.TypeParams() {
			all = append(all, p.Obj().Name()+" "+types.TypeString(p.Constraint(), name))
		}
		full += "[" + strings.Join(all, ", ") + "]"
	}
	switch under := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", full)
		for f := range under.Fields() {
			if embedded := map[bool]string{true: ", embedded"}[f.Embedded()]; f.Exported() {
				add("type %s, field %s %s%s", full, f.Name(), types.TypeString(f.Type(), name), embedded)
			}
		}
	case *types.Interface:
		add("type %s interface", full)
	default:
		add("type %s %s", full, types.TypeString(under, name))
	}
	values, unexported := types.NewMethodSet(named), false
	pointers := values
	if !types.IsInterface(named) {
		pointers = types.NewMethodSet(types.NewPointer(named))
	}
	for m := range pointers.Methods() {
		f := m.Obj().(*types.Func)
		if !f.Exported() {
			unexported = true
			continue
		}
		star := ""
		if values.Lookup(f.Pkg(), f.Name()) == nil {
			star = "(*) "
		}
		add("type %s, method %s%s%s", full, star, f.Name(), strings.TrimPrefix(types.TypeString(f.Type(), name), "func"))
	}
	if unexported && types.IsInterface(named) {
		add("type %s, methods that are not exported", full) // so no other package implements it
	}
}

// A sourceImporter type-checks the packages of this repository, and the standard
// library's, from their sources, as on Linux.
type sourceImporter struct {
	root     string
	context  gobuild.Context
	fset     *token.FileSet
	standard types.Importer
	done     map[string]*types.Package
}

func newSourceImporter(root string) *sourceImporter {
	// The standard library's importer uses no other context.
	gobuild.Default.CgoEnabled = false
	gobuild.Default.GOOS, gobuild.Default.GOARCH = "linux", "amd64"
	context := gobuild.Default
	fset := token.NewFileSet()
	return &sourceImporter{root, context, fset, importer.ForCompiler(fset, "source", nil), map[string]*types.Package{}}
}

func (i *sourceImporter) Import(path string) (*types.Package, error) {
	dir, ours := within(path)
	if !ours {
		return i.standard.Import(path)
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	dir = filepath.Join(i.root, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if match, err := i.context.MatchFile(dir, e.Name()); err != nil || !match {
			if err != nil {
				return nil, err
			}
			continue
		}
		file, err := parser.ParseFile(i.fset, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: i, IgnoreFuncBodies: true, Sizes: types.SizesFor("gc", i.context.GOARCH), GoVersion: "go1.24"}
	p, err := config.Check(path, i.fset, files, nil)
	i.done[path] = p
	return p, err
}

package repocheck

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/api.golden from what the sources say")

// publicModules have packages that users import.
var publicModules = []string{".", "contrib/...", "poolvet", "instruments"}

// TestAPI shows every change of an exported declaration, but none of comments. A change may be
// right: look at the difference, and
//
//	go test ./internal/repocheck -run API -update
func TestAPI(t *testing.T) {
	const golden = "testdata/api.golden"
	r, err := read(os.DirFS(rootDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.files, func(f *file) bool { return f.path == "go.work" }) {
		t.Skip("a module zip lacks the nested modules")
	}
	got := r.api(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences(string(want), got) {
		t.Error(d)
	}
}

// api returns the declarations of every public package, as Go 1.26 compiles it for Linux on amd64.
func (r *repository) api(t *testing.T) string {
	linux := gobuild.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled, linux.ToolTags, linux.ReleaseTags = "linux", "amd64", false, nil, nil
	for minor := range 27 { // whichever version runs this
		linux.ReleaseTags = append(linux.ReleaseTags, fmt.Sprintf("go1.%d", minor))
	}
	packages := map[string][]string{}
	for _, s := range r.sources {
		if s.test || s.module == nil || !isPublic(s) {
			continue
		}
		if match, err := linux.MatchFile(filepath.Join(rootDir(t), s.dir), path.Base(s.path)); err != nil {
			t.Fatal(err)
		} else if match {
			packages[s.dir] = append(packages[s.dir], exported(t, r.fset, s.syntax)...)
		}
	}
	var out strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		slices.Sort(packages[dir])
		out.WriteString("package " + path.Join(modulePath, dir) + "\n\n" + strings.Join(packages[dir], "\n\n") + "\n\n")
	}
	return out.String()
}

// isPublic reports whether users import the package of a file. Of the instruments they import the load
// generator.
func isPublic(s *source) bool {
	inside := "/" + s.dir + "/"
	return slices.ContainsFunc(publicModules, func(m string) bool { return matches(m, s.module.dir) }) &&
		s.syntax.Name.Name != "main" && !strings.Contains(inside, "/internal/") &&
		(s.module.dir != "instruments" || strings.HasPrefix(inside, "/instruments/load/"))
}

// exported returns a file's exported declarations without comments and bodies, one space between two words.
func exported(t *testing.T, fset *token.FileSet, file *ast.File) (all []string) {
	file.Comments = nil
	ast.FileExports(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
				continue
			}
			d.Body, d.Doc = nil, nil
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
		}
		for n := range ast.Preorder(d) {
			switch n := n.(type) {
			case *ast.GenDecl:
				n.Doc = nil
			case *ast.Field:
				n.Doc, n.Comment = nil, nil
				if n.Tag != nil && strings.Contains(n.Tag.Value, "help:") {
					n.Tag = nil // a text for users
				}
			case *ast.TypeSpec:
				n.Doc, n.Comment = nil, nil
			case *ast.ValueSpec:
				n.Doc, n.Comment = nil, nil
			}
		}
		var text bytes.Buffer
		if err := format.Node(&text, fset, d); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(text.String()) {
			if words := strings.Fields(line); len(words) > 0 {
				indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
				lines = append(lines, indent+strings.Join(words, " "))
			}
		}
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// differences returns the lines that only one of two listings has, each behind the package and the
// declaration that it is in.
func differences(before, after string) (all []string) {
	was, is := placed(before), placed(after)
	for _, line := range was {
		if !slices.Contains(is, line) {
			all = append(all, "- "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			all = append(all, "+ "+line)
		}
	}
	if len(all) == 0 && before != after {
		all = append(all, "the same lines in another order")
	}
	return all
}

func placed(listing string) (all []string) {
	var in, declaration string
	for line := range strings.Lines(listing) {
		line = strings.TrimSpace(line)
		switch name, isPackage := strings.CutPrefix(line, "package "); {
		case isPackage:
			in, declaration = name, ""
		case line == "":
			declaration = ""
		case declaration == "":
			declaration = line
			all = append(all, in+": "+line)
		default:
			all = append(all, in+": "+declaration+" "+line)
		}
	}
	return all
}

func TestDifferences(t *testing.T) {
	got := differences("package p\n\nfunc A()\n\ntype B struct {\n\tX int\n}\n", "package p\n\nfunc A()\n\ntype B struct {\n\tX string\n}\n\npackage q\n\nfunc A()\n")
	want := []string{"- p: type B struct { X int", "+ p: type B struct { X string", "+ q: func A()"}
	if !slices.Equal(got, want) {
		t.Errorf("the differences are %q, want %q", got, want)
	}
}

// The listing has the names that a user can use, and their types, and nothing else.
func TestExported(t *testing.T) {
	const source = `package p

import "io"

// Comments are not in it.
const C = 1 << 3

type K uint8

const (
	K0 K = iota // the first
	K1
)

var Err, err error

type S[T any] struct {
	Field, field []T // exported in part

	// The reader.
	io.Reader
	hidden
}

type hidden struct{ Deep int }

func (s *S[T]) Method(t T, more ...string) (n int, err error) { return 1, nil }
func (s *S[T]) method()                                       {}
func (hidden) Promoted()                                      {}

type I interface {
	io.Closer
	Do(func(w io.Writer) K)
	do()
}

func F[T ~int | ~string](s ...S[T]) {}
func f()              {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := `const C = 1 << 3
type K uint8
const (
	K0 K = iota
	K1
)
var Err error
type S[T any] struct {
	Field []T
	io.Reader
	// contains filtered or unexported fields
}
func (s *S[T]) Method(t T, more ...string) (n int, err error)
type I interface {
	io.Closer
	Do(func(w io.Writer) K)
	// contains filtered or unexported methods
}
func F[T ~int | ~string](s ...S[T])`
	if got := strings.Join(exported(t, fset, file), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

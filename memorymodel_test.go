package dewpond_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

const memoryModel = "docs/internals/memory-model.md"

// What docs/internals/memory-model.md quotes is in the code: each line in the declaration that is
// named above it, in the order of the quotes; each test in the file that it is said to be in, and each mutant
// in a list of mutants.
func TestMemoryModelQuotesTheCode(t *testing.T) {
	text, err := os.ReadFile(memoryModel)
	if err != nil {
		t.Fatal(err)
	}
	lines, names, errs := checkQuotes(string(text), os.ReadFile)
	for _, err := range errs {
		t.Error(err)
	}
	if lines < 50 || names < 25 {
		t.Errorf("%d quoted lines and %d names of tests and mutants were found: not all were seen", lines, names)
	}
}

// The check above can fail.
func TestMemoryModelCheckFinds(t *testing.T) {
	files := map[string]string{
		"a.go":                         "package a\n\nfunc f() {\n\tone()\n\ttwo()\n}\n\nfunc (g *G) f() { three() }\n\nconst C = 4\n",
		"a_test.go":                    "package a\n\nfunc TestA(t *testing.T) {}\n",
		"instruments/proof/mutants.go": `Name: "no-grace",`,
	}
	read := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	quote := func(lines string) string { return "```go\n" + lines + "\n```\n" }
	for _, tt := range []struct{ text, want string }{
		{quote("// a.go: f\none()\ntwo()\n// a.go: G.f\nfunc (g *G) f() { three() }\n// a.go: C\nconst C = 4"), ""},
		{quote("// a.go: f\nthree()"), "a.go: f has no line"},
		{quote("// a.go: f\ntwo()\none()"), "a.go: f has no line"},
		{quote("// a.go: f\non()"), "a.go: f has no line"},
		{quote("// a.go: g\none()"), "a.go has no g"},
		{quote("// b.go: f\none()"), "b.go"},
		{quote("one()"), "no file"},
		{"[TestA](../../a_test.go) and mutant `no-grace`", ""},
		{"[TestB](../../a_test.go)", "TestB"},
		{"mutant `no-peace`", "no-peace"},
		{"[a](../../c.md)", "c.md"},
	} {
		_, _, errs := checkQuotes(tt.text, read)
		err := errors.Join(errs...)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

var (
	quoteHead  = regexp.MustCompile(`^// ([\w./]+\.go): ([\w.]+)$`)
	docLink    = regexp.MustCompile(`\[([^\]]+)\]\(\.\./\.\./([^)#]+)\)`)
	mutantName = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")
	mutantFile = []string{"instruments/proof/mutants.go", "instruments/proof/admissionmutants.go", "instruments/proof/poolmutants.go", "instruments/proof/seams_linear_test.go"}
)

// checkQuotes returns how many lines of code, and names of tests and mutants, a document
// has, and what is wrong with them.
func checkQuotes(text string, read func(string) ([]byte, error)) (lines, names int, errs []error) {
	var file, name, rest string
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	quoting := false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		head := quoteHead.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "```"):
			quoting = line == "```go"
			file = ""
		case !quoting || line == "":
		case head != nil:
			file, name = head[1], head[2]
			var err error
			if rest, err = declaration(file, name, read); err != nil {
				errs = append(errs, err)
			}
		case file == "":
			fail("no file is named for %q", line)
		default:
			lines++
			_, after, ok := strings.Cut(rest, "\n"+line+"\n")
			if !ok {
				fail("%s: %s has no line %q, or has it earlier than the one quoted before", file, name, line)
				continue
			}
			rest = "\n" + after
		}
	}
	// A module zip has no instruments/proof: it is a module of its own.
	_, err := read(mutantFile[0])
	proof := err == nil
	for _, link := range docLink.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(link[2], "instruments/proof/") && !proof {
			continue
		}
		source, err := read(path.Clean(link[2]))
		switch {
		case err != nil:
			fail("link to %s: %v", link[2], err)
		case strings.HasPrefix(link[1], "Test"):
			names++
			if !strings.Contains(string(source), "\nfunc "+link[1]+"(") {
				fail("%s has no %s", link[2], link[1])
			}
		}
	}
	if proof {
		var mutants strings.Builder
		for _, file := range mutantFile {
			source, _ := read(file)
			mutants.Write(source)
		}
		for _, m := range mutantName.FindAllStringSubmatch(text, -1) {
			names++
			if !strings.Contains(mutants.String(), `Name: "`+m[1]+`",`) {
				fail("no mutant is named %s", m[1])
			}
		}
	}
	return lines, names, errs
}

// declaration returns the lines of a top-level declaration, without what they begin with.
// A method goes by Type.method.
func declaration(file, name string, read func(string) ([]byte, error)) (string, error) {
	source, err := read(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, d := range syntax.Decls {
		if !declares(d, name) {
			continue
		}
		lines := []string{""}
		all := strings.Split(string(source), "\n")
		for _, line := range all[fset.Position(d.Pos()).Line-1 : fset.Position(d.End()).Line] {
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.Join(append(lines, ""), "\n"), nil
	}
	return "", fmt.Errorf("%s has no %s", file, name)
}

func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		full := d.Name.Name
		if d.Recv != nil {
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			if id, ok := of.(*ast.Ident); ok {
				full = id.Name + "." + full
			}
		}
		return full == name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == name {
					return true
				}
			case *ast.ValueSpec:
				for _, id := range s.Names {
					if id.Name == name {
						return true
					}
				}
			}
		}
	}
	return false
}

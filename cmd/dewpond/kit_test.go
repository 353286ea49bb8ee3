package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// The contenders that reports treat specially are among those that there are.
func TestSpecialContenders(t *testing.T) {
	if _, err := contender.Find([]string{bench.Ours, bench.Baseline, bench.Control, bench.Undecayed}); err != nil {
		t.Error(err)
	}
}

// The kit names no contender and no scenario, so that one who adds either finds all of it here.
func TestKitNamesNothing(t *testing.T) {
	names := map[string]bool{bench.Touring: true}
	for _, name := range contender.Names() {
		names[name] = true
	}
	for _, s := range scenarios() {
		names[s.Name] = true
	}
	const kit = "../../instruments/kit"
	seen := 0
	err := filepath.WalkDir(kit, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") {
			for name := range names {
				if strings.Contains(string(text), strconv.Quote(name)) {
					t.Errorf("%s names %q", path, name)
				}
			}
			return nil
		}
		seen++
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if name, err := strconv.Unquote(literal.Value); err == nil && names[name] {
					t.Errorf("%s names %q", files.Position(literal.Pos()), name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatalf("%d files of %s read: %v", seen, kit, err)
	}
}

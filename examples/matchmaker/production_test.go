package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a reader copies knows neither stand-ins nor what measures it: main alone does.
func TestProductionImports(t *testing.T) {
	const own, instruments = "github.com/dewpond/dewpond/examples/matchmaker/", "github.com/dewpond/dewpond/instruments/"
	stands := []string{own + "standin", "github.com/alicebob/miniredis"}
	may := []string{"main.go", "demo.go", "standin"}
	files, found := 0, 0
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		path = filepath.ToSlash(path)
		source, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files++
		free := slices.ContainsFunc(may, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
		for _, i := range source.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			isStandIn := slices.ContainsFunc(stands, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
			switch {
			case isStandIn && free:
				found++
			case isStandIn:
				t.Errorf("%s imports %s, which is for main and for what measures", path, name)
			case strings.HasPrefix(name, instruments) && !strings.HasPrefix(name+"/", instruments+"kit/"):
				t.Errorf("%s imports %s, which measures", path, name)
			}
		}
		return nil
	})
	if err != nil || files < 50 || found < 5 {
		t.Errorf("%d files, of which %d import stand-ins: %v", files, found, err)
	}
}

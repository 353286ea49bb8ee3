package repocheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// A repository is what the rules check: every file, with the Go files parsed.
type repository struct {
	fset    *token.FileSet
	dirs    []string // all except those that are skipped; "." is the root
	files   []*file
	sources []*source // the files that belong to Go packages
	modules []*module
}

// A file is any file, Go or not.
type file struct {
	path string // slashes, relative to the root
	data []byte
}

// A source is a Go file in a place where the go command would find it.
type source struct {
	*file
	dir    string // the package's directory: "." is the root package
	module *module
	test   bool // named _test.go
	syntax *ast.File
}

// read reads the whole tree, without what a tool left behind (.git, .idea, .ci/bin).
func read(fsys fs.FS) (*repository, error) {
	r := &repository{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if isLeftover(name) {
				return fs.SkipDir
			}
			r.dirs = append(r.dirs, name)
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		r.files = append(r.files, &file{name, data})
		return err
	})
	if err != nil {
		return nil, err
	}
	r.readModules()
	return r, r.parse()
}

func isLeftover(dir string) bool {
	base := path.Base(dir)
	hidden := strings.HasPrefix(base, ".") && dir != "." && base != ".ci" && base != ".github"
	return hidden || dir == ".ci/bin"
}

func (r *repository) parse() error {
	for _, f := range r.files {
		if path.Ext(f.path) != ".go" || ignoredByGo(f.path) {
			continue
		}
		syntax, err := parser.ParseFile(r.fset, f.path, f.data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(f.path)
		r.sources = append(r.sources, &source{f, dir, r.moduleOf(dir), strings.HasSuffix(f.path, "_test.go"), syntax})
	}
	return nil
}

// ignoredByGo reports whether the go command ignores packages at that path.
func ignoredByGo(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if element == "testdata" || strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
			return true
		}
	}
	return false
}

func (r *repository) line(pos token.Pos) int { return r.fset.Position(pos).Line }

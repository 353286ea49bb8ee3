package sites

import (
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// A Frame is one call of a stack.
type Frame struct {
	Function string // with the path of its package
	File     string
	Line     int
}

// Package returns the path of the package that the function is in: "main", "net/http".
func (f Frame) Package() string {
	name, _, _ := strings.Cut(f.Function, "[") // a type argument has a path, too
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name
	}
	return name[:slash+dot]
}

// Name returns the function without the path of its package: "siteA", "(*Server).handle".
func (f Frame) Name() string {
	return strings.TrimPrefix(strings.TrimPrefix(f.Function, f.Package()), ".")
}

// A Program says which functions are the user's own.
type Program struct {
	// Modules are the paths of the user's modules. Without any, what is neither of the standard library
	// nor of the module cache is the user's.
	Modules []string
}

// Owns reports whether a frame is of the user's own modules.
func (p Program) Owns(f Frame) bool {
	pkg := f.Package()
	switch {
	case pkg == "main":
		return true
	case strings.Contains(f.File, "@v"), strings.Contains(f.File, "/vendor/"): // the module cache, or a copy of it
		return false
	case len(p.Modules) > 0:
		return slices.ContainsFunc(p.Modules, func(m string) bool { return pkg == m || strings.HasPrefix(pkg, m+"/") })
	}
	return !standard(pkg)
}

// standard reports whether a package is of the standard library, whose paths begin with a name
// without a dot. A module of the user may have such a path as well; --src finds it.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// Short returns the end of a file's path that names it among others: its last element.
func (f Frame) Short() string { return path.Base(strings.ReplaceAll(f.File, `\`, "/")) }

// Frames returns the calls of a sample, the innermost first, with those that were inlined.
func Frames(s *profile.Sample) []Frame {
	var all []Frame
	for _, location := range s.Location {
		for _, line := range location.Line {
			if line.Function != nil {
				all = append(all, Frame{line.Function.Name, line.Function.Filename, int(line.Line)})
			}
		}
	}
	return all
}

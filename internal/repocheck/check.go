package repocheck

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// A Finding is one place where the repository breaks one of its rules.
type Finding struct {
	Path    string // relative to the repository's root
	Line    int    // 0: the file or directory as a whole
	Rule    string
	Message string // what is wrong, and what to do instead
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.Path, f.Rule, f.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, f.Line, f.Rule, f.Message)
}

// A rule checks the whole repository.
type rule struct {
	name  string
	check func(r *repository, report reporter)
}

type reporter func(path string, line int, format string, args ...any)

var rules = []rule{
	{"module", checkModules},
	{"replace", checkReplaces},
	{"layer", checkLayers},
	{"dependency", checkDependencies},
	{"unsafe", checkUnsafe},
	{"linkname", checkLinkname},
	{"assembly", checkAssembly},
	{"syscall", checkSyscall},
	{"link", checkLinks},
	{"atomic", checkAtomics},
	{"explored", checkExplored},
	{"finalizer", checkFinalizers},
	{"init", checkInit},
	{"twins", checkTwins},
}

// Check applies every rule to the repository whose root is fsys, and returns the
// findings, sorted by path and line. The error says that a file could not be read or
// parsed.
func Check(fsys fs.FS) ([]Finding, error) {
	r, err := read(fsys)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, rule := range rules {
		rule.check(r, func(path string, line int, format string, args ...any) {
			found = append(found, Finding{path, line, rule.name, fmt.Sprintf(format, args...)})
		})
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return found, nil
}

package repocheck

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"slices"
	"strings"
)

// These are the Go versions whose runtime internal/percpu/pin.go was checked against.
// Raising the last one is a chore of each Go release: HACKING.md says how. The tag
// dewpond_pinned asks for it on a newer one.
const (
	firstPinned = 24
	lastPinned  = 27
)

const (
	twinDir   = "internal/percpu"
	twinConst = "Pinned" // declared by each engine
)

// checkTwins requires that for every Go version, compiler and set of tags exactly one
// of percpu's engines is built, and the one with go:linkname only where it was meant. A
// build shows nothing about the versions that it does not run on.
func checkTwins(r *repository, report reporter) {
	engines := map[string]constraint.Expr{}
	for _, s := range r.sources {
		if s.dir != twinDir || s.test || !declaresConst(s.syntax, twinConst) {
			continue
		}
		expr, err := buildConstraint(s.data)
		if err != nil {
			report(s.path, 0, "declares %s, so it must say when it is built: %v", twinConst, err)
			return
		}
		engines[s.path] = expr
	}
	if len(engines) == 0 {
		return
	}
	for _, b := range builds() {
		var built []string
		for path, expr := range engines {
			if expr.Eval(b.has) {
				built = append(built, path)
			}
		}
		slices.Sort(built)
		if len(built) != 1 {
			report(twinDir, 0, "%v builds %d engines %v: exactly one must be", b, len(built), built)
			continue
		}
		if pinned := slices.Contains(linknameAddresses, built[0]); pinned != b.mayPin() {
			report(built[0], 0, "is built for %v: go:linkname is for the gc compiler of Go 1.%d to 1.%d, or newer with the tag dewpond_pinned, without the race detector and without other tags",
				b, firstPinned, lastPinned)
		}
	}
}

// A build is one way to build the package.
type build struct {
	goVersion                       int // 27 is Go 1.27
	gc                              bool
	race, pinned, portable, explore bool
}

func builds() []build {
	var all []build
	bools := []bool{false, true}
	for version := firstPinned - 1; version <= lastPinned+2; version++ {
		for _, gc := range bools {
			for _, race := range bools {
				for _, pinned := range bools {
					for _, portable := range bools {
						for _, explore := range bools {
							all = append(all, build{version, gc, race, pinned, portable, explore})
						}
					}
				}
			}
		}
	}
	return all
}

func (b build) mayPin() bool {
	return b.gc && b.goVersion >= firstPinned && (b.goVersion <= lastPinned || b.pinned) && !b.race && !b.portable && !b.explore
}

// has reports whether a tag is set. Go 1.27 has go1.27 and every tag before it.
func (b build) has(tag string) bool {
	switch tag {
	case "gc":
		return b.gc
	case "gccgo":
		return !b.gc
	case "race":
		return b.race
	case "dewpond_pinned":
		return b.pinned
	case "dewpond_portable":
		return b.portable
	case "dewpond_explore":
		return b.explore
	}
	var version int
	n, _ := fmt.Sscanf(tag, "go1.%d", &version)
	return n == 1 && version <= b.goVersion
}

func (b build) String() string {
	text := fmt.Sprintf("Go 1.%d", b.goVersion)
	for _, tag := range []string{"gc", "gccgo", "race", "dewpond_pinned", "dewpond_portable", "dewpond_explore"} {
		if b.has(tag) {
			text += " " + tag
		}
	}
	return text
}

func declaresConst(f *ast.File, name string) bool {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name }) {
				return true
			}
		}
	}
	return false
}

func buildConstraint(data []byte) (constraint.Expr, error) {
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); constraint.IsGoBuild(line) {
			return constraint.Parse(line)
		}
	}
	return nil, fmt.Errorf("it has no //go:build line")
}

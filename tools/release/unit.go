package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A unit is a module of the repository.
type unit struct {
	dir        string // slashes, from the repository's root: "." is the root
	path       string
	requires   []*unit  // units of this repository, from its go.mod
	importable []string // packages that another module may import
	commands   []string // packages that can be installed
}

func (u *unit) isRoot() bool { return u.dir == "." }

// isInternal reports whether code outside the repository cannot import from the unit.
func (u *unit) isInternal() bool { return isInternal(u.dir) }

func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

func (u *unit) tag(version string) string { return path.Join(u.dir, version) }

// subdir returns the unit's directory in the form that package zip expects.
func (u *unit) subdir() string { return strings.TrimPrefix(u.dir, ".") }

// needs returns all units that the unit requires, directly or through others.
func (u *unit) needs() map[*unit]bool {
	all := map[*unit]bool{}
	var add func(*unit)
	add = func(u *unit) {
		for _, r := range u.requires {
			if !all[r] {
				all[r] = true
				add(r)
			}
		}
	}
	add(u)
	return all
}

// readUnits reads the modules that go.work uses. The first is the root.
func readUnits(root string) ([]*unit, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*unit{}
	files := map[*unit]*modfile.File{}
	var units []*unit
	for _, use := range work.Use {
		u := &unit{dir: path.Clean(filepath.ToSlash(use.Path))}
		file := filepath.Join(root, u.dir, "go.mod")
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		mod, err := modfile.Parse(path.Join(u.dir, "go.mod"), data, nil)
		if err != nil {
			return nil, err
		}
		u.path = mod.Module.Mod.Path
		byPath[u.path], files[u] = u, mod
		units = append(units, u)
		if err := u.readPackages(root); err != nil {
			return nil, err
		}
	}
	for _, u := range units {
		for _, r := range files[u].Require {
			if required := byPath[r.Mod.Path]; required != nil {
				u.requires = append(u.requires, required)
			}
		}
	}
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Compare(len(a.dir), len(b.dir)) })
	if len(units) == 0 || !units[0].isRoot() {
		return nil, errors.New("go.work does not use the root")
	}
	for _, u := range units {
		if want := path.Join(units[0].path, u.dir); u.path != want {
			return nil, fmt.Errorf("the module in %s is %s: a tag finds only %s", u.dir, u.path, want)
		}
	}
	return units, nil
}

// readPackages finds the unit's packages, as they build on this platform.
func (u *unit) readPackages(root string) error {
	top := filepath.Join(root, u.dir)
	return filepath.WalkDir(top, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if dir != top {
			name := entry.Name()
			_, err := os.Stat(filepath.Join(dir, "go.mod"))
			if err == nil || name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return fs.SkipDir
			}
		}
		pkg, err := build.ImportDir(dir, 0)
		if noGo := (*build.NoGoError)(nil); errors.As(err, &noGo) {
			return nil
		} else if err != nil {
			return err
		}
		below, err := filepath.Rel(top, dir)
		if err != nil {
			return err
		}
		p := path.Join(u.path, filepath.ToSlash(below))
		switch {
		case isInternal(path.Join(u.dir, filepath.ToSlash(below))) || len(pkg.GoFiles) == 0:
		case pkg.IsCommand():
			u.commands = append(u.commands, p)
		default:
			u.importable = append(u.importable, p)
		}
		return nil
	})
}

// order splits the units into those that are released, each after what it requires, and the
// others.
func order(units []*unit) (released, kept []*unit, err error) {
	reached := map[*unit]bool{}
	for _, u := range units {
		if !u.isInternal() {
			reached[u] = true
			maps.Copy(reached, u.needs())
		}
	}
	// A library that a command requires comes before it anyway; this also puts the libraries
	// first that no command requires.
	rank := func(u *unit) int {
		switch {
		case u.isRoot():
			return 0
		case len(u.commands) == 0:
			return 1
		}
		return 2
	}
	waiting := slices.Clone(units)
	slices.SortStableFunc(waiting, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.dir, b.dir))
	})
	done := map[*unit]bool{}
	for len(waiting) > 0 {
		next := slices.IndexFunc(waiting, func(u *unit) bool {
			return !slices.ContainsFunc(u.requires, func(r *unit) bool { return !done[r] })
		})
		if next < 0 {
			return nil, nil, fmt.Errorf("modules require each other in a circle: %s", waiting[0].path)
		}
		u := waiting[next]
		waiting = slices.Delete(waiting, next, next+1)
		done[u] = true
		if reached[u] {
			released = append(released, u)
		} else {
			kept = append(kept, u)
		}
	}
	if !released[0].isRoot() || len(released[0].requires) > 0 {
		return nil, nil, fmt.Errorf("the root must be released first, so it may require no other module of this repository")
	}
	return released, kept, nil
}

// version returns the unit's module path at a version.
func (u *unit) version(version string) module.Version {
	return module.Version{Path: u.path, Version: version}
}

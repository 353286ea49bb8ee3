package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// unreleased is the version at which the repository's modules require each other until they are
// released.
const unreleased = "v0.0.0"

// editMod writes the go.mod that a unit is released with: it has the real versions of the units
// that it requires, and no replaces of them.
func (u *unit) editMod(root, version string) error {
	file := filepath.Join(root, u.dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(path.Join(u.dir, "go.mod"), data, nil)
	if err != nil {
		return err
	}
	ours := map[string]bool{}
	for r := range u.needs() {
		ours[r.path] = true
	}
	for _, r := range mod.Require {
		if !ours[r.Mod.Path] {
			continue
		}
		if r.Mod.Version != unreleased {
			return fmt.Errorf("%s/go.mod requires %s: want it at %s, with a replace", u.dir, r.Mod, unreleased)
		}
		if err := mod.AddRequire(r.Mod.Path, version); err != nil {
			return err
		}
	}
	for _, r := range mod.Replace {
		if !ours[r.Old.Path] {
			return fmt.Errorf("%s/go.mod replaces %s: such a module cannot be installed", u.dir, r.Old.Path)
		}
		if err := mod.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	mod.Cleanup()
	data, err = mod.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}

// A checksum is a line of go.sum: of a module's zip, or of its go.mod if the version ends in
// /go.mod.
type checksum struct {
	module.Version
	hash string
}

// editSum adds checksums to a unit's go.sum, in the go command's order.
func (u *unit) editSum(root string, add []checksum) error {
	file := filepath.Join(root, u.dir, "go.sum")
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sums := map[module.Version]string{}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) == 3 {
			sums[module.Version{Path: words[0], Version: words[1]}] = words[2]
		}
	}
	for _, s := range add {
		sums[s.Version] = s.hash
	}
	versions := make([]module.Version, 0, len(sums))
	for v := range sums {
		versions = append(versions, v)
	}
	module.Sort(versions)
	var text strings.Builder
	for _, v := range slices.Compact(versions) {
		fmt.Fprintln(&text, v.Path, v.Version, sums[v])
	}
	return os.WriteFile(file, []byte(text.String()), 0o666)
}

// Package others fetches modules of others from the module proxy, to run poolvet's checks on.
package others

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A Module is one that the go command has fetched.
type Module struct {
	Path, Version string
	Packages      []string // patterns that take all of its packages, or those that were asked for
	Root          string   // where its files are
	Dir           string   // where the go command finds it, as a dependency of a module that is empty
	Env           []string // that the go command needs there
}

// Fetch fetches a module. Patterns are below the module's path; without one they are all of it.
// Close it when done.
// The path "std" is the standard library of the Go that runs this, if that is the version.
func Fetch(path, version string, patterns ...string) (*Module, error) {
	if path == "std" {
		if runtime.Version() != version {
			return nil, fmt.Errorf("this is %s, not %s", runtime.Version(), version)
		}
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, err
		}
		src := filepath.Join(string(bytes.TrimSpace(out)), "src")
		return &Module{Path: path, Version: version, Packages: patterns, Root: src, Dir: src, Env: []string{"GOWORK=off"}}, nil
	}
	dir, err := os.MkdirTemp("", "poolvet-others")
	if err != nil {
		return nil, err
	}
	m := &Module{Path: path, Version: version, Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=-mod=mod"}}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), fmt.Appendf(nil, "module others.example\n\ngo 1.26\n\nrequire %s %s\n", path, version), 0o600); err != nil {
		m.Close()
		return nil, err
	}
	// Unlike go list -m it fetches the files, without which there is no directory.
	get := exec.Command("go", "mod", "download", "-json", path+"@"+version)
	get.Dir, get.Env, get.Stderr = dir, append(os.Environ(), m.Env...), os.Stderr
	out, err := get.Output()
	got := struct{ Dir, Error string }{}
	if e := json.Unmarshal(out, &got); e == nil && got.Error != "" {
		err = errors.New(got.Error)
	} else if err == nil {
		err = e
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	m.Root = got.Dir
	for _, p := range patterns {
		m.Packages = append(m.Packages, strings.TrimSuffix(path+"/"+p, "/.")) // "." is the package at the root
	}
	if len(patterns) == 0 {
		m.Packages = []string{path + "/..."}
	}
	return m, nil
}

// Close removes what Fetch has made; the module's files stay where the go command keeps them.
func (m *Module) Close() error {
	if m.Path == "std" {
		return nil
	}
	return os.RemoveAll(m.Dir)
}

// Place is a file of the module and a position in it, relative to the module's root.
func (m *Module) Place(name string, line, column int) string {
	if rel, err := filepath.Rel(m.Root, name); err == nil {
		name = filepath.ToSlash(rel)
	}
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}

// Lines reads a file of words, without comments and lines of fewer than two words.
func Lines(name string) ([][]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all [][]string
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) > 1 && !strings.HasPrefix(line, "#") {
			all = append(all, words)
		}
	}
	return all, nil
}

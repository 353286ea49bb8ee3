package repocheck

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strings"
)

// A module is a go.mod, as far as the rules need it.
type module struct {
	dir      string // "." is the root
	path     string
	requires []requirement
	replaces []replacement
}

type requirement struct {
	path, version string
	line          int
}

type replacement struct {
	path, by string // by is a directory, or a module's path
	line     int
}

// readModules finds every go.mod and reads it, line by line: no package of the standard
// library parses the format.
func (r *repository) readModules() {
	for _, f := range r.files {
		if path.Base(f.path) != "go.mod" || ignoredByGo(f.path) {
			continue
		}
		m := &module{dir: path.Dir(f.path)}
		for line, words := range modLines(f.data) {
			switch words[0] {
			case "module":
				m.path = words[1]
			case "require":
				r := requirement{path: words[1], line: line}
				if len(words) > 2 {
					r.version = words[2]
				}
				m.requires = append(m.requires, r)
			case "replace":
				if at := slices.Index(words, "=>"); at > 0 && at+1 < len(words) {
					m.replaces = append(m.replaces, replacement{words[1], words[at+1], line})
				}
			}
		}
		r.modules = append(r.modules, m)
	}
}

// modLines yields the directives of a go.mod or go.work that have an argument, by line,
// each written out in full: the verb of a block is put before its lines.
func modLines(data []byte) func(yield func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		scanner := bufio.NewScanner(bytes.NewReader(data))
		block := ""
		for line := 1; scanner.Scan(); line++ {
			text, _, _ := strings.Cut(scanner.Text(), "//")
			words := strings.Fields(text)
			switch {
			case len(words) == 0:
				continue
			case words[0] == ")":
				block = ""
				continue
			case len(words) == 2 && words[1] == "(":
				block = words[0]
				continue
			case block != "":
				words = append([]string{block}, words...)
			}
			for i := range words {
				words[i] = strings.Trim(words[i], `"`)
			}
			if len(words) > 1 && !yield(line, words) {
				return
			}
		}
	}
}

// moduleOf returns the module that a package's directory belongs to, or nil.
func (r *repository) moduleOf(dir string) *module {
	var innermost *module
	for _, m := range r.modules {
		inside := m.dir == "." || matches(m.dir+"/...", dir)
		if inside && (innermost == nil || len(m.dir) > len(innermost.dir)) {
			innermost = m
		}
	}
	return innermost
}

// checkModules requires that go.work lists every module, because go test work would
// leave out the tests of any other. Only tools is exempt: in a workspace all modules
// share one graph of versions. The root module alone, as users get it, has no go.work.
func checkModules(r *repository, report reporter) {
	workspace := map[string]bool{}
	committed := false
	for _, f := range r.files {
		if f.path != "go.work" {
			continue
		}
		committed = true
		for _, words := range modLines(f.data) {
			if words[0] == "use" {
				workspace[path.Clean(words[1])] = true
			}
		}
	}
	for _, m := range r.modules {
		file, want := path.Join(m.dir, "go.mod"), path.Join(modulePath, m.dir)
		if m.path != want {
			report(file, 0, "the module is %s: it must be %s, after its directory, as in the table of layers", m.path, want)
		}
		if committed && !workspace[m.dir] && !matches("tools/...", m.dir) {
			report(file, 0, "go.work does not use ./%s, so go test work leaves it out", m.dir)
		}
	}
}

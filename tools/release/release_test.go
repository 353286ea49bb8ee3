package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// This repository's HEAD, released into a proxy of files, serves an outsider without a checkout:
// every command installs, and every importable package is imported, with the internal modules
// that it uses.
func TestOutsider(t *testing.T) {
	const version = "v0.1.0"
	proxy := t.TempDir()
	p, err := newPlan(".", version)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	var out strings.Builder
	if err := p.run(&out, proxy, false); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())

	root := p.released[0]
	o := newOutsider(t, proxy, root.path)
	o.imports(version, p.released)
	o.serves()
	commands := 0
	for _, u := range p.released {
		for _, c := range u.commands {
			commands++
			binary := o.installs(c, version)
			if c != root.path+"/cmd/dewpond" {
				continue
			}
			if help := o.run(binary, "--help"); !strings.Contains(help, "bench") {
				t.Errorf("dewpond --help prints\n%s", help)
			}
		}
		if !u.isRoot() {
			o.checksumsHold(u, version)
		}
	}
	if commands == 0 || !slices.Contains(root.importable, root.path) {
		t.Errorf("%d commands were found, and in the root the packages %v: this test saw nothing", commands, root.importable)
	}
}

// A small repository with a library below internal/ that a command and another library use.
const small = `
-- go.work --
go 1.26.0

use (
	.
	./cmd/pond
	./internal/measure
	./internal/proof
	./load
)
-- go.mod --
module example.com/pond

go 1.26.0
-- pond.go --
package pond

import "example.com/pond/internal/engine"

func Depth() int { return engine.Depth }
-- internal/engine/engine.go --
package engine

const Depth = 7
-- internal/measure/go.mod --
module example.com/pond/internal/measure

go 1.26.0

require example.com/pond v0.0.0

replace example.com/pond => ../..
-- internal/measure/measure.go --
package measure

import "example.com/pond"

func Twice() int { return 2 * pond.Depth() }
-- internal/proof/go.mod --
module example.com/pond/internal/proof

go 1.26.0
-- internal/proof/proof.go --
package proof
-- load/go.mod --
module example.com/pond/load

go 1.26.0

require example.com/pond/internal/measure v0.0.0

require example.com/pond v0.0.0 // indirect

replace (
	example.com/pond => ..
	example.com/pond/internal/measure => ../internal/measure
)
-- load/load.go --
package load

import "example.com/pond/internal/measure"

func Load() int { return measure.Twice() }
-- cmd/pond/go.mod --
module example.com/pond/cmd/pond

go 1.26.0

require (
	example.com/pond v0.0.0
	example.com/pond/internal/measure v0.0.0
)

replace (
	example.com/pond => ../..
	example.com/pond/internal/measure => ../../internal/measure
)
-- cmd/pond/main.go --
package main

import (
	"example.com/pond"
	"example.com/pond/internal/measure"
)

func main() { println(pond.Depth(), measure.Twice()) }
-- tools/go.mod --
module example.com/pond/tools
-- CHANGELOG.md --
# Changelog

## 0.1.0 - 2026-11-22
`

// newRepository makes one of files in txtar's notation, with one commit.
func newRepository(t *testing.T, files string) repository {
	t.Helper()
	r := repository(t.TempDir())
	must(t, r, "init", "--quiet", "--initial-branch=main")
	must(t, r, "config", "user.name", "A Tester")
	must(t, r, "config", "user.email", "tester@example.com")
	r.change(t, files)
	return r
}

// change writes files and commits them.
func (r repository) change(t *testing.T, files string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(files)).Files {
		name := filepath.Join(string(r), f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must(t, r, "add", "--all")
	must(t, r, "commit", "--quiet", "--message", "change")
}

func must(t *testing.T, r repository, args ...string) string {
	t.Helper()
	out, err := r.git(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSmall(t *testing.T) {
	r := newRepository(t, small)
	base, tree := must(t, r, "rev-parse", "HEAD"), must(t, r, "rev-parse", "HEAD^{tree}")
	proxy := t.TempDir()

	var out strings.Builder
	if err := run([]string{"-C", filepath.Join(string(r), "load"), "-proxy", proxy, "v0.1.0"}, &out); err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, tag := range []string{" v0.1.0 ", " internal/measure/v0.1.0 ", " load/v0.1.0 ", " cmd/pond/v0.1.0 ", "not released: example.com/pond/internal/proof,"} {
		at := strings.Index(out.String(), tag)
		if at < last {
			t.Errorf("%q is not after what comes before it", tag)
		}
		last = at
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if got := must(t, r, "rev-parse", "HEAD") + must(t, r, "tag", "--list"); got != base {
		t.Errorf("after a rehearsal HEAD and tags are %q, want HEAD as before", got)
	}

	o := newOutsider(t, proxy, "example.com/pond")
	p, err := newPlan(string(r), "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	o.imports("v0.1.0", p.released)
	if got := o.run(o.installs("example.com/pond/cmd/pond", "v0.1.0")); got != "7 14\n" {
		t.Errorf("the command prints %q", got)
	}
	for _, u := range p.released[1:] {
		o.checksumsHold(u, "v0.1.0")
	}

	if err := run([]string{"-C", string(r), "-write", "v0.1.0"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := must(t, r, "rev-parse", "v0.1.0^{commit}"); got != base {
		t.Errorf("the root's tag is of %s, want the commit that was released, %s", got, base)
	}
	if got := must(t, r, "rev-parse", "HEAD^{tree}"); got != tree || must(t, r, "status", "--porcelain") != "" {
		t.Errorf("after a release the branch has the tree %s, want the one before it, %s, and no change", got, tree)
	}
	for _, u := range p.released[1:] {
		if got, want := must(t, r, "rev-parse", u.tag("v0.1.0")+"^{commit}"), must(t, r, "rev-parse", "HEAD^"); got != want {
			t.Errorf("%s is of %s, want the branch's last but one, %s", u.tag("v0.1.0"), got, want)
		}
		mod := must(t, r, "show", u.tag("v0.1.0")+":"+u.dir+"/go.mod")
		served, err := os.ReadFile(filepath.Join(proxy, u.path, "@v", "v0.1.0.mod"))
		if err != nil || mod+"\n" != string(served) || strings.Contains(mod, "replace") {
			t.Errorf("%s has the go.mod\n%s\nand was rehearsed with\n%s%v", u.tag("v0.1.0"), mod, served, err)
		}
	}
}

// Each of these is refused, with its reason, and leaves no tag.
func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		files, version, want string
	}{
		"no version":      {"", "0.1.0", `"0.1.0" is not a version`},
		"unreleased":      {"", "v0.0.0", "is not a version to release"},
		"major version":   {"", "v2.0.0", "v2"},
		"no heading":      {"", "v0.2.0", `no heading "## 0.2.0 - DATE"`},
		"no replace":      {"-- load/go.mod --\nmodule example.com/pond/load\n\nrequire example.com/pond v0.0.9\n", "v0.1.0", "load/go.mod requires example.com/pond@v0.0.9: want it at v0.0.0"},
		"foreign replace": {"-- load/go.mod --\nmodule example.com/pond/load\n\nreplace example.com/x => ../x\n", "v0.1.0", "load/go.mod replaces example.com/x"},
		"circle":          {"-- internal/measure/go.mod --\nmodule example.com/pond/internal/measure\n\nrequire example.com/pond/load v0.0.0\n", "v0.1.0", "in a circle"},
		"root requires":   {"-- go.mod --\nmodule example.com/pond\n\nrequire example.com/pond/internal/proof v0.0.0\n", "v0.1.0", "the root must be released first"},
		"wrong path":      {"-- load/go.mod --\nmodule example.com/load\n", "v0.1.0", "a tag finds only example.com/pond/load"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, small)
			if tt.files != "" {
				r.change(t, tt.files)
			}
			var out strings.Builder
			err := run([]string{"-C", string(r), "-write", tt.version}, &out)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %s\n%s", err, tt.want, out.String())
			}
			if tags := must(t, r, "tag", "--list"); tags != "" {
				t.Errorf("there are tags: %s", tags)
			}
		})
	}
}

func TestReleasedOnce(t *testing.T) {
	r := newRepository(t, small)
	must(t, r, "tag", "load/v0.1.0")
	var out strings.Builder
	if err := run([]string{"-C", string(r), "v0.1.0"}, &out); err == nil || !strings.Contains(err.Error(), "tag load/v0.1.0 exists already") {
		t.Errorf("error %v, want one that names the tag", err)
	}
	if err := os.WriteFile(filepath.Join(string(r), "note"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-C", string(r), "-write", "v0.1.1"}, &out); err == nil || !strings.Contains(err.Error(), "uncommitted changes:\n?? note") {
		t.Errorf("error %v, want one that names the change", err)
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-help"}, &out); err == nil || !strings.Contains(out.String(), "rehearsal") {
		t.Errorf("-help prints %q, error %v", out.String(), err)
	}
	if err := run(nil, &out); err == nil {
		t.Error("no version is no error")
	}
}

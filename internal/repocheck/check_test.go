package repocheck

import (
	"strings"
	"testing"
)

// Each rule of the layers, modules and dependencies is broken here, and found.

func TestLayer(t *testing.T) {
	// The engine must not import the pools above it, nor a command the engine.
	breaks(t, `
-- internal/magazine/up.go --
package magazine

import "github.com/dewpond/dewpond"
-- internal/sizeclass/sideways_test.go --
package sizeclass

import "github.com/dewpond/dewpond/internal/memory"
-- cmd/dewpond/internal/contender/engine.go --
package contender

import (
	"github.com/dewpond/dewpond/instruments/kit" // allowed
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/offheap"
)
-- instruments/kit/pool.go --
package measure

import "github.com/dewpond/dewpond"
-- contrib/dewprom/collector.go --
package dewprom

import "github.com/dewpond/dewpond/cmd/dewpond/internal/report"
-- memory.go --
package dewpond

import "github.com/dewpond/dewpond/internal/arena"
-- memory_test.go --
package dewpond_test

import "github.com/dewpond/dewpond/offheap" // allowed
-- memory_inside_test.go --
package dewpond

import "github.com/dewpond/dewpond/offheap"
-- default.go --
package dewpond

import "github.com/dewpond/dewpond/offheap"
`,
		"internal/magazine/up.go:3: layer: internal/magazine may not import .",
		"internal/sizeclass/sideways_test.go:3: layer: internal/sizeclass may not import internal/memory",
		"cmd/dewpond/internal/contender/engine.go:5: layer: cmd/dewpond/internal/contender may not import internal/percpu",
		"instruments/kit/pool.go:3: layer: instruments/kit may not import .",
		"contrib/dewprom/collector.go:3: layer: contrib/dewprom may not import cmd/dewpond/internal/report",
		"memory.go:3: layer: . may not import internal/arena",
		"memory_inside_test.go:3: layer: . may not import offheap",
		"default.go:3: layer: . may not import offheap",
	)
}

func TestUnknownPackage(t *testing.T) {
	breaks(t, `
-- internal/util/a.go --
package util
-- internal/util/b.go --
package util
`,
		"internal/util/a.go: layer: package internal/util is unknown: add it to the table in internal/repocheck/layers.go",
	)
}

func TestModule(t *testing.T) {
	breaks(t, `
-- contrib/dewprom/go.mod --
module github.com/dewpond/dewpond/contrib/dewprom
-- tools/go.mod --
module example.com/tools
`,
		"contrib/dewprom/go.mod: module: go.work does not use ./contrib/dewprom",
		"tools/go.mod: module: the module is example.com/tools",
	)
}

func TestReplace(t *testing.T) {
	breaks(t, `
-- go.work --
use (
	.
	./cmd/dewpond
	./contrib/dewprom
	./instruments/kit
	./load
	./lab
)
-- instruments/kit/go.mod --
module github.com/dewpond/dewpond/instruments/kit

require github.com/dewpond/dewpond v0.0.0

replace github.com/dewpond/dewpond v0.0.0 => ../../
-- load/go.mod --
module github.com/dewpond/dewpond/load

require github.com/dewpond/dewpond/instruments/kit v0.0.0

replace github.com/dewpond/dewpond/instruments/kit => ../instruments/kit
-- cmd/dewpond/go.mod --
module github.com/dewpond/dewpond/cmd/dewpond

require (
	github.com/dewpond/dewpond v0.0.0 // indirect
	github.com/dewpond/dewpond/instruments/kit v0.0.0
	github.com/dewpond/dewpond/nowhere v0.0.0
)

replace (
	github.com/dewpond/dewpond => ../..
	github.com/dewpond/dewpond/instruments/kit => ../../instruments/kit
	github.com/dewpond/dewpond/load => ../../load
	github.com/alecthomas/kong => ../kong
)
-- contrib/dewprom/go.mod --
module github.com/dewpond/dewpond/contrib/dewprom

require github.com/dewpond/dewpond v0.1.0

replace github.com/dewpond/dewpond => ../..
-- lab/go.mod --
module github.com/dewpond/dewpond/lab

require github.com/dewpond/dewpond/load v0.1.0 // as released
`,
		"instruments/kit/go.mod:5: replace: github.com/dewpond/dewpond is in ../..",
		"load/go.mod: replace: lacks replace github.com/dewpond/dewpond => ..:",
		"cmd/dewpond/go.mod:6: replace: no module of this repository is github.com/dewpond/dewpond/nowhere",
		"cmd/dewpond/go.mod:12: replace: replaces github.com/dewpond/dewpond/load, which it does not require",
		"contrib/dewprom/go.mod:5: replace: replaces github.com/dewpond/dewpond, which it does not require at v0.0.0",
	)
}

// A module zip has neither go.work nor the nested modules.
func TestRootModuleAlone(t *testing.T) {
	root, _, _ := strings.Cut(skeleton, "-- cmd/dewpond/main.go --")
	_, root, _ = strings.Cut(root, "-- go.mod --")
	for _, nested := range []string{"cmd/dewpond/go.mod", "tools/go.mod"} {
		before, after, _ := strings.Cut(root, "-- "+nested+" --")
		_, after, _ = strings.Cut(after, "\n-- ")
		root = before + "-- " + after
	}
	found, err := Check(tree("-- go.mod --" + root + "-- internal/util/a.go --\npackage util\n"))
	if err != nil || len(found) != 1 || found[0].Rule != "layer" {
		t.Errorf("found %v and error %v, want the unknown package alone", found, err)
	}
}

func TestDependency(t *testing.T) {
	breaks(t, `
-- go.mod --
module github.com/dewpond/dewpond

require (
	go.uber.org/goleak v1.3.0
)
-- main_test.go --
package dewpond_test

import "go.uber.org/goleak"
`,
		"go.mod:4: dependency: the root module requires go.uber.org/goleak",
		"main_test.go:3: dependency: the root module imports go.uber.org/goleak",
	)
}

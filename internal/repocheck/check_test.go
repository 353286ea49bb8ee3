package repocheck

import (
	"fmt"
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
	"github.com/dewpond/dewpond/internal/measure" // allowed
	"github.com/dewpond/dewpond/internal/percpu"
	"github.com/dewpond/dewpond/offheap"
)
-- internal/measure/pool.go --
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
		"internal/measure/pool.go:3: layer: internal/measure may not import .",
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
	./internal/measure
	./load
	./lab
)
-- internal/measure/go.mod --
module github.com/dewpond/dewpond/internal/measure

require github.com/dewpond/dewpond v0.0.0

replace github.com/dewpond/dewpond v0.0.0 => ../../
-- load/go.mod --
module github.com/dewpond/dewpond/load

require github.com/dewpond/dewpond/internal/measure v0.0.0

replace github.com/dewpond/dewpond/internal/measure => ../internal/measure
-- cmd/dewpond/go.mod --
module github.com/dewpond/dewpond/cmd/dewpond

require (
	github.com/dewpond/dewpond v0.0.0 // indirect
	github.com/dewpond/dewpond/internal/measure v0.0.0
	github.com/dewpond/dewpond/nowhere v0.0.0
)

replace (
	github.com/dewpond/dewpond => ../..
	github.com/dewpond/dewpond/internal/measure => ../../internal/measure
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
		"internal/measure/go.mod:5: replace: github.com/dewpond/dewpond is in ../..",
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

require golang.org/x/sys v0.49.0

require (
	go.uber.org/goleak v1.3.0
)
-- main_test.go --
package dewpond_test

import "go.uber.org/goleak"
`,
		"go.mod:6: dependency: the root module requires go.uber.org/goleak",
		"main_test.go:3: dependency: the root module imports go.uber.org/goleak",
	)
}

func TestForeignDirectory(t *testing.T) {
	breaks(t, `
-- vendor/example.com/x/x.go --
not even Go
-- cmd/dewpond/internal/report/page/node_modules/d3/index.js --
x
`,
		"vendor: foreign:",
		"cmd/dewpond/internal/report/page/node_modules: foreign:",
	)
}

func TestForeignFile(t *testing.T) {
	breaks(t, `
-- .gitmodules --
[submodule "x"]
-- cmd/dewpond/internal/report/page/chart.min.js --
x
-- cmd/dewpond/internal/report/page/bundle.css --
`+strings.Repeat("a{b:c}", 100)+`
-- internal/callers/walk_amd64.s --
-- internal/percpu/pin_amd64.s --
TEXT runtime·procPin(SB)
-- internal/magazine/engine.syso --
x
`,
		".gitmodules: foreign:",
		"cmd/dewpond/internal/report/page/chart.min.js: foreign: minified",
		"cmd/dewpond/internal/report/page/bundle.css: foreign: minified",
		"internal/percpu/pin_amd64.s: foreign: .s:",
		"internal/magazine/engine.syso: foreign: a binary",
	)
}

func TestForeignNotice(t *testing.T) {
	for _, notice := range []string{
		"// Copyright 2014 The Go Authors. All rights reserved.",
		"// Copyright (c) 2019 Somebody Else",
		"//   copyright © 2019, somebody else",
		"// Copyright The OpenTelemetry Authors",
		"/* (c) 2020 Somebody */",
		"// SPDX-FileCopyrightText: Somebody <a@example.com>",
		"// SPDX-License-Identifier: MIT",
		"// SPDX-License-Identifier: AGPL-3.0-only",
		"// Permission is hereby granted, free of charge, to any person",
		"// Use of this source code is governed by a BSD-style",
		"// Code copied from puddle.",
		"// adapted from https://example.com/x",
		"// Ported from github.com/a/b.",
	} {
		for _, file := range []string{"internal/magazine/ring.go", "internal/magazine/testdata/ring.txt", "docs/ring.md"} {
			breaks(t, fmt.Sprintf("-- %s --\n%s\n\npackage magazine\n", file, notice), file+":1: foreign:")
		}
	}
}

func TestOwnNotice(t *testing.T) {
	breaks(t, `
-- docs/licence.md --
Copyright stays with those who wrote it; the copyright owner is named in LICENSE. (c) is the
third point of a list. Options are copied from the caller, and what follows is code. The block is
taken from the shard.
-- internal/magazine/ours.go --
// Copyright 2026 The dewpond Authors
// SPDX-License-Identifier: Apache-2.0

package magazine
-- THIRD_PARTY_NOTICES --
Copyright (c) 2013 HdrHistogram's authors
`)
}

func TestTestNames(t *testing.T) {
	breaks(t, `
-- buffer.go --
package dewpond
-- docs/memory-model.md --
# Why it is correct
-- internal/decay/decay.go --
package decay
-- buffer_grow_test.go --
package dewpond_test
-- memorymodel_test.go --
package dewpond_test
-- decay_test.go --
package dewpond_test
-- stress_test.go --
package dewpond_test
-- various_test.go --
package dewpond_test
-- internal/decay/various_test.go --
package decay
-- internal/decay/decay_bench_test.go --
package decay
-- internal/decay/timer_linux.go --
package decay
-- internal/decay/timer_linux_test.go --
package decay
-- internal/decay/kit_test.go --
package decay
-- internal/decay/decaying_test.go --
package decay
-- internal/magazine/magazine_slow_test.go --
package magazine
-- internal/attack/doc.go --
package attack
-- internal/attack/objects_test.go --
package attack
-- cmd/dewpond/bench_test.go --
package main
`,
		"internal/decay/decaying_test.go: testname: begin its name with the source file that it tests, with decay for the whole package, or with one of example, export, fuzz, kit, main, model, stress",
		"internal/decay/various_test.go: testname:",
		"various_test.go: testname: begin its name with the source file, internal package or document that it tests, or with one of example, export, fuzz, kit, main, model, stress",
	)
}

func TestRootFiles(t *testing.T) {
	var files strings.Builder
	for i := range mostRootFiles { // beside bytepool.go
		fmt.Fprintf(&files, "-- file%02d.go --\npackage dewpond\n-- file%02d_test.go --\npackage dewpond\n", i, i)
	}
	breaks(t, files.String(), ".: rootfiles: the root package has 23 source files, more than 22")

	long := strings.Repeat("// x\n", mostRootLines)
	breaks(t, "-- long.go --\npackage dewpond\n"+long+"-- long_test.go --\npackage dewpond\n"+long,
		"long.go: rootfiles: it has 521 lines, more than 520")
	breaks(t, "-- as_long.go --\npackage dewpond\n"+strings.TrimPrefix(long, "// x\n"))
}

package repocheck

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// skeleton is the smallest repository that breaks no rule.
const skeleton = `
-- go.work --
go 1.26.0

use (
	.
	./cmd/dewpond // the command
)
-- go.mod --
module github.com/dewpond/dewpond

go 1.24.0
-- cmd/dewpond/go.mod --
module github.com/dewpond/dewpond/cmd/dewpond

require (
	github.com/dewpond/dewpond v0.0.0
	github.com/alecthomas/kong v1.17.0 // indirect
)

replace github.com/dewpond/dewpond => ../..
-- tools/go.mod --
module github.com/dewpond/dewpond/tools
-- bytepool.go --
package dewpond

import (
	"sync/atomic"
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
)
-- bytepool_test.go --
package dewpond_test

import (
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond"
)
-- internal/magazine/counts.go --
package magazine

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/percpu"
)

var n = atomic.LoadUintptr(nil)
-- internal/percpu/pin.go --
//go:build gc && go1.24 && (!go1.28 || dewpond_pinned) && !race && !dewpond_portable && !dewpond_explore

package percpu

import _ "unsafe"

const Pinned = true

//go:linkname procPin runtime.procPin
func procPin() int
-- internal/percpu/portable.go --
//go:build (!gc || !go1.24 || (go1.28 && !dewpond_pinned) || race || dewpond_portable) && !dewpond_explore

package percpu

const Pinned = false
-- internal/percpu/explore.go --
//go:build dewpond_explore

package percpu

const Pinned = true
-- cmd/dewpond/main.go --
package main

import (
	"os/signal"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/report"
)

func init() { handlers["x"] = func() { go serve() } }
-- cmd/dewpond/internal/report/report.go --
// Package report writes what was measured.
package report
-- cmd/dewpond/internal/report/testdata/other.go --
this is no Go, and nobody asks
`

// tree makes a file system of files in txtar's notation.
func tree(files string) fs.FS {
	m := fstest.MapFS{}
	var file *fstest.MapFile
	for line := range strings.Lines(files) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			file = &fstest.MapFile{}
			m[strings.TrimSuffix(name, " --\n")] = file
		} else if file != nil {
			file.Data = append(file.Data, line...)
		}
	}
	return m
}

// breaks requires that the skeleton with these files, which may replace some of its
// own, has exactly these findings, each given by its beginning.
func breaks(t *testing.T, files string, want ...string) {
	t.Helper()
	found, err := Check(tree(skeleton + files))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !begins(found, w) {
			t.Errorf("not found: %s", w)
		}
	}
	for _, f := range found {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(f.String(), w) }) {
			t.Errorf("found, but breaks nothing: %s", f)
		}
	}
}

// begins reports whether a finding's text begins with want.
func begins(found []Finding, want string) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return strings.HasPrefix(f.String(), want) })
}

func TestSkeletonBreaksNothing(t *testing.T) { breaks(t, "") }

package repocheck

import (
	"slices"
	"strings"
	"testing"
)

func TestHackingNames(t *testing.T) {
	const row = "| x: `bytepool.go`, `internal/magazine/*.go` | `TestX` | `trim*`, `trim-more*` | `bench micro` |"
	const explored = `
-- go.work --
use (
	.
	./cmd/dewpond
)
-- x_test.go --
package dewpond_test

func TestX() {}
-- instruments/proof/explore/scenarios.go --
package main

var s = scenario{name: "trim-more"}
`
	names := func(row string) []string {
		found, err := Check(tree(skeleton + explored + "-- HACKING.md --\n" + row + "\n`gone.go` in no table\n"))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range found {
			if f.Rule == "hacking" && f.Line > 0 {
				all = append(all, f.Message)
			}
		}
		return all
	}
	if all := names(row); len(all) > 0 {
		t.Errorf("found, but breaks nothing: %q", all)
	}
	for old, want := range map[string]string{
		"bytepool.go": "there is no file bytepoll.go",
		"TestX":       "no test file declares TestY",
		"trim-more*":  "the explorer has no scenario trim-less*",
	} {
		with := want[strings.LastIndexByte(want, ' ')+1:]
		if all := names(strings.Replace(row, old, with, 1)); !slices.Equal(all, []string{want}) {
			t.Errorf("%s instead of %s: found %q", with, old, all)
		}
	}
}

func TestHackingPicture(t *testing.T) {
	const drawing = `
not -> drawn

` + "```" + `
offheap ---> dewpond                    words
|            +-> internal/a -> internal/c, internal/d   words
|            +-> internal/b             words -> and, more
+-> internal/e -> internal/c

contrib/more -> dewpond, internal/b     words
tools                                   words -> and, more
all -> ...
` + "```" + `

neither -> drawn
`
	want := map[string][]string{
		"offheap": {"dewpond", "internal/e"}, "dewpond": {"internal/a", "internal/b"},
		"internal/a": {"internal/c", "internal/d"}, "internal/b": nil, "internal/c": nil, "internal/d": nil,
		"internal/e": {"internal/c"}, "contrib/more": {"dewpond", "internal/b"}, "tools": nil,
		"all": {everything}, everything: nil,
	}
	got := picture(drawing)
	for from, to := range want {
		if all, ok := got[from]; !ok || !slices.Equal(all, to) {
			t.Errorf("%s imports %q, want %q", from, got[from], to)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
}

// Each import that is not drawn is reported, each arrow without an import, and each package
// that is missing.
func TestHackingPictureIsCompared(t *testing.T) {
	r, err := read(tree(skeleton+`
-- internal/magazine/counts_test.go --
package magazine

import "github.com/dewpond/dewpond/internal/late" // in a test
-- internal/attack/attack_test.go --
package attack

import "github.com/dewpond/dewpond"
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	drawn := func() map[string][]string {
		return map[string][]string{
			"dewpond": {"internal/magazine"}, "internal/magazine": {"internal/percpu"}, "internal/percpu": nil,
			"cmd/dewpond": {"dewpond"}, "internal/attack": {"dewpond"}, "internal/late": nil,
		}
	}
	for name, tt := range map[string]struct {
		change func(map[string][]string)
		want   []string
	}{
		"as it is":           {func(map[string][]string) {}, nil},
		"a test's is drawn":  {func(d map[string][]string) { d["internal/magazine"] = append(d["internal/magazine"], "internal/late") }, nil},
		"everything":         {func(d map[string][]string) { d["internal/magazine"] = []string{everything} }, nil},
		"no arrow":           {func(d map[string][]string) { d["cmd/dewpond"] = nil }, []string{"it lacks cmd/dewpond -> dewpond"}},
		"no import":          {func(d map[string][]string) { d["dewpond"] = append(d["dewpond"], "internal/percpu") }, []string{"nothing imports its dewpond -> internal/percpu"}},
		"no package":         {func(d map[string][]string) { delete(d, "internal/attack") }, []string{"it lacks internal/attack"}},
		"no package beneath": {func(d map[string][]string) { d["cmd"] = d["cmd/dewpond"]; delete(d, "cmd/dewpond") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := drawn()
			tt.change(d)
			if got := r.comparePicture(d); !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	breaks(t, "-- HACKING.md --\n# Hacking\n\n```\ninternal/magazine -> internal/percpu\ncmd/dewpond -> dewpond\ntools\n```\n",
		"HACKING.md: hacking: the picture: it lacks dewpond -> internal/magazine",
		"cmd/dewpond/testdata/recipe.txtar: recipe:", "instruments/together/testdata/recipe.txtar: recipe:", "instruments/lab/testdata/recipe.txtar: recipe:",
	)
}

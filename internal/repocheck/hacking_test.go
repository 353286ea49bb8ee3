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
-- internal/proof/explore/scenarios.go --
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
offheap ---> dewpond                    words
|            +-> internal/a -> internal/c, internal/d   words
|            +-> internal/b             words
+-> internal/e -> internal/c
`
	want := map[string][]string{
		"offheap": {".", "internal/e"}, ".": {"internal/a", "internal/b"},
		"internal/a": {"internal/c", "internal/d"}, "internal/e": {"internal/c"},
	}
	got := picture(drawing)
	for from, to := range want {
		if !slices.Equal(got[from], to) {
			t.Errorf("%s imports %q, want %q", from, got[from], to)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
}

// Each arrow of the table that is not drawn is reported, and each that is drawn but
// forbidden.
func TestHackingPictureIsCompared(t *testing.T) {
	arrows := map[string][]string{}
	for _, l := range layers {
		if l.pkg == "offheap" || l.pkg == "." || strings.HasPrefix(l.pkg, "internal/") && !strings.HasSuffix(l.pkg, "...") {
			arrows[l.pkg] = slices.Clone(l.may)
		}
	}
	if all := compareLayers(arrows); len(all) > 0 {
		t.Errorf("the table differs from itself: %q", all)
	}
	arrows["."] = append(arrows["."], "internal/arena")
	arrows["internal/arena"] = nil
	want := []string{
		"it has . -> internal/arena, which the table of layers forbids",
		"it lacks internal/arena -> internal/memory",
	}
	if all := compareLayers(arrows); !slices.Equal(all, want) {
		t.Errorf("found %q, want %q", all, want)
	}
}
